// Two hosts are two entries.
// expect: bailey: a domain holds a space
// names: refused_domain<DomainFault::space, at<3>, text<'e', 'x', 'a', ' ', 'm', 'p', 'l', 'e', '.', 'c', 'o', 'm'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"exa mple.com"> policy{};
#endif
