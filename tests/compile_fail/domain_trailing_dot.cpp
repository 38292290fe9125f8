// srt would never match it.
// expect: bailey: a domain does not end in a dot
// names: refused_domain<DomainFault::trailing_dot, at<11>, text<'e', 'x', 'a', 'm', 'p', 'l', 'e', '.', 'c', 'o', 'm', '.'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"example.com."> policy{};
#endif
