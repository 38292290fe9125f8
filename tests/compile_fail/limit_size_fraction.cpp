// Sizes are whole.
// expect: bailey: a size is a whole decimal number
#include <bailey/policy/limits.hpp>

#if defined(TWIN)
using namespace bailey::literals;
inline constexpr auto size = 1536_MiB;
#else
using namespace bailey::literals;
inline constexpr auto size = 1.5_GiB;
#endif
