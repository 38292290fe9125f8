// 512 was meant to be MiB.
// expect: bailey: a memory limit counts bytes, .* such as 512_MiB
// names: refused_limit<LimitFault::tiny, 512
#include <bailey/policy/limits.hpp>

#if defined(TWIN)
inline constexpr bailey::MemoryLimit<bailey::operator""_MiB<'5', '1', '2'>() > policy{};
#else
inline constexpr bailey::MemoryLimit<512> policy{};
#endif
