// A bundle holds policies.
// expect: bailey: PolicySet takes policies, types that have apply
#include <bailey/policy/bundle.hpp>

#if defined(TWIN)
inline constexpr bailey::PolicySet<> policy{};
#else
inline constexpr bailey::PolicySet<int> policy{};
#endif
