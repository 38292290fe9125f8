// Zones are ignored when hosts are compared.
// expect: bailey: an IPv6 address has no zone here
// names: refused_domain<DomainFault::ipv6_zone, at<8>, text<'[', 'f', 'e', '8', '0', ':', ':', '1', '%', 'e', 't', 'h'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"[fe80::1]"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"[fe80::1%eth0]"> policy{};
#endif
