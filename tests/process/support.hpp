// What the process tests share: the helper child, a run of it from start to end, and a host in a process of its own.
#pragma once

#include <bailey/process/capture.hpp>
#include <bailey/process/process.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace process_support {

using namespace std::chrono_literals;
namespace process = bailey::process;
using bailey::Outcome;
using process::Clock;

inline std::string child_path() {
    const char* path = std::getenv("BAILEY_TEST_CHILD");
    if (path == nullptr) {
        std::fprintf(stderr, "BAILEY_TEST_CHILD is not set: it is the program made of tests/process/child.cpp\n");
        std::abort();
    }
    return path;
}

inline process::ProcessPlan plan(std::vector<std::string> arguments) {
    static const process::Fd top{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    process::ProcessPlan made;
    made.spawn.argv = std::move(arguments);
    made.spawn.argv.insert(made.spawn.argv.begin(), child_path());
    made.spawn.directory = top.get();
    return made;
}

/// A process with all that it needs to live. What goes wrong is an exception, so that a forked host can use it too.
class Live {
public:
    explicit Live(process::ProcessPlan what, std::size_t limit = 1 << 20, bailey::Keep keep = bailey::Keep::head_and_tail)
        : readiness{process::Readiness::open().value()}, out{limit, keep}, err{limit, keep} {
        stop.attach(readiness).value();
        started = process::Process::start(std::move(what), readiness, stop).value();
    }

    void step() {
        started->step([this](process::Stream stream, std::string_view bytes) { (stream == process::Stream::out ? out : err).append(bytes); });
    }
    /// False: it has not ended by then.
    bool finish(std::chrono::milliseconds at_most = 60s) {
        const auto until = Clock::now() + at_most;
        while (!started->done()) {
            step();
            if (started->done()) break;
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
            if (left.count() <= 0) return false;
            started->wait(left);
        }
        return true;
    }
    /// Until the child has said so much.
    void read_until(std::uint64_t bytes) {
        while (!started->done() && out.total() < bytes) {
            step();
            if (!started->done() && out.total() < bytes) started->wait(std::nullopt);
        }
    }

    process::Readiness readiness;
    process::StopSignal stop;
    process::Capture out, err;
    std::unique_ptr<process::Process> started;
};

struct Finished {
    process::Ending ending;
    std::string out, err;
    std::uint64_t out_bytes = 0, err_bytes = 0;
    std::chrono::milliseconds elapsed{};
};

inline Finished run(process::ProcessPlan what, std::size_t limit = 1 << 20) {
    const auto began = Clock::now();
    Live live{std::move(what), limit};
    if (!live.finish()) throw std::runtime_error{"the process has not ended within a minute"};
    Finished finished{live.started->ending(), {}, {}, live.out.total(), live.err.total(), {}};
    finished.out = live.out.take().bytes;
    finished.err = live.err.take().bytes;
    finished.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    return finished;
}

/// True when no such process is left; a zombie still is one.
inline bool is_gone(pid_t pid, std::chrono::milliseconds within = 10s) {
    for (const auto until = Clock::now() + within; Clock::now() < until; ::usleep(5000)) {
        if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
    }
    return false;
}

inline std::size_t open_fds() {
    DIR* directory = ::opendir("/proc/self/fd");
    std::size_t count = 0;
    while (directory != nullptr && ::readdir(directory) != nullptr) ++count;
    if (directory != nullptr) ::closedir(directory);
    return count;
}

inline bool has_children() {
    siginfo_t info{};
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// A number of /proc/self/status, such as "VmHWM".
inline long status_number(std::string_view name) {
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name)) return std::strtol(line.c_str() + name.size() + 1, nullptr, 10);
    }
    return -1;
}

/// The sanitizers keep what was freed: what they are asked to bound is bounded by more.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr long memory_slack_kib = 64 * 1024;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr long memory_slack_kib = 64 * 1024;
#else
inline constexpr long memory_slack_kib = 0;
#endif
#else
inline constexpr long memory_slack_kib = 0;
#endif

/// Runs `body` in a process of its own, whose signals and limits are its own to change; it returns an exit status (0 = as it
/// should be). No doctest macro inside. A body that hangs is ended after a minute: 128 + SIGALRM.
template <class Body>
int as_host(Body&& body) {
    const pid_t host = ::fork();
    if (host == 0) {
        ::alarm(60);
        int status = 98;
        try {
            status = body();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "as_host: %s\n", error.what());
        }
        ::_exit(status);
    }
    int status = 0;
    while (::waitpid(host, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The strings that a child printed with a NUL after each.
inline std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    for (std::size_t end; (end = text.find('\0')) != text.npos; text.remove_prefix(end + 1)) parts.emplace_back(text.substr(0, end));
    return parts;
}

}  // namespace process_support
