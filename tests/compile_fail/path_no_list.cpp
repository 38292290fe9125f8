// A path policy holds Allow and Deny.
// expect: bailey: ReadPolicy takes Allow<...> and Deny<...>
#include <bailey/policy/filesystem.hpp>

#if defined(TWIN)
inline constexpr bailey::ReadPolicy<bailey::Allow<"x">> policy{};
#else
inline constexpr bailey::ReadPolicy<bailey::ReadOnly> policy{};
#endif
