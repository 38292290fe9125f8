// An octet ends at 255.
// expect: bailey: an IPv4 address is four decimal numbers
// names: refused_domain<DomainFault::ipv4, at<0>, text<'2', '5', '6', '.', '1', '.', '1', '.', '1'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"255.1.1.1"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"256.1.1.1"> policy{};
#endif
