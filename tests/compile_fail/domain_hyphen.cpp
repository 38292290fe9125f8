// A label starts with no hyphen.
// expect: bailey: a part of a domain starts or ends with a hyphen
// names: refused_domain<DomainFault::hyphen, at<0>, text<'-', 'a', '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"a-b.example"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"-a.example"> policy{};
#endif
