// Sizes fit into 64 bits.
// expect: bailey: a size fits into 64 bits
#include <bailey/policy/limits.hpp>

#if defined(TWIN)
using namespace bailey::literals;
inline constexpr auto size = 17'179'869'183_GiB;
#else
using namespace bailey::literals;
inline constexpr auto size = 17179869184_GiB;
#endif
