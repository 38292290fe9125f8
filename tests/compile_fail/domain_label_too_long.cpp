// A label ends at 63 characters.
// expect: bailey: a part of a domain has more than 63 characters
// names: refused_domain<DomainFault::label_too_long, at<63>, text<
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example"> policy{};
#endif
