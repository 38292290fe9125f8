// What a command was refused, guessed from what it printed: the kernel tells the program, and programs tell their users.
//
// Only what the boundary does refuse is reported, so a word in a log makes no violation; but a program may print anything.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include <bailey/base/text.hpp>
#include <bailey/base/violation.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/permits.hpp>
#include <bailey/srt/launch.hpp>
#include <bailey/srt/network_violation.hpp>

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

    /// What a program's words for an error tell of it.
    enum class Refusal { reading_or_writing, writing, hidden };
    struct Words {
        std::string_view text;
        Refusal refusal;
    };
    static constexpr std::array<Words, 9> refusals{{
        {"Read-only file system", Refusal::writing},
        {"read-only file system", Refusal::writing},
        {"Device or resource busy", Refusal::writing},  // what is protected is a mount, which cannot be replaced
        {"resource busy or locked", Refusal::writing},
        {"Permission denied", Refusal::reading_or_writing},
        {"permission denied", Refusal::reading_or_writing},
        {"Operation not permitted", Refusal::reading_or_writing},
        {"operation not permitted", Refusal::reading_or_writing},
        {"No such file or directory", Refusal::hidden},
    }};

    void look_at(std::string_view said) {
        const auto line = with_plain_quotes(said);
        for (const auto& [words, refusal] : refusals) {
            const auto at = line.find(words);
            if (at == line.npos) continue;
            const auto before = path_before(std::string_view{line}.substr(0, at));
            const auto after = path_after(std::string_view{line}.substr(at + words.size()));
            const auto last_word = before.substr(before.rfind(' ') + 1);  // `could not write config file .git/config: …`
            if (about_path(after, refusal) || (last_word.find('/') != last_word.npos && about_path(last_word, refusal)) || about_path(before, refusal)) return;
        }
        about_network(line);
    }

    /// GNU programs quote with U+2018 and U+2019 where the locale has them.
    [[nodiscard]] static std::string with_plain_quotes(std::string_view line) {
        std::string plain{line};
        for (const std::string_view quote : {"\xE2\x80\x98", "\xE2\x80\x99"}) {
            for (auto at = plain.find(quote); at != plain.npos; at = plain.find(quote, at)) plain.replace(at, quote.size(), "'");
        }
        return plain;
    }
    /// `cat: /x: Permission denied`, `cannot touch '/x': …`, `bash: line 1: x: …`, `dial unix /x: socket: …`
    [[nodiscard]] static std::string_view path_before(std::string_view words) {
        while (!words.empty() && (words.back() == ' ' || words.back() == ':')) words.remove_suffix(1);
        if (words.ends_with(": socket")) words.remove_suffix(8);
        if (words.empty()) return {};
        const char last = words.back();
        if (last == '\'' || last == '"') {
            words.remove_suffix(1);
            const auto open = words.rfind(last);
            return open == words.npos ? std::string_view{} : words.substr(open + 1);
        }
        if (const auto colon = words.rfind(": "); colon != words.npos) words.remove_prefix(colon + 2);
        if (const auto slash = words.find(" /"); slash != words.npos) words.remove_prefix(slash + 1);
        return words.starts_with('[') ? std::string_view{} : words;  // `OSError: [Errno 30] Read-only …`: the path comes behind
    }
    /// `[Errno 30] Read-only file system: '/x'`, `EROFS: read-only file system, open '/x'`
    [[nodiscard]] static std::string_view path_after(std::string_view words) {
        const auto open = words.find_first_of("'\"");
        if (open == words.npos) return {};
        const auto close = words.find(words[open], open + 1);
        return close == words.npos ? std::string_view{} : words.substr(open + 1, close - open - 1);
    }

    bool about_path(std::string_view spelled, Refusal refusal) {
        if (spelled.empty() || spelled.size() > 4096) return false;
        const auto path = spelled.starts_with('/') ? std::string{spelled} : paths::join(cwd_, spelled);
        struct stat status {};
        const bool exists = ::lstat(path.c_str(), &status) == 0;
        // A word that has nothing of a path is one if there is such a file; the kernel alone speaks of read-only file systems.
        if (!exists && refusal != Refusal::writing && spelled.find('/') == spelled.npos) return false;
        const auto read = boundary_.permits_read(path);
        if (refusal == Refusal::hidden && (!exists || read.allowed)) return false;  // it is not there on the host either
        if (exists && S_ISSOCK(status.st_mode) && !boundary_.all_unix_sockets)
            return report({ViolationKind::unix_socket, path, "no Unix socket of the host is reachable", "AllUnixSockets permits all of them, and gives up the filter of system calls", false});
        if (refusal != Refusal::writing && !read.allowed) return report({ViolationKind::file_read, path, read.rule, remedy(read.rule, "ReadPolicy", path), false});
        const auto write = boundary_.permits_write(path);
        return !write.allowed && report({ViolationKind::file_write, path, write.rule, remedy(write.rule, "WritePolicy", std::string{paths::parent(path)}), false});
    }

    [[nodiscard]] static std::string remedy(std::string_view rule, std::string_view policy, const std::string& path) {
        if (rule.starts_with("no grant") && path == "/") return "none: the whole file system cannot be granted";
        if (rule.starts_with("no grant")) return text::concat({"add ", policy, "<Allow<", text::quoted(path), ">>"});
        if (rule.starts_with("the read denial") || rule.starts_with("the write denial") || rule.starts_with("ReadOnly") || rule.starts_with("PrivateTmp"))
            return "take that policy away if it is meant to be permitted";
        return "none: that stays closed to every command";
    }

    /// A program that goes past the proxy cannot resolve the name; one that asks the proxy is answered with a 403, and may say the URL.
    void about_network(std::string_view line) {
        constexpr std::array<std::string_view, 6> unresolved{"Could not resolve host: ", "Could not resolve hostname ", "getaddrinfo EAI_AGAIN ", "getaddrinfo ENOTFOUND ", "Failed to resolve '", "dial tcp: lookup "};
        for (const auto words : unresolved) {
            if (const auto at = line.find(words); at != line.npos) return about_host(host_of(line.substr(at + words.size())), {}, 443);
        }
        const auto url = line.find("://");
        if (url == line.npos || (line.find("403") == line.npos && line.find("Forbidden") == line.npos)) return;
        const auto host = host_of(line.substr(url + 3));
        const auto behind = line.substr(url + 3 + host.size());
        std::uint16_t port = line.substr(0, url).ends_with("http") ? 80 : 443;
        if (behind.starts_with(':')) std::from_chars(behind.data() + 1, behind.data() + behind.size(), port);
        about_host(host, text::concat({":", std::to_string(port)}), port);
    }
    [[nodiscard]] static std::string_view host_of(std::string_view words) {
        return words.substr(0, words.starts_with('[') ? words.find(']') + 1 : words.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."));
    }
    void about_host(std::string_view host, std::string_view shown_port, std::uint16_t port) {
        if (host.empty()) return;
        const auto permission = boundary_.permits_host(host, port);
        if (permission.allowed) return;
        const auto subject = text::concat({host, shown_port});
        report({ViolationKind::network, subject, permission.rule, network_remedy(permission.rule, subject), false});
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
