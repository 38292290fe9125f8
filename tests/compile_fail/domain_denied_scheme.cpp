// Denials have the same grammar.
// expect: bailey: a domain has no scheme
// names: refused_domain<DomainFault::scheme, at<4>, text<'h', 't', 't', 'p', ':', '/', '/', 'e', 'x', 'a', 'm', 'p', 'l'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainDenylist<"*"> policy{};
#else
inline constexpr bailey::DomainDenylist<"http://example.com"> policy{};
#endif
