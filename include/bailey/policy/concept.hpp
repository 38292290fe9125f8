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
/// It appends to the boundary's lists, and says what it cannot accept in `refusals`: a workspace with any is not made. It should
/// not throw and not look at the machine; order among policies carries no meaning.
template <class P>
concept Policy = requires(const P& policy, Boundary& boundary) {
    policy.apply(boundary);
};

}  // namespace bailey
