// A name is not empty.
// expect: bailey: the name of an environment variable is empty
// names: refused_variable<EnvFault::empty, at<0>, text<>>
#include <bailey/policy/environment.hpp>

#if defined(TWIN)
inline constexpr bailey::EnvValue<"X", ""> policy{};
#else
inline constexpr bailey::EnvValue<"", "x"> policy{};
#endif
