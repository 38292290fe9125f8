// Ends what the kill of a group has missed: processes in sessions of their own, told by a text in their command line.
#pragma once

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <bailey/process/fd.hpp>

namespace bailey::process {

/// By its pidfd, so that the signal cannot reach another of its number.
inline void kill_held([[maybe_unused]] const Fd& process) {
#if defined(__linux__)
    if (process) ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
#endif
}

/// A host that is the first process of its container, or a subreaper, inherits what outlives its parent, also the dead.
[[nodiscard]] inline bool inherits_orphans() {
#if defined(__linux__)
    int is_subreaper = 0;
    return ::getpid() == 1 || (::prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper) == 0 && is_subreaper != 0);
#else
    return false;
#endif
}
inline void reap_held([[maybe_unused]] const Fd& process) {
#if defined(__linux__)
    siginfo_t info{};
    (void)::waitid(static_cast<idtype_t>(3), static_cast<id_t>(process.get()), &info, WEXITED | WNOHANG);  // P_PIDFD; glibc names it since 2.36
#endif
}
/// Reaps what has ended; true when this process has no child in that group any more.
[[nodiscard]] inline bool reap_group(pid_t group) {
    for (;;) {
        siginfo_t info{};
        if (::waitid(P_PGID, static_cast<id_t>(group), &info, WEXITED | WNOHANG) != 0) return errno != EINTR;
        if (info.si_pid == 0) return false;
    }
}

/// All whose command line holds the mark: pidfds. Linux only.
[[nodiscard]] inline std::vector<Fd> find_marked([[maybe_unused]] std::string_view mark) {
    std::vector<Fd> found;
#if defined(__linux__)
    const std::unique_ptr<DIR, int (*)(DIR*)> processes{::opendir("/proc"), ::closedir};
    while (const dirent* entry = processes ? ::readdir(processes.get()) : nullptr) {
        const long pid = ::strtol(entry->d_name, nullptr, 10);
        if (pid <= 0 || pid == ::getpid()) continue;
        Fd process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
        const Fd words{::open(("/proc/" + std::string{entry->d_name} + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC)};
        if (!process || !words) continue;
        std::string line;
        char bytes[16 * 1024];
        for (ssize_t size; (size = ::read(words.get(), bytes, sizeof bytes)) > 0;) line.append(bytes, static_cast<std::size_t>(size));
        if (line.find(mark) != std::string::npos) found.push_back(std::move(process));
    }
#endif
    return found;
}

/// bubblewrap asks the kernel to kill it when its parent dies, but a parent that dies before it has asked is not noticed: such a
/// sandbox lives on (seen once in a few hundred stops during start-up). Its first process still has bubblewrap's command line.
/// Elsewhere than on Linux there are no namespaces whose first process takes all others along. Returns whom it killed.
inline std::vector<Fd> kill_marked(std::string_view mark) {
    auto found = find_marked(mark);
    for (const auto& process : found) kill_held(process);
    return found;
}

}  // namespace bailey::process
