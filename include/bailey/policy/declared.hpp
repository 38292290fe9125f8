// The rules hold for everything that policies have declared, also for what a user's own has appended.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <bailey/boundary/boundary.hpp>
#include <bailey/grammar/domain.hpp>
#include <bailey/grammar/environment.hpp>
#include <bailey/grammar/path.hpp>
#include <bailey/policy/refuse.hpp>

namespace bailey::policy {

/// bailey's own policies append nothing that is refused here.
inline void check_declared(Boundary& boundary) {
    for (const auto& [list, use] : {std::pair{&boundary.allowed_domains, grammar::DomainUse::allow}, std::pair{&boundary.denied_domains, grammar::DomainUse::deny}})
        for (const auto& entry : *list) refused(boundary, "a policy's domains", entry, grammar::domain_fault(entry, use));
    for (const auto& [list, use] : {std::pair{&boundary.read_grants, grammar::PathUse::read}, std::pair{&boundary.read_denials, grammar::PathUse::deny},
                                    std::pair{&boundary.write_grants, grammar::PathUse::write}, std::pair{&boundary.write_denials, grammar::PathUse::deny}})
        for (const auto& path : *list) refused(boundary, "a policy's paths", path, grammar::path_fault(path, use));
    for (const auto& [list, use] : {std::pair{&boundary.env_passed, grammar::EnvUse::pass}, std::pair{&boundary.env_credentials, grammar::EnvUse::credential}})
        for (const auto& name : *list) refused(boundary, "a policy's environment", name, grammar::env_name_fault(name, use));
    for (const auto* list : {&boundary.env_values, &boundary.env_runtime_values}) {
        for (const auto& [name, value] : *list) {
            refused(boundary, "a policy's environment", name, grammar::env_name_fault(name, grammar::EnvUse::value));
            refused(boundary, "a policy's environment, value of", name, grammar::env_value_fault(value));
        }
    }
}

}  // namespace bailey::policy
