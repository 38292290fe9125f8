// A mail address is no domain.
// expect: bailey: a domain has no user name
// names: refused_domain<DomainFault::user_info, at<4>, text<'u', 's', 'e', 'r', '@', 'e', 'x', 'a', 'm', 'p', 'l', 'e'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"user@example.com"> policy{};
#endif
