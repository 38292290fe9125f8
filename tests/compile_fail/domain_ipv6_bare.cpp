// Without brackets the last group could be a port.
// expect: bailey: an IPv6 address stands in brackets
// names: refused_domain<DomainFault::ipv6_without_brackets, at<0>, text<':', ':', '1'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"[::1]"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"::1"> policy{};
#endif
