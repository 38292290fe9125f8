// A credential does not steer programs.
// expect: bailey: this variable steers programs
// names: refused_variable<EnvFault::steers, at<0>, text<'N', 'O', 'D', 'E', '_', 'O', 'P', 'T', 'I', 'O', 'N', 'S'>>
#include <bailey/policy/weakenings.hpp>

#if defined(TWIN)
inline constexpr bailey::EnvCredential<"GH_TOKEN"> policy{};
#else
inline constexpr bailey::EnvCredential<"NODE_OPTIONS"> policy{};
#endif
