// Zero of anything starts nothing.
// expect: bailey: a limit of 0 lets no command start
// names: refused_limit<LimitFault::zero, 0
#include <bailey/policy/limits.hpp>

#if defined(TWIN)
inline constexpr bailey::CpuTimeLimit<1> policy{};
#else
inline constexpr bailey::CpuTimeLimit<0> policy{};
#endif
