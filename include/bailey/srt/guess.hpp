// What a command was refused, guessed from what it printed: the kernel tells the program, and programs tell their users.
//
// Only what the boundary does refuse is reported, so a word in a log makes no violation; but a program may print anything.
#pragma once

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include <bailey/base/format.hpp>
#include <bailey/base/violation.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/permits.hpp>
#include <bailey/srt/launch.hpp>

namespace bailey::srt {

class Guesses {
public:
    /// `cwd`: where the command began.
    Guesses(const Boundary& boundary, std::string_view cwd) : boundary_{boundary}, cwd_{cwd} {}

    [[nodiscard]] std::vector<Violation> of(Said said) && {
        constexpr std::size_t enough = 64 * 1024;
        if (said.text.size() > enough) said.text.remove_prefix(said.text.size() - enough);
        for (auto rest = said.text; !rest.empty() && found_.size() < most;) {
            const auto line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            look_at(line);
        }
        if (said.exit_code != 0) look_for_limits(said);
        return std::move(found_);
    }

private:
    static constexpr std::size_t most = 20;

    void look_at(std::string_view line) {
        constexpr std::array<std::string_view, 7> refusals{"Read-only file system", "read-only file system", "Permission denied", "permission denied", "Operation not permitted", "operation not permitted", "No such file or directory"};
        for (const auto words : refusals) {
            const auto at = line.find(words);
            if (at == line.npos) continue;
            const auto path = path_before(line.substr(0, at));
            if (about_path(path ? *path : path_after(line.substr(at + words.size())), words.front() == 'N')) return;
        }
        constexpr std::string_view unresolved = "Could not resolve host: ";
        if (const auto at = line.find(unresolved); at != line.npos) about_host(line.substr(at + unresolved.size()));
    }

    /// `cat: /x: Permission denied`, `cannot touch '/x': …`, `dial unix /x: socket: …`
    [[nodiscard]] static std::optional<std::string_view> path_before(std::string_view words) {
        while (!words.empty() && (words.back() == ' ' || words.back() == ':')) words.remove_suffix(1);
        if (words.ends_with(": socket")) words.remove_suffix(8);
        if (words.empty()) return std::nullopt;
        const char last = words.back();
        if (last == '\'' || last == '"') {
            words.remove_suffix(1);
            const auto open = words.rfind(last);
            return open == words.npos ? std::nullopt : std::optional{words.substr(open + 1)};
        }
        if (const auto colon = words.rfind(": "); colon != words.npos) words.remove_prefix(colon + 2);
        if (const auto slash = words.find(" /"); slash != words.npos) words.remove_prefix(slash + 1);
        return words.find('/') == words.npos ? std::nullopt : std::optional{words};
    }
    /// `[Errno 30] Read-only file system: '/x'`, `EROFS: read-only file system, open '/x'`
    [[nodiscard]] static std::string_view path_after(std::string_view words) {
        const auto open = words.find_first_of("'\"");
        if (open == words.npos) return {};
        const auto close = words.find(words[open], open + 1);
        return close == words.npos ? std::string_view{} : words.substr(open + 1, close - open - 1);
    }

    bool about_path(std::string_view spelled, bool missing) {
        if (spelled.empty() || spelled.size() > 4096) return false;
        const auto path = spelled.starts_with('/') ? std::string{spelled} : paths::join(cwd_, spelled);
        struct stat status {};
        const bool exists = ::lstat(path.c_str(), &status) == 0;
        const auto read = boundary_.permits_read(path);
        if (missing && (!exists || read.allowed)) return false;  // it is not there on the host either
        if (exists && S_ISSOCK(status.st_mode) && !boundary_.all_unix_sockets)
            return report({ViolationKind::unix_socket, path, "no Unix socket of the host is reachable", "AllUnixSockets permits all of them, and gives up the filter of system calls", false});
        if (missing || !read.allowed)
            return !read.allowed && report({ViolationKind::file_read, path, read.rule, remedy(read.rule, "ReadPolicy", path), false});
        const auto write = boundary_.permits_write(path);
        return !write.allowed && report({ViolationKind::file_write, path, write.rule, remedy(write.rule, "WritePolicy", std::string{paths::parent(path)}), false});
    }

    [[nodiscard]] static std::string remedy(std::string_view rule, std::string_view policy, const std::string& path) {
        if (rule.starts_with("no grant")) return text::concat({"add ", policy, "<Allow<", paths::quoted(path), ">>"});
        if (rule.starts_with("the read denial") || rule.starts_with("the write denial") || rule.starts_with("ReadOnly") || rule.starts_with("PrivateTmp"))
            return "take that policy away if it is meant to be permitted";
        return "none: that stays closed to every command";
    }

    void about_host(std::string_view host) {
        while (!host.empty() && (host.back() == '\r' || host.back() == ' ')) host.remove_suffix(1);
        const auto permission = boundary_.permits_host(host, 443);
        if (permission.allowed) return;
        report({ViolationKind::network, std::string{host}, permission.rule, text::concat({"add DomainAllowlist<", paths::quoted(host), ">"}), false});
    }

    void look_for_limits(const Said& said) {
        const auto says = [&](std::string_view words) { return said.text.find(words) != said.text.npos; };
        const auto ended_by = [&](int signal) { return said.exit_code == 128 + signal; };
        const auto limit = [&](std::string_view name, std::string_view policy, const std::optional<std::uint64_t>& value) {
            report({ViolationKind::limit, std::string{name}, text::concat({"the limit of ", std::to_string(*value)}), text::concat({"raise ", policy, " if that is too little"}), false});
        };
        const auto& limits = boundary_.limits;
        if (limits.cpu_seconds && (ended_by(SIGXCPU) || ended_by(SIGKILL))) limit("CPU seconds of a process", "CpuTimeLimit", limits.cpu_seconds);
        if (limits.file_size_bytes && (ended_by(SIGXFSZ) || says("File size limit exceeded") || says("File too large"))) limit("bytes of a file", "FileSizeLimit", limits.file_size_bytes);
        if (limits.open_files && says("Too many open files")) limit("open files of a process", "OpenFileLimit", limits.open_files);
        if (limits.processes && (says("Resource temporarily unavailable") || says("retry: "))) limit("processes", "ProcessLimit", limits.processes);
        if (limits.memory_bytes && (says("Cannot allocate memory") || says("MemoryError") || says("bad_alloc") || says("out of memory") || says("memory exhausted")))
            limit("bytes of memory of a process", "MemoryLimit", limits.memory_bytes);
    }

    bool report(Violation violation) {
        const auto same = [&](const Violation& other) { return other.kind == violation.kind && other.subject == violation.subject; };
        if (std::none_of(found_.begin(), found_.end(), same)) found_.push_back(std::move(violation));
        return true;
    }

    const Boundary& boundary_;
    std::string_view cwd_;
    std::vector<Violation> found_;
};

}  // namespace bailey::srt
