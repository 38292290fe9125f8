// A proxy is one host.
// expect: bailey: a proxy URL names one host
// names: refused_url<UrlFault::host, at<7>, text<'h', 't', 't', 'p', ':', '/', '/', '*', '.', 'e', 'x', 'a', 'm', 'p', 'l'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::UpstreamProxy<"http://proxy:3128"> policy{};
#else
inline constexpr bailey::UpstreamProxy<"http://*.example.com"> policy{};
#endif
