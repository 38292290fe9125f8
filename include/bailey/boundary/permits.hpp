// What a boundary permits, with the rule that decides, in words. The real sandbox agrees: tests/sandbox/permits.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bailey/base/text.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/hosts.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/places.hpp>
#include <bailey/boundary/resolve.hpp>
#include <bailey/boundary/verdict.hpp>

namespace bailey {

namespace detail {

[[nodiscard]] inline std::string in_words(verdict::Rule rule, std::string_view subject) {
    using verdict::Rule;
    const auto named = [&](std::string_view what) { return text::concat({what, " ", text::quoted(subject)}); };
    switch (rule) {
        case Rule::read_denial: return named("the read denial");
        case Rule::write_denial: return named("the write denial");
        case Rule::secret: return named("a secret of the system,") + ", which no policy grants";
        case Rule::root: return named("the workspace");
        case Rule::tmp: return named("the default grant of");
        case Rule::system: return named("the system path");
        case Rule::read_grant: return named("the read grant");
        case Rule::write_grant: return named("the write grant");
        case Rule::all_reads: return "AllReads";
        case Rule::read_only: return "ReadOnly";
        case Rule::private_tmp: return "PrivateTmp";
        case Rule::not_granted: return "no grant covers it";
        case Rule::denied_domain: return named("the denied domain");
        case Rule::allowed_domain: return named("the allowed domain");
        case Rule::no_domain: return "no allowed domain covers it";
    }
    return {};
}

/// A path that a question names: what it leads to, or why that cannot be said.
struct AskedPath {
    std::string path{};
    std::string problem{};
    bool of_the_kernel = false;
};

[[nodiscard]] inline AskedPath asked_path(const Boundary& boundary, std::string_view spelled) {
    if (spelled.empty()) return {{}, "the path is empty"};
    if (spelled.find('\0') != std::string_view::npos) return {{}, "no path holds a NUL byte"};
    std::string path{spelled};
    if (path == "~" || path.starts_with("~/")) path.replace(0, 1, host_home());
    if (!path.starts_with('/')) path = paths::join(boundary.root, path);
    // Those are the sandbox's own: where the host's links lead means nothing there.
    if (path.find("/..") == std::string::npos && paths::is_within_any(path, defaults::kernel_paths)) return {std::move(path), {}, true};
    auto real = paths::real_as_far_as_it_exists(path);
    if (!real) return {{}, "it cannot be resolved: a link to nothing, a loop of links, or no permission"};
    const bool kernel = paths::is_within_any(*real, defaults::kernel_paths);
    return {std::move(*real), {}, kernel};
}

/// What the host's tools would run or obey cannot be changed while it exists (docs/architecture.md); here as far as its name tells.
[[nodiscard]] inline bool steers_host_tools(const std::string& path, std::string_view root) {
    if (!paths::is_beneath(path, root) || !paths::exists(path)) return false;
    std::string_view rest = std::string_view{path}.substr(root.size() + 1), before;
    bool in_git = false, in_modules = false;
    for (int depth = 0; !rest.empty(); ++depth) {
        const auto name = rest.substr(0, rest.find('/'));
        rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        const auto is = [&](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
        if (depth <= 3 && (name == ".gitmodules" || is(defaults::settings_files) || is(defaults::settings_directories))) return true;
        if (before == ".claude" && is(defaults::claude_directories)) return true;
        if ((before == ".git" || in_modules) && (name == "hooks" || name == "config" || name == "config.worktree" || name == "commondir")) return true;
        // The repositories of submodules lie below modules, at their paths, and may have such themselves.
        if (in_modules && (name == "objects" || name == "refs" || name == "logs" || name == "info")) return false;
        if (before == ".git" && (name == "modules" || name == "worktrees")) in_modules = true;
        if (name == ".git") {
            if (rest.empty() && !paths::is_directory(path)) return true;  // it says where the repository is
            in_git = true;
        }
        if (name == "node_modules" && !in_git) return false;  // packages bring their authors' settings along
        before = name;
    }
    return false;
}

}  // namespace detail

inline Permission Boundary::permits_read(std::string_view path) const {
    const auto asked = detail::asked_path(*this, path);
    if (!asked.problem.empty()) return {false, asked.problem};
    const Places places = places_here();  // what the verdict names lives there
    const auto verdict = verdict::read(*this, places, asked.path);
    std::string rule = detail::in_words(verdict.rule, verdict.subject);
    if (verdict.allowed && asked.of_the_kernel) rule += ", the sandbox's own";
    return {verdict.allowed, std::move(rule)};
}

inline Permission Boundary::permits_write(std::string_view path) const {
    const auto asked = detail::asked_path(*this, path);
    if (!asked.problem.empty()) return {false, asked.problem};
    if (asked.of_the_kernel) {
        for (const std::string_view device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts", "/dev/shm"})
            if (paths::is_within(asked.path, device)) return {true, "the sandbox's own /dev: nothing of it reaches the host"};
        return {false, "part of the kernel's own file systems"};
    }
    const Places places = places_here();
    const auto verdict = verdict::write(*this, places, asked.path);
    if (verdict.allowed && detail::steers_host_tools(asked.path, root))
        return {false, "the host's tools would run or obey it: protected while it exists"};
    return {verdict.allowed, detail::in_words(verdict.rule, verdict.subject)};
}

inline Permission Boundary::permits_host(std::string_view host, std::uint16_t port) const {
    std::string asked{host};
    if (asked.find(':') != std::string::npos && !asked.starts_with('[')) asked = text::concat({"[", asked, "]"});
    if (asked.size() > 1 && asked.ends_with('.')) asked.pop_back();  // srt takes it away too
    if (asked.empty() || port == 0 || asked.find_first_of("*/@ \t\n%") != std::string::npos || (asked.starts_with('[') && !hosts::address_of(asked).valid))
        return {false, "not the name or address of one host, and a port from 1 to 65535"};
    const auto verdict = verdict::host(hosts::patterns(allowed_domains), hosts::patterns(denied_domains), {asked, false, port, hosts::key_of(asked)});
    return {verdict.allowed, detail::in_words(verdict.rule, hosts::to_string(verdict.entry))};
}

}  // namespace bailey
