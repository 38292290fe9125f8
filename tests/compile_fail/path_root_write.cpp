// There is no way to write everywhere.
// expect: bailey: "/" would grant writes to the whole file system
// names: refused_path<PathFault::root_write, at<0>, text<'/', 't', 'm', 'p', '/', '.', '.'>>
#include <bailey/policy/filesystem.hpp>

#if defined(TWIN)
inline constexpr bailey::WritePolicy<bailey::Allow<"/tmp/build">> policy{};
#else
inline constexpr bailey::WritePolicy<bailey::Allow<"/tmp/..">> policy{};
#endif
