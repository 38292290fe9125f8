// srt knows wildcards for whole parts only.
// expect: bailey: a wildcard is the whole first part
// names: refused_domain<DomainFault::wildcard_inside, at<3>, text<'f', 'o', 'o', '*', '.', 'e', 'x', 'a', 'm', 'p', 'l'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"*.example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"foo*.example.com"> policy{};
#endif
