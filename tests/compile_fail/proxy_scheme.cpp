// srt talks to HTTP proxies.
// expect: bailey: a proxy URL starts with http:// or https://
// names: refused_url<UrlFault::scheme, at<0>, text<'s', 'o', 'c', 'k', 's', '5', ':', '/', '/', 'p', '.', 'e', 'x', 'a'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::UpstreamProxy<"http://p.example:3128"> policy{};
#else
inline constexpr bailey::UpstreamProxy<"socks5://p.example:1080"> policy{};
#endif
