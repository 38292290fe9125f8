// Nothing starts without system files.
// expect: bailey: "/" cannot be denied
// names: refused_path<PathFault::root_denied, at<0>, text<'/'>>
#include <bailey/policy/filesystem.hpp>

#if defined(TWIN)
inline constexpr bailey::ReadPolicy<bailey::Deny<"/etc/secrets">> policy{};
#else
inline constexpr bailey::ReadPolicy<bailey::Deny<"/">> policy{};
#endif
