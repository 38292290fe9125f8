// Whether all that one boundary permits, another one permits: the same walk for two Boundaries and, at compile time, for policies as
// they are spelled (policy/narrower.hpp).
//
// A grant that covers a path covers all beneath it, and so does a denial. So two boundaries need to be asked only about the paths that
// they name: what one permits and the other does not begins at one of those. Hosts likewise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bailey/base/text.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/hosts.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/permits.hpp>
#include <bailey/boundary/places.hpp>
#include <bailey/boundary/verdict.hpp>

namespace bailey {

namespace compare {

using verdict::Rule;

[[nodiscard]] constexpr bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i]) return false;
    return true;
}

/// At compile time "/x", "~/x" and "./x" are three trees, and nobody knows where the root of one lies in another.
[[nodiscard]] constexpr bool in_one_tree(std::string_view a, std::string_view b) { return a[0] == b[0] || a.size() + b.size() == 0; }

/// `permits(rules, places, path)` is verdict::read or verdict::write; `grants` and `denials` call
/// what they are given with every path where `narrow` begins to permit and where `wide` begins to deny.
template <class Narrow, class Wide, class Places, class Permits, class Grants, class Denials, class Sink>
constexpr void paths(const Narrow& narrow, const Wide& wide, const Places& places, Permits permits, const Grants& grants, const Denials& denials,
                     WideningKind kind, Sink& sink) {
    const auto ask = [&](std::string_view path) {
        const auto here = permits(narrow, places, path);
        if (!here.allowed) return;
        if (const auto there = permits(wide, places, path); !there.allowed) sink.path(kind, path, there);
    };
    grants(ask);
    denials([&](std::string_view denial) {
        const auto here = permits(narrow, places, denial);
        if (here.allowed) return ask(denial);
        if (here.rule == Rule::read_denial || here.rule == Rule::write_denial || here.rule == Rule::secret) return;
        // No grant is around it in its own tree; one of another tree may be.
        bool elsewhere = false;
        grants([&](std::string_view grant) { elsewhere |= !in_one_tree(grant, denial); });
        if (elsewhere) sink.path(kind, denial, permits(wide, places, denial));
    });
}

/// `allowed` and `denied`: of both, as Patterns.
template <class Patterns, class WidePatterns, class Sink>
constexpr void domains(const Patterns& allowed, const Patterns& denied, const WidePatterns& wide_allowed, const WidePatterns& wide_denied, Sink& sink) {
    const auto ask = [&](const hosts::Pattern& pattern) {
        if (!verdict::host(allowed, denied, pattern).allowed) return;
        if (const auto there = verdict::host(wide_allowed, wide_denied, pattern); !there.allowed) sink.host(pattern, there);
    };
    for (const hosts::Pattern& pattern : allowed) ask(pattern);
    for (const hosts::Pattern& denial : wide_denied)
        for (const hosts::Pattern& pattern : allowed)
            if (denial.below || pattern.below || denial.key == pattern.key)
                if (const auto both = hosts::overlap(pattern, denial); both.any) ask(both.common);
}

template <class Patterns>
[[nodiscard]] constexpr bool reaches_any(const Patterns& allowed, const Patterns& denied) {
    for (const hosts::Pattern& pattern : allowed)
        if (verdict::host(allowed, denied, pattern).allowed) return true;
    return false;
}

enum class Source { none, host, value };
struct Variable {
    Source source = Source::none;
    std::string_view value{};
};

/// What a command finds in that variable: a value that was set wins over the host's.
template <class Rules>
[[nodiscard]] constexpr Variable variable(const Rules& rules, std::string_view name) {
    for (const auto& entry : rules.env_runtime_values)
        if (same(entry.first, name)) return {Source::value, entry.second};
    for (const auto& entry : rules.env_values)
        if (same(entry.first, name)) return {Source::value, entry.second};
    for (const std::string_view passed : rules.env_passed)
        if (same(passed, name)) return {Source::host};
    for (const std::string_view passed : rules.env_credentials)
        if (same(passed, name)) return {Source::host};
    return {};
}

