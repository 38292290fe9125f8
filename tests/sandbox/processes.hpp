// What the tests see of the host's processes: by their words, and whose they are.
#pragma once

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace support {

struct HostProcess {
    int pid = 0, parent = 0;
    char state = '?';
    std::string words;        ///< argv, each followed by a NUL
    std::string environment;  ///< likewise

    [[nodiscard]] std::string file(std::string_view name) const { return "/proc/" + std::to_string(pid) + "/" + std::string{name}; }
};

inline std::vector<HostProcess> host_processes() {
    // A process may end between any two of these reads: read(2) then fails with ESRCH, where a stream's iterator throws.
    const auto whole = [](const std::string& path) {
        std::string text;
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        char bytes[4096];
        for (ssize_t size; (size = ::read(file, bytes, sizeof bytes)) > 0;) text.append(bytes, static_cast<std::size_t>(size));
        if (file >= 0) ::close(file);
        return text;
    };
    std::vector<HostProcess> all;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc", ignored}) {
        const auto name = entry.path().filename().string();
        if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
        HostProcess process;
        process.pid = std::atoi(name.c_str());
        const auto stat = whole(process.file("stat"));
        const auto after_name = stat.rfind(") ");
        if (after_name == stat.npos) continue;  // it has ended
        process.state = stat[after_name + 2];
        process.parent = std::atoi(stat.c_str() + after_name + 4);
        process.words = whole(process.file("cmdline"));
        process.environment = whole(process.file("environ"));
        all.push_back(std::move(process));
    }
    return all;
}

/// This process's children, their children, and so on.
inline std::vector<HostProcess> descendants() {
    const auto all = host_processes();
    std::vector<HostProcess> found;
    std::vector<int> parents{::getpid()};
    while (!parents.empty()) {
        const int parent = parents.back();
        parents.pop_back();
        for (const auto& process : all) {
            if (process.parent != parent) continue;
            found.push_back(process);
            parents.push_back(process.pid);
        }
    }
    return found;
}

/// Whether a living process has that word among its arguments.
inline bool runs(std::string_view word) {
    for (const auto& process : host_processes()) {
        if (process.state != 'Z' && ('\0' + process.words).find('\0' + std::string{word} + '\0') != std::string::npos) return true;
    }
    return false;
}

inline bool is_over(std::string_view word, std::chrono::milliseconds within) {
    for (const auto until = std::chrono::steady_clock::now() + within;; ::usleep(20'000)) {
        if (!runs(word)) return true;
        if (std::chrono::steady_clock::now() >= until) return false;
    }
}

}  // namespace support
