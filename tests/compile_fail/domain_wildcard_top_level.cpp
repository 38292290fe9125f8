// A whole top-level domain is too wide.
// expect: bailey: a wildcard needs two parts behind it
// names: refused_domain<DomainFault::wildcard_too_wide, at<0>, text<'*', '.', 'c', 'o', 'm'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"*.example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"*.com"> policy{};
#endif
