// What two boundaries both permit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bailey/base/error.hpp>
#include <bailey/base/text.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/compare.hpp>
#include <bailey/boundary/hosts.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/places.hpp>
#include <bailey/boundary/verdict.hpp>

namespace bailey {

namespace detail {

inline void add(std::vector<std::string>& list, const std::vector<std::string>& more) { list.insert(list.end(), more.begin(), more.end()); }
inline void tidy(std::vector<std::string>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Every path of one list that lies in the other: what both cover.
[[nodiscard]] inline std::vector<std::string> common_paths(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
    std::vector<std::string> common;
    for (const auto one : a) {
        for (const auto other : b) {
            if (paths::is_within(one, other)) common.emplace_back(one);
            if (paths::is_beneath(other, one)) common.emplace_back(other);
        }
    }
    tidy(common);
    return common;
}

[[nodiscard]] inline bool names(const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

inline void smaller(std::optional<std::uint64_t>& limit, const std::optional<std::uint64_t>& other) {
    if (other && (!limit || *other < *limit)) limit = other;
}

}  // namespace detail

/// The widest boundary that is narrower than both; they have one root. Two different upstream proxies leave no host, two different
/// values of a variable leave it out.
[[nodiscard]] inline Result<Boundary> intersect(const Boundary& a, const Boundary& b) {
    if (a.root != b.root)
        return Error{ErrorCode::policy, text::concat({"bailey: two boundaries with different roots have nothing in common; open both in one of ",
                                                      text::quoted(a.root), " and ", text::quoted(b.root)})};
    const Places places = places_here();
    Boundary both;
    both.root = a.root;

    for (const auto* one : {&a, &b}) {
        detail::add(both.read_denials, one->read_denials);
        detail::add(both.write_denials, one->write_denials);
        detail::add(both.denied_domains, one->denied_domains);
        both.read_only |= one->read_only;
        both.private_tmp |= one->private_tmp;
    }
    for (auto* list : {&both.read_denials, &both.write_denials, &both.denied_domains}) detail::tidy(*list);
    both.all_reads = a.all_reads && b.all_reads;

    // What is permitted without a grant needs none, and a grant inside a denial is void.
    const auto grants = [&](auto each_grant, auto permits) {
        std::vector<std::string_view> lists[2];
        each_grant(a, places, [&](std::string_view path) { lists[0].push_back(path); });
        each_grant(b, places, [&](std::string_view path) { lists[1].push_back(path); });
        std::vector<std::string> kept;
        for (auto& path : detail::common_paths(lists[0], lists[1])) {
            const bool nested = std::any_of(kept.begin(), kept.end(), [&](const auto& wider) { return paths::is_within(path, wider); });
            if (!nested && !permits(both, path).allowed && permits(a, path).allowed && permits(b, path).allowed) kept.push_back(std::move(path));
        }
        return kept;
    };
    both.write_grants = grants([](const auto& rules, const auto& at, auto each) { compare::each_write_grant(rules, at, each); },
                               [&](const Boundary& rules, std::string_view path) { return verdict::write(rules, places, path); });
    both.read_grants = grants([](const auto& rules, const auto& at, auto each) { compare::each_read_grant(rules, at, each); },
                              [&](const Boundary& rules, std::string_view path) { return verdict::read(rules, places, path); });

    const auto allowed_a = hosts::patterns(a.allowed_domains), allowed_b = hosts::patterns(b.allowed_domains);
    const auto denied = hosts::patterns(both.denied_domains);
    const bool reach = compare::reaches_any(allowed_a, hosts::patterns(a.denied_domains)) && compare::reaches_any(allowed_b, hosts::patterns(b.denied_domains));
    if (reach && a.upstream_proxy == b.upstream_proxy) {
        both.upstream_proxy = a.upstream_proxy;
        for (const auto& one : allowed_a)
            for (const auto& other : allowed_b)
                if (const auto common = hosts::overlap(one, other); common.any) both.allowed_domains.push_back(hosts::to_string(common.common));
        detail::tidy(both.allowed_domains);
    }

    both.all_unix_sockets = a.all_unix_sockets && b.all_unix_sockets;
    if (!both.all_unix_sockets) {
        const auto sockets = [](const Boundary& rules) {
            if (rules.all_unix_sockets) return std::vector<std::string_view>{"/"};
            return std::vector<std::string_view>{rules.unix_sockets.begin(), rules.unix_sockets.end()};
        };
        both.unix_sockets = detail::common_paths(sockets(a), sockets(b));
    }
    both.local_binding = a.local_binding && b.local_binding;

    using compare::Source;
    const auto keep = [&](const std::string& name, auto&& kept) {
        const auto here = compare::variable(a, name), there = compare::variable(b, name);
        if (here.source == there.source && here.value == there.value) kept(here);
    };
    for (const auto* list : {&a.env_passed, &a.env_credentials}) {
        for (const auto& name : *list) {
            keep(name, [&](const compare::Variable& variable) {
                if (variable.source != Source::host) return;
                const bool credential = detail::names(b.env_credentials, name) || list == &a.env_credentials;
                auto& target = credential ? both.env_credentials : both.env_passed;
                if (!detail::names(target, name)) target.push_back(name);
            });
        }
    }
    for (const auto* list : {&a.env_values, &a.env_runtime_values}) {
        for (const auto& entry : *list) {
            keep(entry.first, [&](const compare::Variable& variable) {
                // The one that a command sees; the other list may hold another for the same name.
                if (variable.value != entry.second || compare::variable(both, entry.first).source == Source::value) return;
                (list == &a.env_values ? both.env_values : both.env_runtime_values).push_back(entry);
            });
        }
    }

    both.limits = a.limits;
    detail::smaller(both.limits.cpu_seconds, b.limits.cpu_seconds);
    detail::smaller(both.limits.memory_bytes, b.limits.memory_bytes);
    detail::smaller(both.limits.processes, b.limits.processes);
    detail::smaller(both.limits.file_size_bytes, b.limits.file_size_bytes);
    detail::smaller(both.limits.open_files, b.limits.open_files);
    return both;
}

}  // namespace bailey
