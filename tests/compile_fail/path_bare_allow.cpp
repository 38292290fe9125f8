// A path alone says neither read nor write.
// expect: bailey: Allow and Deny need to know what for; write ReadPolicy<Allow<...>>
#include <bailey/policy/concept.hpp>
#include <bailey/policy/filesystem.hpp>

#if defined(TWIN)
static_assert(bailey::Policy<bailey::ReadPolicy<bailey::Allow<"x">>>);
#else
static_assert(bailey::Policy<bailey::Allow<"x">>);
#endif
