// A boundary in words, for the person who has to decide whether it is right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <bailey/base/format.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/resolve.hpp>

namespace bailey {

/// Who may do what, and what this platform cannot enforce. One fact a line; for people, not for parsing.
[[nodiscard]] inline std::string explain(const Boundary& boundary) {
    std::string out;
    const auto line = [&](std::string_view matter, std::string_view what) {
        constexpr std::size_t column = 13;
        out.append(matter).append(column - matter.size(), ' ').append(what) += '\n';
    };
    const auto list = [](const std::vector<std::string>& values) {
        std::string joined;
        for (const auto& value : values) joined += (joined.empty() ? "" : ", ") + value;
        return joined;
    };
    const auto names = [](const std::vector<EnvironmentEntry>& entries) {
        std::string joined;
        for (const auto& [name, value] : entries) joined += (joined.empty() ? "" : ", ") + name;
        return joined;
    };

    line("workspace", paths::quoted(boundary.root));

    auto writable = writable_paths(boundary);
    line("writes", text::concat({list(writable), writable.empty() ? "" : ", ", "a private TMPDIR; nothing else"}));
    if (!boundary.write_denials.empty()) line("  denied", list(boundary.write_denials));

    if (boundary.all_reads) {
        line("reads", "everything that the host user can read");
    } else {
        std::vector<std::string> readable{boundary.root};
        if (shares_tmp(boundary)) readable.emplace_back(defaults::tmp);
        paths::append(readable, boundary.read_grants);
        paths::append(readable, boundary.write_grants);
        line("reads", list(readable) + ", and the system (programs, libraries, /etc without its secrets)");
        line("", "what is hidden looks empty; a hidden directory accepts writes that vanish when the command ends");
    }
    if (!boundary.read_denials.empty()) line("  denied", list(boundary.read_denials));

    line("network", boundary.allowed_domains.empty() ? "none" : list(boundary.allowed_domains) + " through srt's proxy; nothing else");
    if (!boundary.denied_domains.empty()) line("  denied", list(boundary.denied_domains));
    if (!boundary.upstream_proxy.empty()) line("  through", "an upstream proxy, which decides by itself which addresses a name leads to");
    line("sockets", boundary.all_unix_sockets     ? "every Unix socket"
                    : boundary.unix_sockets.empty() ? "no Unix sockets"
                                                    : list(boundary.unix_sockets));

    std::string environment = "PATH, HOME, TMPDIR, TERM, and the host's LANG and LC_*";
    if (!boundary.env_passed.empty()) environment += "; from the host: " + list(boundary.env_passed);
    if (!boundary.env_credentials.empty()) environment += "; credentials: " + list(boundary.env_credentials);
    if (!boundary.env_values.empty()) environment += "; set: " + names(boundary.env_values);
    if (!boundary.env_runtime_values.empty()) environment += "; set at run time: " + names(boundary.env_runtime_values);
    line("environment", environment + "; and srt's proxy variables");

    std::string limits;
    const auto limit = [&](std::string_view name, const std::optional<std::uint64_t>& value, std::string_view unit) {
        if (value) limits += text::concat({limits.empty() ? "" : ", ", name, " ", std::to_string(*value), unit});
    };
    limit("cpu", boundary.limits.cpu_seconds, " s a process");
    limit("memory", boundary.limits.memory_bytes, " bytes a process");
    limit("processes", boundary.limits.processes, "");
    limit("file size", boundary.limits.file_size_bytes, " bytes");
    limit("open files", boundary.limits.open_files, " a process");
    line("limits", limits.empty() ? "none but the timeout and output limit of each run" : limits);

    for (const auto& note : boundary.notes) line("note", note);
    return out;
}

}  // namespace bailey
