// All reads are a word of their own.
// expect: bailey: "/" would grant reads of the whole file system; .* AllReads
// names: refused_path<PathFault::root_read, at<0>, text<'/'>>
#include <bailey/policy/filesystem.hpp>

#if defined(TWIN)
inline constexpr bailey::ReadPolicy<bailey::Allow<"/opt/data">> policy{};
#else
inline constexpr bailey::ReadPolicy<bailey::Allow<"/">> policy{};
#endif
