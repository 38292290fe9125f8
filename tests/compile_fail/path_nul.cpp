// A NUL would cut the path short.
// expect: bailey: a path holds a NUL character
// names: refused_path<PathFault::nul, at<1>, text<
#include <bailey/policy/filesystem.hpp>

#if defined(TWIN)
inline constexpr bailey::WritePolicy<bailey::Deny<"a\nb">> policy{};
#else
inline constexpr bailey::WritePolicy<bailey::Deny<"a\0b">> policy{};
#endif
