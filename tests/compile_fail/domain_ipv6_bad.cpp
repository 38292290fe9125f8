// Brackets are checked.
// expect: bailey: brackets hold an IPv6 address
// names: refused_domain<DomainFault::ipv6, at<1>, text<'[', ':', ':', '1', ':', ':', '2', ']'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"[1::2]"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"[::1::2]"> policy{};
#endif
