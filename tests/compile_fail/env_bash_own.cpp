// bash would keep its own value.
// expect: bailey: bash keeps this variable to itself
// names: refused_variable<EnvFault::bash_own, at<0>, text<'U', 'I', 'D'>>
#include <bailey/policy/environment.hpp>

#if defined(TWIN)
inline constexpr bailey::EnvValue<"BASH_ENV", "x"> policy{};
#else
inline constexpr bailey::EnvValue<"UID", "0"> policy{};
#endif
