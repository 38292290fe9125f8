// A line end comes from a file that was not trimmed.
// expect: bailey: a domain holds a control character
// names: refused_domain<DomainFault::control_character, at<11>, text<
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"example.com"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"example.com\n"> policy{};
#endif
