// A NUL would cut the value short.
// expect: bailey: the value of an environment variable holds a NUL
// names: refused_variable<EnvFault::nul_in_value, at<1>, text<'a', '
#include <bailey/policy/environment.hpp>

#if defined(TWIN)
inline constexpr bailey::EnvValue<"X", "a\nb"> policy{};
#else
inline constexpr bailey::EnvValue<"X", "a\0b"> policy{};
#endif
