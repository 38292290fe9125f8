// srt refuses leading zeros too.
// expect: bailey: a port is a number from 1 to 65535 without leading zeros
// names: refused_domain<DomainFault::port, at<12>, text<'e', 'x', 'a', 'm', 'p', 'l', 'e', '.', 'c', 'o', 'm', ':', '0'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"example.com:443"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"example.com:0443"> policy{};
#endif
