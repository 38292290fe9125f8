// An empty path is a slip.
// expect: bailey: a path is empty; write "."
// names: refused_path<PathFault::empty, at<0>, text<>>
#include <bailey/policy/filesystem.hpp>

#if defined(TWIN)
inline constexpr bailey::ReadPolicy<bailey::Allow<".">> policy{};
#else
inline constexpr bailey::ReadPolicy<bailey::Allow<"">> policy{};
#endif
