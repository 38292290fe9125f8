// What a policy is: anything that can say its part to a Boundary.
#pragma once

#include <bailey/boundary/boundary.hpp>

namespace bailey {

/// A policy has `apply(Boundary&) const`. Users write their own with one struct:
///
///     struct OfflineNode {
///         void apply(bailey::Boundary& b) const { b.env_values.emplace_back("NODE_ENV", "test"); }
///     };
///
/// It appends to the boundary's lists, whose entries are held to the rules of bailey's own policies, and says what it cannot accept
/// in `refusals`: a workspace with any is not made. What it throws comes out of the workspace's constructor, and is an error of
/// open(). It should not look at the machine; order among policies carries no meaning.
template <class P>
concept Policy = requires(const P& policy, Boundary& boundary) {
    policy.apply(boundary);
};

}  // namespace bailey
