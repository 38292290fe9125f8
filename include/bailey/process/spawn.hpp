// Starts a program as the leader of a session of its own, with exactly the descriptors it is given and nothing else of the host.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/keyctl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#else
#include <spawn.h>
#include <sys/event.h>
#endif

#include <bailey/base/error.hpp>
#include <bailey/base/text.hpp>
#include <bailey/process/fd.hpp>

namespace bailey::process {

/// A name for an open file that has none (O_TMPFILE). The child gives it, before it becomes the program: from then on somebody is there
/// to take it away, however the host dies. Linux only; a name that is taken stays what it is.
struct NewName {
    int file = -1;
    int directory = -1;
    std::string name;
};

struct SpawnPlan {
    std::vector<std::string> argv;         ///< argv[0] is the absolute path of the program
    std::vector<std::string> environment;  ///< NAME=value, all there is
    std::vector<int> fds;                  ///< what becomes 0, 1, 2, 3 …; all others are closed
    int directory = -1;                    ///< a descriptor of the working directory
    std::vector<NewName> names{};
    bool dies_with_thread = false;         ///< killed when the thread that starts it ends. Linux only
};

struct Spawned {
    pid_t pid = -1;  ///< also the process group and the session
    Fd exit_watch;   ///< readable when the program has ended (pidfd, or a kqueue); empty on kernels before Linux 5.2
};

namespace detail {

inline std::vector<char*> c_strings(const std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    pointers.reserve(strings.size() + 1);
    for (const auto& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

#if defined(__linux__)

/// What the child reads and, on failure, writes. It shares the host's memory until exec, so it only reads and makes raw
/// system calls: no allocation, no locks, nothing that a sanitizer intercepts.
struct ChildSetup {
    char* const* argv;
    char* const* environment;
    const int* fds;
    int fd_count;
    int directory;
    const NewName* names;
    const std::string* named_files;
    std::size_t name_count;
    bool dies_with_thread;
    pid_t host;
    const char* failed_call = nullptr;
    int error_number = 0;
};

// A thread sanitizer takes every clone() for a fork, and ends a program whose child shares its memory. __clone is the same call.
#if defined(__SANITIZE_THREAD__)
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);
inline constexpr auto clone_call = &__clone;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);
inline constexpr auto clone_call = &__clone;
#else
inline constexpr auto clone_call = &::clone;
#endif
#else
inline constexpr auto clone_call = &::clone;
#endif

inline constexpr int most_fds = 64;

__attribute__((no_sanitize("address", "thread", "undefined"))) inline int child_failed(ChildSetup& setup, const char* call) {
    setup.failed_call = call;
    setup.error_number = errno;
    ::syscall(SYS_exit, 127);
    return 127;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) inline void close_from(int first) {
    if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
    // Before Linux 5.9: what /proc lists. Closing while reading may skip entries, so read again until none is left.
    struct Entry {
        unsigned long inode;
        long offset;
        unsigned short length;
        unsigned char type;
        char name[1];
    };
    const long directory = ::syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory < 0) {
        for (int fd = first; fd < 65536; ++fd) ::syscall(SYS_close, fd);
        return;
    }
    alignas(Entry) char buffer[4096];
    for (bool closed_any = true; closed_any;) {
        closed_any = false;
        ::syscall(SYS_lseek, directory, 0L, SEEK_SET);
        for (long size; (size = ::syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0;) {
            for (long at = 0; at < size;) {
                const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
                at += entry->length;
                long fd = 0;
                const char* digit = entry->name;
                for (; *digit >= '0' && *digit <= '9'; ++digit) fd = fd * 10 + (*digit - '0');
                if (*digit != '\0' || digit == entry->name || fd < first || fd == directory) continue;
                ::syscall(SYS_close, fd);
                closed_any = true;
            }
        }
    }
    ::syscall(SYS_close, directory);
}

__attribute__((no_sanitize("address", "thread", "undefined"))) inline int child_main(void* argument) {
    auto& setup = *static_cast<ChildSetup*>(argument);

    // exec keeps ignored signals and the mask: a host that ignores SIGPIPE or SIGCHLD must not pass that on.
    struct KernelAction {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)();
        unsigned long mask[2];
    } const default_action{};
    constexpr std::size_t kernel_mask_size = 8;
    for (int signal = 1; signal <= 64; ++signal) ::syscall(SYS_rt_sigaction, signal, &default_action, nullptr, kernel_mask_size);

    if (::syscall(SYS_setsid) < 0) return child_failed(setup, "setsid");

