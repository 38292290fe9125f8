// The cookie spelling of a wildcard.
// expect: bailey: a domain has an empty part
// names: refused_domain<DomainFault::empty_label, at<0>, text<'.', 'e', 'x', 'a', 'm', 'p', 'l', 'e', '.', 'c', 'o', 'm'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"*.example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<".example.com"> policy{};
#endif
