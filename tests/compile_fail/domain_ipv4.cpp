// No resolver agrees with another on such addresses.
// expect: bailey: an IPv4 address is four decimal numbers
// names: refused_domain<DomainFault::ipv4, at<0>, text<'1', '2', '7', '.', '1'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"127.0.0.1"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"127.1"> policy{};
#endif