/// A variable is permitted where it has the same source and, if it was set, the same value: what another value does to programs,
/// nobody can tell.
template <class Narrow, class Wide, class Sink>
constexpr void environment(const Narrow& narrow, const Wide& wide, Sink& sink) {
    const auto ask = [&](std::string_view name) {
        const auto here = variable(narrow, name), there = variable(wide, name);
        if (here.source != there.source || !same(here.value, there.value)) sink.variable(name, here, there);
    };
    for (const auto& entry : narrow.env_runtime_values) ask(entry.first);
    for (const auto& entry : narrow.env_values) ask(entry.first);
    for (const std::string_view name : narrow.env_passed) ask(name);
    for (const std::string_view name : narrow.env_credentials) ask(name);
}

template <class Sink>
constexpr void limits(const ResourceLimits& narrow, const ResourceLimits& wide, Sink& sink) {
    const auto ask = [&](std::string_view name, const std::optional<std::uint64_t>& here, const std::optional<std::uint64_t>& there) {
        if (there && (!here || *here > *there)) sink.limit(name, here, *there);
    };
    ask("cpu_seconds", narrow.cpu_seconds, wide.cpu_seconds);
    ask("memory_bytes", narrow.memory_bytes, wide.memory_bytes);
    ask("processes", narrow.processes, wide.processes);
    ask("file_size_bytes", narrow.file_size_bytes, wide.file_size_bytes);
    ask("open_files", narrow.open_files, wide.open_files);
}

/// Sockets and local ports.
template <class Narrow, class Wide, class Sink>
constexpr void sockets(const Narrow& narrow, const Wide& wide, Sink& sink) {
    if (narrow.all_unix_sockets && !wide.all_unix_sockets) sink.named(WideningKind::unix_socket, "every Unix socket", "no AllUnixSockets");
    if (!wide.all_unix_sockets) {
        for (const std::string_view path : narrow.unix_sockets)
            if (verdict::detail::around(path, wide.unix_sockets).empty()) sink.named(WideningKind::unix_socket, path, "no allowed Unix socket");
    }
    if (narrow.local_binding && !wide.local_binding) sink.named(WideningKind::local_binding, "local ports", "no LocalBinding");
}

/// Where reads and writes begin: `each` is called with every path.
template <class Rules, class Places, class Each>
constexpr void each_write_grant(const Rules& rules, const Places& places, Each&& each) {
    for (const std::string_view grant : rules.write_grants) each(grant);
    if (rules.read_only) return;
    each(rules.root);
    if (!rules.private_tmp) each(places.tmp);
}
template <class Rules, class Places, class Each>
constexpr void each_read_grant(const Rules& rules, const Places& places, Each&& each) {
    for (const std::string_view grant : rules.write_grants) each(grant);
    for (const std::string_view grant : rules.read_grants) each(grant);
    each(rules.root);
    if (!rules.private_tmp) each(places.tmp);
    if (rules.all_reads) each(std::string_view{"/"});
    for (const std::string_view system : places.system) each(system);
}

}  // namespace compare

namespace detail {

/// Puts widenings into words, each once, and none beneath one that says the same.
class WideningList {
public:
    void path(WideningKind kind, std::string_view path, const verdict::Verdict& there) {
        const auto rule = in_words(there.rule, there.subject);
        for (const auto& known : list_)
            if (known.kind == kind && known.rule == rule && verdict::within(path, known.subject)) return;
        add(kind, path, rule, text::concat({kind == WideningKind::read ? "reads " : "writes ", path == "/" ? "everything" : text::quoted(path)}));
    }
    void host(const hosts::Pattern& pattern, const verdict::HostVerdict& there) {
        add(WideningKind::network, hosts::to_string(pattern), in_words(there.rule, hosts::to_string(there.entry)), "reaches " + hosts::to_string(pattern));
    }
    void variable(std::string_view name, const compare::Variable& here, const compare::Variable& there) {
        using compare::Source;
        add(WideningKind::environment, name,
            there.source == Source::none   ? "the variable is not given"
            : there.source == Source::host ? "the host's value"
                                           : "another value",
            text::concat({here.source == Source::host ? "sees the host's value of " : "sees a value set for ", name}));  // never the value
    }
    void limit(std::string_view name, const std::optional<std::uint64_t>& here, std::uint64_t there) {
        add(WideningKind::limit, name, text::concat({"a limit of ", std::to_string(there)}),
            here ? text::concat({"has ", name, " limited to ", std::to_string(*here)}) : text::concat({"has no limit of ", name}));
    }
    void named(WideningKind kind, std::string_view subject, std::string_view rule) { add(kind, subject, rule, text::concat({"uses ", subject})); }

