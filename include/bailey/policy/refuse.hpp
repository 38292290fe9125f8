// How a policy says no at run time: it adds the sentence to the boundary, and the workspace that is made from it throws all of
// them.
#pragma once

#include <string>
#include <string_view>

#include <bailey/boundary/boundary.hpp>
#include <bailey/grammar/fault.hpp>

namespace bailey::policy {

/// Adds the refusal when there is a fault; whether there was one. `value` is printed: pass nothing that is a secret.
template <class Kind>
bool refused(Boundary& boundary, std::string_view where, std::string_view value, const grammar::Fault<Kind>& fault) {
    if (!fault) return false;
    boundary.refusals.push_back(grammar::refusal(sentence(fault.kind), where, value, fault.position));
    return true;
}

}  // namespace bailey::policy
