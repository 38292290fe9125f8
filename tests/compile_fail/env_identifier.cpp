// A name is an identifier.
// expect: bailey: the name of an environment variable consists of
// names: refused_variable<EnvFault::not_identifier, at<2>, text<'M', 'Y', '-', 'V', 'A', 'R'>>
#include <bailey/policy/environment.hpp>

#if defined(TWIN)
inline constexpr bailey::EnvAllowlist<"MY_VAR"> policy{};
#else
inline constexpr bailey::EnvAllowlist<"MY-VAR"> policy{};
#endif
