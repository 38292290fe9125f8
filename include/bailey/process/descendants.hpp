// What has descended from a child of ours. Linux only: elsewhere nothing is known of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/types.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include <bailey/process/fd.hpp>

namespace bailey::process {

/// Of a pidfd.
[[nodiscard]] inline bool has_ended(const Fd& process) {
    pollfd ended{process.get(), POLLIN, 0};
    return ::poll(&ended, 1, 0) > 0;
}

[[nodiscard]] inline std::vector<pid_t> children_of(pid_t pid) {
    std::vector<pid_t> children;
    const auto tasks = "/proc/" + std::to_string(pid) + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> threads{::opendir(tasks.c_str()), ::closedir};
    while (const dirent* thread = threads ? ::readdir(threads.get()) : nullptr) {
        if (thread->d_name[0] == '.') continue;
        const Fd file{::open((tasks + "/" + thread->d_name + "/children").c_str(), O_RDONLY | O_CLOEXEC)};
        std::string text;
        char bytes[4096];
        for (ssize_t size; file && (size = ::read(file.get(), bytes, sizeof bytes)) > 0;) text.append(bytes, static_cast<std::size_t>(size));
        for (const char* at = text.c_str(); *at != '\0';) {
            char* end = nullptr;
            children.push_back(static_cast<pid_t>(std::strtol(at, &end, 10)));
            at = *end == ' ' ? end + 1 : end;
        }
    }
    return children;
}

/// Among the descendants of a child, the first process of the pid namespace that lies that deep below ours, or of the next one above it
/// when there is none: a pidfd, which can be read when the kernel has ended and reaped all others in there, also those that hung in a
/// system call. Whoever is nearest to the child is taken: what the sandboxed command makes is farther away.
[[nodiscard]] inline Fd first_in_namespace([[maybe_unused]] pid_t child, [[maybe_unused]] std::size_t depth) {
    Fd found;
#if defined(__linux__)
    std::size_t found_at = 0;
    const auto depth_of_first = [](pid_t pid) -> std::size_t {
        const Fd file{::open(("/proc/" + std::to_string(pid) + "/status").c_str(), O_RDONLY | O_CLOEXEC)};
        char bytes[4096];
        const auto size = ::read(file.get(), bytes, sizeof bytes);
        const std::string_view status{bytes, size > 0 ? static_cast<std::size_t>(size) : 0};
        const auto at = status.find("\nNSpid:");  // its number in each namespace, from the one that this /proc shows
        if (at == status.npos) return 0;
        const auto numbers = status.substr(at + 7, status.find('\n', at + 1) - at - 7);
        return numbers.ends_with("\t1") ? static_cast<std::size_t>(std::count(numbers.begin(), numbers.end(), '\t')) - 1 : 0;
    };
    for (std::vector<pid_t> generation{child}; !generation.empty() && found_at < depth;) {
        std::vector<pid_t> next;
        for (const pid_t parent : generation) {
            for (const pid_t pid : children_of(parent)) {
                next.push_back(pid);
                Fd process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
                const auto at = process ? depth_of_first(pid) : 0;
                if (at <= found_at || at > depth || has_ended(process)) continue;
                found = std::move(process);
                found_at = at;
            }
        }
        generation = std::move(next);
    }
#endif
    return found;
}

/// Descendants, from that generation on, whose standard output is this pipe: pidfds.
[[nodiscard]] inline std::vector<Fd> holders_of([[maybe_unused]] const Fd& pipe, [[maybe_unused]] pid_t pid, [[maybe_unused]] int generation) {
    std::vector<Fd> holders;
#if defined(__linux__)
    const auto leads_to = [](const std::string& link) {
        char bytes[64];
        const auto size = ::readlink(link.c_str(), bytes, sizeof bytes);
        return std::string{bytes, size > 0 ? static_cast<std::size_t>(size) : 0};
    };
    const auto wanted = leads_to("/proc/self/fd/" + std::to_string(pipe.get()));
    for (const pid_t child : children_of(pid)) {
        const auto output = "/proc/" + std::to_string(child) + "/fd/1";
        if (generation <= 1 && !wanted.empty() && leads_to(output) == wanted) {
            Fd holder{static_cast<int>(::syscall(SYS_pidfd_open, child, 0))};
            if (holder && leads_to(output) == wanted) holders.push_back(std::move(holder));  // and not another of that number
        }
        for (auto& below : holders_of(pipe, child, generation - 1)) holders.push_back(std::move(below));
    }
#endif
    return holders;
}

}  // namespace bailey::process
