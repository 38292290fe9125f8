// A proxy has no path.
// expect: bailey: a proxy URL ends behind host and port
// names: refused_url<UrlFault::path, at<16>, text<'h', 't', 't', 'p', ':', '/', '/', 'p', '.', 'e', 'x', 'a', 'm', 'p'
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::UpstreamProxy<"http://p.example/"> policy{};
#else
inline constexpr bailey::UpstreamProxy<"http://p.example/x"> policy{};
#endif