    void add(WideningKind kind, std::string_view subject, std::string_view rule, std::string_view what) {
        for (const auto& known : list_)
            if (known.kind == kind && known.subject == subject) return;
        list_.push_back({kind, std::string{subject}, std::string{rule}, text::concat({what, "; the other boundary: ", rule})});
    }
    [[nodiscard]] std::vector<Widening> take() { return std::move(list_); }

private:
    std::vector<Widening> list_;
};

}  // namespace detail

/// All that `narrow` permits and `wide` does not; empty when `narrow` is narrower, or the same. Both resolved, on this machine.
/// Values of variables are compared and never shown. Not compared: what is no permission, such as notes.
[[nodiscard]] inline std::vector<Widening> widenings(const Boundary& narrow, const Boundary& wide) {
    detail::WideningList found;
    const Places places = places_here();
    if (narrow.root != wide.root)
        found.add(WideningKind::root, narrow.root, text::concat({"the root ", text::quoted(wide.root)}), text::concat({"works in ", text::quoted(narrow.root)}));

    // Shorter paths first, so that what is said of a directory is not said again of all in it.
    const auto each_of = [](std::vector<std::string_view> list) {
        std::sort(list.begin(), list.end());
        return [list](auto each) {
            for (const auto path : list) each(path);
        };
    };
    const auto grants = [&](auto each_grant) {
        std::vector<std::string_view> list;
        each_grant(narrow, places, [&](std::string_view path) { list.push_back(path); });
        return each_of(std::move(list));
    };
    using Rules = Boundary;
    const auto each_read = [](const Rules& rules, const Places& at, auto each) { compare::each_read_grant(rules, at, each); };
    const auto each_write = [](const Rules& rules, const Places& at, auto each) { compare::each_write_grant(rules, at, each); };
    const auto read = [](const Rules& rules, const Places& at, std::string_view path) { return verdict::read(rules, at, path); };
    const auto write = [](const Rules& rules, const Places& at, std::string_view path) { return verdict::write(rules, at, path); };

    std::vector<std::string_view> denials{wide.read_denials.begin(), wide.read_denials.end()};
    if (wide.private_tmp) denials.push_back(places.tmp);
    compare::paths(narrow, wide, places, read, grants(each_read), each_of(denials), WideningKind::read, found);
    denials.insert(denials.end(), wide.write_denials.begin(), wide.write_denials.end());
    compare::paths(narrow, wide, places, write, grants(each_write), each_of(denials), WideningKind::write, found);

    const auto allowed = hosts::patterns(narrow.allowed_domains), denied = hosts::patterns(narrow.denied_domains);
    compare::domains(allowed, denied, hosts::patterns(wide.allowed_domains), hosts::patterns(wide.denied_domains), found);
    if (narrow.upstream_proxy != wide.upstream_proxy && compare::reaches_any(allowed, denied))
        found.add(WideningKind::proxy, "upstream proxy", wide.upstream_proxy.empty() ? "a direct connection" : "an upstream proxy of its own",
                  narrow.upstream_proxy.empty() ? "connects directly" : "connects through an upstream proxy");
    compare::sockets(narrow, wide, found);
    compare::environment(narrow, wide, found);
    compare::limits(narrow.limits, wide.limits, found);
    return found.take();
}

inline Comparison Boundary::narrower_than(const Boundary& other) const { return {widenings(*this, other)}; }

}  // namespace bailey
