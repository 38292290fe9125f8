// Names that bailey keeps.
// expect: bailey: names that start with BAILEY_
// names: refused_variable<EnvFault::bailey_own, at<0>, text<'B', 'A', 'I', 'L', 'E', 'Y', '_', 'X'>>
#include <bailey/policy/environment.hpp>

#if defined(TWIN)
inline constexpr bailey::EnvValue<"X_BAILEY_", "1"> policy{};
#else
inline constexpr bailey::EnvValue<"BAILEY_X", "1"> policy{};
#endif
