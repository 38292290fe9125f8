// Who decides about a path or a host, and how: one set of rules for a Boundary and, at compile time, for policies as spelled.
//
// `Rules` is a Boundary, or what has members of the same names. `Places` are the paths that every workspace has: `tmp` and `system`.
// Paths are absolute and real; at compile time also "~", "~/x" and, for what lies in the workspace, ".", "./x".
#pragma once

#include <cstddef>
#include <string_view>

#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/hosts.hpp>

namespace bailey::verdict {

enum class Rule {
    read_denial,
    write_denial,
    secret,
    root,
    tmp,
    system,
    read_grant,
    write_grant,
    all_reads,
    read_only,
    private_tmp,
    not_granted,
    denied_domain,
    allowed_domain,
    no_domain,
};

struct Verdict {
    bool allowed;
    Rule rule;
    std::string_view subject{};  ///< the entry that decided, where one did
};

/// path is directory, or beneath it. As paths::is_within, in a loop that gcc 12 takes for template arguments too.
[[nodiscard]] constexpr bool within(std::string_view path, std::string_view directory) {
    if (directory.size() == 1 && directory[0] == '/') return true;
    if (path.size() < directory.size() || (path.size() > directory.size() && path[directory.size()] != '/')) return false;
    for (std::size_t i = directory.size(); i > 0; --i)
        if (path[i - 1] != directory[i - 1]) return false;
    return true;
}

/// The secret of the system that this path is, or lies in; or nothing.
[[nodiscard]] constexpr std::string_view secret_around(std::string_view path) {
    if (path.size() < 5 || path[0] != '/' || path[1] != 'e') return {};  // all are below /etc
    for (const std::string_view& secret : defaults::system_secrets) {
        if (secret[secret.size() - 1] != '*') {
            if (within(path, secret)) return secret;
            continue;
        }
        const std::size_t size = secret.size() - 1;
        const bool public_key = path.size() >= 4 && path[path.size() - 4] == '.' && path[path.size() - 3] == 'p';
        if (path.size() < size || public_key) continue;
        bool begins = true;
        for (std::size_t i = 0; i < size && begins; ++i) begins = path[i] == secret[i];
        if (begins) return secret;
    }
    return {};
}

namespace detail {
template <class List>
[[nodiscard]] constexpr std::string_view around(std::string_view path, const List& list) {
    for (const auto& entry : list)
        if (within(path, entry)) return entry;
    return {};
}

/// A denial of reading denies writing too. The workspace stays what it is beneath a denied directory, as srt mounts it there.
template <class Rules>
[[nodiscard]] constexpr Verdict denied(const Rules& rules, std::string_view path) {
    const bool in_root = within(path, rules.root);
    for (const auto& denial : rules.read_denials)
        if (within(path, denial) && !(in_root && within(rules.root, denial))) return {false, Rule::read_denial, denial};
    if (const auto secret = secret_around(path); !secret.empty() && !(in_root && within(rules.root, secret)))
        return {false, Rule::secret, secret};
    return {true, Rule::not_granted};
}
}  // namespace detail

template <class Rules, class Places>
[[nodiscard]] constexpr Verdict read(const Rules& rules, const Places& places, std::string_view path) {
    if (const auto denied = detail::denied(rules, path); !denied.allowed) return denied;
    if (within(path, rules.root)) return {true, Rule::root, rules.root};
    if (const auto grant = detail::around(path, rules.write_grants); !grant.empty()) return {true, Rule::write_grant, grant};
    if (const auto grant = detail::around(path, rules.read_grants); !grant.empty()) return {true, Rule::read_grant, grant};
    if (within(path, places.tmp)) return {!rules.private_tmp, rules.private_tmp ? Rule::private_tmp : Rule::tmp, places.tmp};
    if (rules.all_reads) return {true, Rule::all_reads};
    if (const auto system = detail::around(path, places.system); !system.empty()) return {true, Rule::system, system};
    return {false, Rule::not_granted};
}

template <class Rules, class Places>
[[nodiscard]] constexpr Verdict write(const Rules& rules, const Places& places, std::string_view path) {
    if (const auto denied = detail::denied(rules, path); !denied.allowed) return denied;
    if (const auto denial = detail::around(path, rules.write_denials); !denial.empty()) return {false, Rule::write_denial, denial};
    if (const auto grant = detail::around(path, rules.write_grants); !grant.empty()) return {true, Rule::write_grant, grant};
    const bool in_root = within(path, rules.root);
    if (!in_root && !within(path, places.tmp)) return {false, Rule::not_granted};
    if (!in_root && rules.private_tmp) return {false, Rule::private_tmp, places.tmp};
    if (rules.read_only) return {false, Rule::read_only};
    return in_root ? Verdict{true, Rule::root, rules.root} : Verdict{true, Rule::tmp, places.tmp};
}

/// `allowed` and `denied`: entries of the domain lists, as Patterns.
struct HostVerdict {
    bool allowed;
    Rule rule;
    hosts::Pattern entry{};
};
template <class Allowed, class Denied>
[[nodiscard]] constexpr HostVerdict host(const Allowed& allowed, const Denied& denied, const hosts::Pattern& asked) {
    for (const hosts::Pattern& entry : denied)
        if ((entry.below || entry.key == asked.key) && hosts::covers(entry, asked)) return {false, Rule::denied_domain, entry};
    for (const hosts::Pattern& entry : allowed)
        if ((entry.below || entry.key == asked.key) && hosts::covers(entry, asked)) return {true, Rule::allowed_domain, entry};
    return {false, Rule::no_domain};
}

}  // namespace bailey::verdict
