// A domain has no path.
// expect: bailey: a domain has no path or query
// names: refused_domain<DomainFault::path, at<11>, text<'e', 'x', 'a', 'm', 'p', 'l', 'e', '.', 'c', 'o', 'm', '/', 'x'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"example.com/x"> policy{};
#endif