    // The session keyring is inherited across exec and into srt's sandbox: leave the host's behind. Kernels without keyrings, and
    // containers whose filter refuses keyctl (to the command as well), have nothing to leave.
    if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr, 0, 0, 0) < 0 && errno != ENOSYS && errno != EPERM)
        return child_failed(setup, "keyctl(KEYCTL_JOIN_SESSION_KEYRING)");

    // System V memory and queues of the host; srt leaves that namespace alone. Only root may, others are held by the files' owners.
    ::syscall(SYS_unshare, CLONE_NEWIPC);

    for (std::size_t i = 0; i < setup.name_count; ++i)
        ::syscall(SYS_linkat, AT_FDCWD, setup.named_files[i].c_str(), setup.names[i].directory, setup.names[i].name.c_str(), AT_SYMLINK_FOLLOW);

    if (setup.dies_with_thread) {
        ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (::syscall(SYS_getppid) != setup.host) ::syscall(SYS_exit, 127);  // it has ended before it was asked for
    }

    if (::syscall(SYS_fchdir, setup.directory) < 0) return child_failed(setup, "fchdir");

    int parked[most_fds];  // above all targets, until they are put in order
    for (int i = 0; i < setup.fd_count; ++i) {
        parked[i] = static_cast<int>(::syscall(SYS_fcntl, setup.fds[i], F_DUPFD_CLOEXEC, setup.fd_count));
        if (parked[i] < 0) return child_failed(setup, "fcntl(F_DUPFD_CLOEXEC)");
    }
    for (int i = 0; i < setup.fd_count; ++i) {
        if (::syscall(SYS_dup3, parked[i], i, 0) < 0) return child_failed(setup, "dup3");
    }
    close_from(setup.fd_count);

    const unsigned long no_signals = 0;
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, nullptr, kernel_mask_size);
    ::syscall(SYS_execve, setup.argv[0], setup.argv, setup.environment);
    return child_failed(setup, "execve");
}

#endif

}  // namespace detail

#if defined(__linux__)

/// Costs the same however much memory the host has: the child borrows it (CLONE_VM | CLONE_VFORK) until exec.
[[nodiscard]] inline Result<Spawned> spawn(const SpawnPlan& plan) {
    const auto argv = detail::c_strings(plan.argv);
    const auto environment = detail::c_strings(plan.environment);
    if (plan.fds.size() > detail::most_fds) return system_error("spawn", EMFILE);
    std::vector<std::string> named_files;
    for (const auto& name : plan.names) named_files.push_back(text::concat({"/proc/self/fd/", std::to_string(name.file)}));
    detail::ChildSetup setup{argv.data(), environment.data(), plan.fds.data(), static_cast<int>(plan.fds.size()), plan.directory,
                             plan.names.data(), named_files.data(), named_files.size(), plan.dies_with_thread, ::getpid()};

    constexpr std::size_t stack_size = 64 * 1024;
    void* const stack = ::mmap(nullptr, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return system_error("mmap");

    // No handler of the host may run in the child, which shares its memory.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    int pidfd = -1;
    const int pid = detail::clone_call(detail::child_main, static_cast<char*>(stack) + stack_size,
                                       CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &setup, &pidfd);
    const int clone_errno = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::munmap(stack, stack_size);

    if (pid < 0) return system_error("clone", clone_errno);
    Spawned spawned{pid, Fd{pidfd}};
    if (setup.failed_call != nullptr) {
        while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
        return system_error(text::concat({"starting ", plan.argv[0], ": ", setup.failed_call}), setup.error_number);
    }
    return spawned;
}

#else

/// posix_spawn closes everything that is not listed (POSIX_SPAWN_CLOEXEC_DEFAULT) and does not copy the host's memory.
[[nodiscard]] inline Result<Spawned> spawn(const SpawnPlan& plan) {
    const auto argv = detail::c_strings(plan.argv);
    const auto environment = detail::c_strings(plan.environment);
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&actions);
    sigset_t all, none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                POSIX_SPAWN_CLOEXEC_DEFAULT);
    std::vector<Fd> parked;  // above every target, so that no dup2 overwrites a source
    for (int fd : plan.fds) parked.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 64));
    for (std::size_t i = 0; i < parked.size(); ++i)
        ::posix_spawn_file_actions_adddup2(&actions, parked[i].get(), static_cast<int>(i));
    ::posix_spawn_file_actions_addfchdir_np(&actions, plan.directory);
    pid_t pid = -1;
    const int failed = ::posix_spawn(&pid, plan.argv[0].c_str(), &actions, &attributes, argv.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) return system_error(text::concat({"starting ", plan.argv[0], ": posix_spawn"}), failed);

    Spawned spawned{pid, Fd{::kqueue()}};
    struct kevent watch;
    EV_SET(&watch, static_cast<uintptr_t>(pid), EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, nullptr);
    ::kevent(spawned.exit_watch.get(), &watch, 1, nullptr, 0, nullptr);
    return spawned;
}

#endif

}  // namespace bailey::process
