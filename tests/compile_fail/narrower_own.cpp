// expect: bailey: narrower_than cannot look into a policy of your own that only one side has
#include <bailey/policy/narrower.hpp>

struct Own {
    void apply(bailey::Boundary&) const {}
};
#ifdef TWIN
using Wide = bailey::PolicySet<Own>;
#else
using Wide = bailey::PolicySet<>;
#endif
inline constexpr bool proved = bailey::narrower_than<bailey::PolicySet<Own, bailey::ReadOnly>, Wide>;
