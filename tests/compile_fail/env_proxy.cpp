// The host's proxies do not work inside.
// expect: bailey: proxies of the host .* UpstreamProxy
// names: refused_variable<EnvFault::proxy, at<0>, text<'H', 'T', 'T', 'P', 'S', '_', 'P', 'R', 'O', 'X', 'Y'>>
#include <bailey/policy/environment.hpp>

#if defined(TWIN)
inline constexpr bailey::EnvAllowlist<"PROXY_MODE"> policy{};
#else
inline constexpr bailey::EnvAllowlist<"HTTPS_PROXY"> policy{};
#endif
