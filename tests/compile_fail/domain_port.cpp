// A port has 16 bits.
// expect: bailey: a port is a number from 1 to 65535
// names: refused_domain<DomainFault::port, at<12>, text<'e', 'x', 'a', 'm', 'p', 'l', 'e', '.', 'c', 'o', 'm', ':', '6'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"example.com:65535"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"example.com:65536"> policy{};
#endif
