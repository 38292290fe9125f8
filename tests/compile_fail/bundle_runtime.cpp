// A bundle is a type and has no values.
// expect: bailey: PolicySet takes policies without values of their own
#include <bailey/policy/bundle.hpp>
#include <bailey/policy/runtime.hpp>

#if defined(TWIN)
inline constexpr bailey::PolicySet<bailey::DomainAllowlist<"example.com">> policy{};
#else
inline constexpr bailey::PolicySet<bailey::runtime::DomainAllowlist> policy{};
#endif
