// The host's LD_PRELOAD is not passed through.
// expect: bailey: this variable steers programs .* EnvValue
// names: refused_variable<EnvFault::steers, at<0>, text<'L', 'D', '_', 'P', 'R', 'E', 'L', 'O', 'A', 'D'>>
#include <bailey/policy/environment.hpp>

#if defined(TWIN)
inline constexpr bailey::EnvValue<"LD_PRELOAD", "x.so"> policy{};
#else
inline constexpr bailey::EnvAllowlist<"LD_PRELOAD"> policy{};
#endif
