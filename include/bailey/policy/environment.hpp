// Which variables a command gets beyond the curated baseline (PATH, HOME, TMPDIR, TERM, the locale).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <bailey/base/fixed_string.hpp>
#include <bailey/base/text.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/grammar/environment.hpp>

namespace bailey {

namespace policy {

inline void env_value(Boundary& boundary, std::string_view name, std::string_view value) {
    for (const auto& [known, other] : boundary.env_values) {
        if (known != name) continue;
        if (other != value)
            boundary.refusals.push_back(
                "bailey: a variable has one value; remove one EnvValue, or override it with runtime::Env (in EnvValue: " +
                text::quoted(name) + " is both " + text::quoted(other) + " and " + text::quoted(value) + ")");
        return;
    }
    boundary.env_values.emplace_back(name, value);
}

}  // namespace policy

/// Names of variables that a command gets with the host's values, when the host has them: `EnvAllowlist<"CI", "GITHUB_SHA">`.
///
/// Default: none but the locale. Errors, while compiling: no identifier; a name that bash keeps to itself (`UID`, `IFS`) or that
/// is bailey's own (`BAILEY_*`); one that steers programs (`LD_PRELOAD`, `NODE_OPTIONS`: say the value, with `EnvValue`); a proxy
/// (`UpstreamProxy`); one that looks like a credential (`*_TOKEN`, `AWS_*`, `SSH_AUTH_SOCK`: say so, with `EnvCredential`).
template <fixed_string... Names>
struct EnvAllowlist {
    static_assert(grammar::all({grammar::accepts_env_name<Names, grammar::EnvUse::pass>()...}));
    void apply(Boundary& boundary) const {
        for (const std::string_view name : std::initializer_list<std::string_view>{Names.view()...})
            boundary.env_passed.emplace_back(name);
    }
};

/// A variable with a fixed value: `EnvValue<"NODE_ENV", "test">`. The value is any text without NUL, also an empty one; names
/// that steer programs are fine here. A secret does not belong in source code: `EnvCredential` or `runtime::Env`.
///
/// Errors: a name that is no identifier, or that bash or bailey keeps, while compiling; two values for one name, when the workspace is
/// made. `runtime::Env` overrides it.
template <fixed_string Name, fixed_string Value>
struct EnvValue {
    static_assert(grammar::accepts_env_name<Name, grammar::EnvUse::value>());
    static_assert(grammar::accepts_env_value<Value>());
    void apply(Boundary& boundary) const { policy::env_value(boundary, Name.view(), Value.view()); }
};

}  // namespace bailey
