// A child that has been started and that nobody drives yet: its streams, and the socket by which it learns that the host has died.
#pragma once

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bailey/base/error.hpp>
#include <bailey/process/descendants.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/process/spawn.hpp>
#include <bailey/process/sweep.hpp>

namespace bailey::process {

struct ChildPlan {
    SpawnPlan spawn;          ///< fds: what becomes 3, 4 …; 0, 1 and 2 are made here
    int lifeline = 0;         ///< the child's number for a socket that ends when the host dies, and carries notes back; 0: none
    bool merge = false;       ///< stderr goes where stdout goes
    bool input_pipe = false;  ///< standard input is a pipe, else /dev/null
};

struct Child {
    pid_t pid = -1;
    Fd exit_watch, out, err, input, lifeline;
    Fd ended{};                 ///< on which it may say "X<code> <word>\n": that it has ended so, and need not live on
    std::string word{};         ///< that only it knows
    Fd sandbox{};               ///< the first process of its sandbox (a pidfd), where it is known
    std::vector<Fd> holders{};  ///< processes in its sandbox that hold its output (pidfds), where they are known
};

/// Both ends are close-on-exec from birth.
[[nodiscard]] inline Result<Pipe> make_socket_pair() {
    int ends[2];
#if defined(__linux__)
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair");
#else
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return system_error("socketpair");
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
    return Pipe{Fd{ends[0]}, Fd{ends[1]}};
}

[[nodiscard]] inline Result<Child> start_child(ChildPlan plan) {
    auto out = make_pipe();
    if (!out) return out.error();
    Pipe err, input, lifeline;
    if (!plan.merge) {
        auto pipe = make_pipe();
        if (!pipe) return pipe.error();
        err = std::move(*pipe);
    }
    if (plan.input_pipe) {
        auto pipe = make_pipe();
        if (!pipe) return pipe.error();
        input = std::move(*pipe);
    } else {
        input.read.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        if (!input.read) return system_error("open /dev/null");
    }
    if (plan.lifeline != 0) {
        auto pair = make_socket_pair();
        if (!pair) return pair.error();
        lifeline = std::move(*pair);
    }

    std::vector<int> fds{input.read.get(), out->write.get(), plan.merge ? out->write.get() : err.write.get()};
    for (const int fd : plan.spawn.fds) {
        if (lifeline.write && static_cast<int>(fds.size()) == plan.lifeline) fds.push_back(lifeline.write.get());
        fds.push_back(fd);
    }
    if (lifeline.write && static_cast<int>(fds.size()) <= plan.lifeline) fds.push_back(lifeline.write.get());
    plan.spawn.fds = std::move(fds);

    auto spawned = spawn(plan.spawn);
    if (!spawned) return spawned.error();
    for (const Fd* ours : {&out->read, &err.read, &input.write, &lifeline.read}) {
        if (*ours) set_nonblocking(*ours);
    }
    return Child{spawned->pid, std::move(spawned->exit_watch), std::move(out->read), std::move(err.read), std::move(input.write), std::move(lifeline.read)};
}

/// Whether it has ended, by itself or by somebody's hand.
[[nodiscard]] inline bool has_ended(const Child& child) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid != 0;
}

/// Ends a child that nobody drives, with its group and whatever has that mark in its command line, and reaps it.
inline void end_child(Child child, std::string_view mark) {
    if (child.pid <= 0) return;
    // WNOWAIT keeps the id ours until the group has been swept; ECHILD: somebody else reaps here, and the id may be anybody's.
    siginfo_t info{};
    const bool ours = ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT | WNOHANG) == 0;
    const bool inherits = ours && inherits_orphans();
    auto marked = inherits && !mark.empty() ? find_marked(mark) : std::vector<Fd>{};  // the dead have no words
    if (ours) ::kill(-child.pid, SIGKILL);
    child.lifeline.reset();  // the child ends by itself when it reads that
    while (::waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (!mark.empty())
        for (auto& process : kill_marked(mark)) marked.push_back(std::move(process));
    for (int tries = 0; inherits && tries < 200; ++tries) {
        if (reap_group(child.pid) && std::all_of(marked.begin(), marked.end(), [](const Fd& process) { return has_ended(process); })) break;
        ::usleep(1000);
    }
    for (const auto& process : marked) reap_held(process);
}

}  // namespace bailey::process
