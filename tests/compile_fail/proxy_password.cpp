// A password is no literal.
// expect: bailey: a password does not belong in source code; .* runtime::UpstreamProxy
// names: refused_url<UrlFault::credential, at<7>, text<'h', 't', 't', 'p', ':', '/', '/', 'm', 'e', ':', 'p', 'w', '@'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::UpstreamProxy<"http://p.example"> policy{};
#else
inline constexpr bailey::UpstreamProxy<"http://me:pw@p.example"> policy{};
#endif
