// A URL is no domain.
// expect: bailey: a domain has no scheme; write "example.com"
// names: refused_domain<DomainFault::scheme, at<5>, text<'h', 't', 't', 'p', 's', ':', '/', '/', 'e', 'x', 'a', 'm', 'p'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"https://example.com"> policy{};
#endif
