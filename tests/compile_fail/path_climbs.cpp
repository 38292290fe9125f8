// What a relative path covers can be seen from its spelling.
// expect: bailey: a relative path does not leave
// names: refused_path<PathFault::climbs, at<5>, text<'a', '/', '.', '.', '/', '.', '.', '/', 'x'>>
#include <bailey/policy/filesystem.hpp>

#if defined(TWIN)
inline constexpr bailey::WritePolicy<bailey::Allow<"a/../x">> policy{};
#else
inline constexpr bailey::WritePolicy<bailey::Allow<"a/../../x">> policy{};
#endif
