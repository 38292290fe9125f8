// srt knows wildcards in front only.
// expect: bailey: a wildcard is the whole first part
// names: refused_domain<DomainFault::wildcard_inside, at<2>, text<'a', '.', '*', '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"*.example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"a.*.example.com"> policy{};
#endif
