// srt compares names as typed, requests carry punycode.
// expect: bailey: a domain is not ASCII; write its punycode form
// names: refused_domain<DomainFault::not_ascii, at<1>, text<
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::DomainAllowlist<"xn--mnchen-3ya.example"> policy{};
#else
inline constexpr bailey::DomainAllowlist<"münchen.example"> policy{};
#endif
