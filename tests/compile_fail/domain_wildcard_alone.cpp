// Every host is no allowlist.
// expect: bailey: "\*" would allow every host
// names: refused_domain<DomainFault::wildcard_alone, at<0>, text<'*'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"*.example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"*"> policy{};
#endif
