// Paths are exact.
// expect: bailey: grants and denials are exact paths, not patterns
// names: refused_path<PathFault::pattern, at<0>, text<'*', '*', '/', '.', 'e', 'n', 'v'>>
#include <bailey/policy/filesystem.hpp>

#if defined(TWIN)
inline constexpr bailey::WritePolicy<bailey::Deny<"[wip]/{a}.env">> policy{};
#else
inline constexpr bailey::WritePolicy<bailey::Deny<"**/.env">> policy{};
#endif
