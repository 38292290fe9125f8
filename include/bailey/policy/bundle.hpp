// Several policies under one name.
#pragma once

#include <type_traits>

#include <bailey/boundary/boundary.hpp>
#include <bailey/grammar/fault.hpp>
#include <bailey/policy/concept.hpp>

namespace bailey {

namespace policy {

// Policy<P> would be asked of every type, also of those where the first question already failed.
template <class P>
consteval bool bundles() {
    constexpr bool is_policy = Policy<P>;
    static_assert(is_policy,
                  "bailey: PolicySet takes policies, types that have apply(Boundary&) const; write PolicySet<ReadOnly, "
                  "EnvAllowlist<\"CI\">>");
    if constexpr (is_policy)
        static_assert(std::is_empty_v<P> && std::is_default_constructible_v<P>,
                      "bailey: PolicySet takes policies without values of their own; give runtime:: policies to the workspace's "
                      "constructor");
    return true;
}

}  // namespace policy

/// A named, reusable bundle of policies; bundles nest: `using Node = PolicySet<DomainAllowlist<"*.npm.example">,
/// EnvAllowlist<"CI">>;`. It means what its policies mean when listed one by one. Errors: what is no policy, or has values of its
/// own, does not compile.
template <class... Policies>
struct PolicySet {
    static_assert(grammar::all({policy::bundles<Policies>()...}));
    void apply(Boundary& boundary) const { (Policies{}.apply(boundary), ...); }
};

}  // namespace bailey
