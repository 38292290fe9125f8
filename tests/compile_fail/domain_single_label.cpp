// A bare name is mostly a forgotten suffix.
// expect: bailey: a host name needs a dot
// names: refused_domain<DomainFault::single_label, at<0>, text<'c', 'o', 'm'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"localhost"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"com"> policy{};
#endif
