// An empty entry is a slip.
// expect: bailey: a domain is empty
// names: refused_domain<DomainFault::empty, at<0>, text<>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<""> policy{};
#endif
