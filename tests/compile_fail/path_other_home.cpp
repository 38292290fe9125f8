// Nothing expands ~user.
// expect: bailey: only "~" and "~/..." stand for a home
// names: refused_path<PathFault::other_home, at<1>, text<'~', 'b', 'o', 'b', '/', 'x'>>
#include <bailey/policy/filesystem.hpp>

#if defined(TWIN)
inline constexpr bailey::ReadPolicy<bailey::Allow<"~/x", "./~bob">> policy{};
#else
inline constexpr bailey::ReadPolicy<bailey::Allow<"~bob/x">> policy{};
#endif
