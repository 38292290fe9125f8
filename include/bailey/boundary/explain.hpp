// A boundary in words, for the person who has to decide whether it is right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__APPLE__)
#include <crt_externs.h>
#else
#include <unistd.h>
#endif

#include <bailey/base/platform.hpp>
#include <bailey/base/text.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/resolve.hpp>

namespace bailey {

enum class ExplainFormat {
    text,
    colour,    ///< text with the escapes of a terminal
    markdown,  ///< a table
    json,      ///< [{"matter": "paths", "mark": "rw", "what": "/srv/work", "why": "the workspace"}, …]
};

namespace detail {

/// One line of an explanation. The mark is a word or nothing: rw, ro, hidden, allowed, denied, weakening …
struct Fact {
    std::string_view matter, mark;
    std::string what;
    std::string why{};
    bool is_path = false;  ///< shown between quotes to people
};

/// Of the host's variables, how many a command does not see.
[[nodiscard]] inline std::size_t variables_kept_out(const Boundary& boundary) {
#if defined(__APPLE__)
    char** variable = *::_NSGetEnviron();
#else
    char** variable = ::environ;
#endif
    std::size_t count = 0;
    for (; variable != nullptr && *variable != nullptr; ++variable) {
        const std::string_view entry{*variable};
        const auto name = entry.substr(0, entry.find('='));
        bool passes = false;
        for (const auto locale : defaults::locale_names) passes |= name == locale;
        for (const auto* list : {&boundary.env_passed, &boundary.env_credentials})
            for (const auto& passed : *list) passes |= name == passed;
        count += passes ? 0 : 1;
    }
    return count;
}

[[nodiscard]] inline std::vector<Fact> facts(const Boundary& boundary) {
    std::vector<Fact> all;
    const auto add = [&](std::string_view matter, std::string_view mark, std::string what, std::string why = {}) {
        all.push_back({matter, mark, std::move(what), std::move(why)});
    };
    const auto path = [&](std::string_view matter, std::string_view mark, std::string_view value, std::string_view why) {
        all.push_back({matter, mark, std::string{value}, std::string{why}, true});
    };
    const auto each = [&](std::string_view matter, std::string_view mark, const std::vector<std::string>& list, std::string_view why) {
        for (const auto& entry : list) path(matter, mark, entry, why);
    };
    const bool has_tmp = shares_tmp(boundary);

    path("workspace", "", boundary.root, "");
    if (!boundary.read_only) path("paths", "rw", boundary.root, "the workspace");
    if (!boundary.read_only && has_tmp) path("paths", "rw", defaults::tmp, "shared with the host");
    each("paths", "rw", boundary.write_grants, "write grant");
    add("paths", "rw", "TMPDIR", "private; goes away with the workspace");
    if (boundary.read_only) path("paths", "ro", boundary.root, "the workspace, ReadOnly");
    if (boundary.read_only && has_tmp) path("paths", "ro", defaults::tmp, "shared with the host, ReadOnly");
    each("paths", "ro", boundary.read_grants, "read grant");
    if (!boundary.all_reads) add("paths", "ro", "the system", "programs, libraries, /etc without its secrets");
    for (const auto& denial : boundary.write_denials)
        if (!paths::is_within_any(denial, boundary.read_denials)) path("paths", "ro", denial, "write denial");
    if (boundary.all_reads) add("paths", "weakening", "everything else can be read", "AllReads: whatever the host user can read, but the system's secrets");
    if (boundary.private_tmp) path("paths", "hidden", defaults::tmp, "PrivateTmp");
    each("paths", "hidden", boundary.read_denials, "read denial");
    add("paths", "hidden", boundary.all_reads ? "the system's secrets" : "everything else",
        "looks empty; a hidden directory accepts writes that vanish when the command ends");

    for (const auto& domain : boundary.allowed_domains) add("network", "allowed", domain, "through srt's proxy");
    for (const auto& domain : boundary.denied_domains) add("network", "denied", domain, "whatever is allowed");
    if (!boundary.upstream_proxy.empty()) add("network", "", "an upstream proxy", "decides by itself which addresses a name leads to");
    add("network", "denied", boundary.allowed_domains.empty() ? "everything" : "everything else");

    if (boundary.all_unix_sockets) {
        add("sockets", "weakening", "every Unix socket that can be seen", "AllUnixSockets");
    } else {
        each("sockets", "allowed", boundary.unix_sockets, "");
        add("sockets", "denied", boundary.unix_sockets.empty() ? "all Unix sockets" : "all other Unix sockets");
    }
    if (boundary.local_binding && on_macos) add("sockets", "weakening", "serving local ports", "LocalBinding");

    add("environment", "given", "PATH HOME TMPDIR TERM", "and srt's proxy variables");
    add("environment", "host", "LANG LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES");
    for (const auto& name : boundary.env_passed) add("environment", "host", name);
    for (const auto& name : boundary.env_credentials) add("environment", "weakening", name, "a credential of the host");
    for (const auto& entry : boundary.env_values) add("environment", "set", entry.first);
    for (const auto& entry : boundary.env_runtime_values) add("environment", "set", entry.first, "at run time");
    add("environment", "denied", std::to_string(variables_kept_out(boundary)) + " variables of this process", "not passed on");

    const auto limit = [&](std::string_view name, const std::optional<std::uint64_t>& value, const char* why) {
        if (value) add("limits", "", std::string{name} + " " + std::to_string(*value), why);
    };
    limit("CPU seconds", boundary.limits.cpu_seconds, "each process");
    limit("memory bytes", boundary.limits.memory_bytes, on_macos ? "not enforced on macOS" : "each process");
    limit("processes", boundary.limits.processes, "all of the host user");
    limit("file size bytes", boundary.limits.file_size_bytes, "each file");
    limit("open files", boundary.limits.open_files, "each process");
    add("limits", "", "time and output", "of each run");

    for (const auto& note : boundary.notes) add("note", "", note);
    return all;
}

[[nodiscard]] inline std::string padded(std::string_view text, std::size_t width) {
    std::string result{text};
    return result.append(text.size() < width ? width - text.size() : 1, ' ');
}

[[nodiscard]] inline std::string in_json(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string result = "\"";
    for (const char c : text::to_utf8(text)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20) {
            result.append("\\u00").append(1, hex[byte >> 4]).append(1, hex[byte & 15]);
        } else {
            if (c == '"' || c == '\\') result += '\\';
            result += c;
        }
    }
    return result += '"';
}

[[nodiscard]] inline std::string in_markdown(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (std::string_view{"|*_`<>[]\\"}.find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result;
}

}  // namespace detail

/// Who may do what, and what this platform cannot enforce. One fact a line; for people, JSON for programs. Values of variables and
/// the URL of a proxy, which can hold a password, are not shown.
[[nodiscard]] inline std::string explain(const Boundary& boundary, ExplainFormat format = ExplainFormat::text) {
    const bool colour = format == ExplainFormat::colour;
    std::string out = format == ExplainFormat::markdown ? "| matter | | what | why |\n|---|---|---|---|\n" : format == ExplainFormat::json ? "[" : "";
    std::string_view matter;
    for (const auto& fact : detail::facts(boundary)) {
        if (format == ExplainFormat::json) {
            out.append(out.size() == 1 ? "\n" : ",\n").append("  {\"matter\": ").append(detail::in_json(fact.matter));
            out.append(", \"mark\": ").append(detail::in_json(fact.mark)).append(", \"what\": ").append(detail::in_json(fact.what));
            out.append(", \"why\": ").append(detail::in_json(fact.why)).append("}");
            continue;
        }
        const std::string what = fact.is_path ? text::quoted(fact.what) : fact.what;
        const std::string_view shown = fact.matter == matter ? "" : fact.matter;
        matter = fact.matter;
        if (format == ExplainFormat::markdown) {
            out.append("| ").append(shown).append(" | ").append(fact.mark).append(" | ").append(detail::in_markdown(what));
            out.append(" | ").append(detail::in_markdown(fact.why)).append(" |\n");
            continue;
        }
        const auto painted = [&](const std::string& text, std::string_view code) {
            return colour && text.find_first_not_of(' ') != std::string::npos ? std::string{"\033["}.append(code).append("m").append(text).append("\033[0m") : text;
        };
        const std::string_view code = fact.mark == "weakening"                            ? "31"
                                      : fact.mark == "rw"                                 ? "33"
                                      : fact.mark == "hidden" || fact.mark == "denied"    ? "2"
                                                                                          : "32";
        out += painted(detail::padded(shown, 13), "1");
        const bool marked = fact.matter != "workspace" && fact.matter != "note";
        if (marked) out += painted(detail::padded(fact.mark, 11), code);
        out += what;
        if (!fact.why.empty()) out += painted("  (" + fact.why + ")", "2");
        out += '\n';
    }
    return format == ExplainFormat::json ? out + "\n]\n" : out;
}

}  // namespace bailey
