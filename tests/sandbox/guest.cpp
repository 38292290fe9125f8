// A good guest in any host: one that ignores SIGCHLD, reaps everybody's children, has no spare descriptors to hide, blocks signals, forks.
#include "processes.hpp"
#include "support.hpp"

#include <atomic>
#include <csignal>
#include <thread>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>

using namespace support;

namespace {
bool is_forked_child = false;
}
/// The leak sanitizer asks: what a forked child must not delete, because it is its parent's, is no leak.
extern "C" int __lsan_is_turned_off() { return is_forked_child ? 1 : 0; }

namespace {

/// Changes that the host makes to itself stay in a process of its own; `body` returns what is wrong, or nothing.
template <class Body>
std::string in_a_host(Body&& body) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        std::string wrong;
        try {
            wrong = body();
        } catch (const std::exception& error) {
            wrong = error.what();
        }
        (void)!::write(ends[1], wrong.data(), wrong.size());
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string wrong;
    char bytes[512];
    for (ssize_t size; (size = ::read(ends[0], bytes, sizeof bytes)) > 0;) wrong.append(bytes, static_cast<std::size_t>(size));
    ::close(ends[0]);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    return wrong;
}

std::string run_as_it_should(const std::string& root) {
    const support::Subject<> workspace{root, tools()};
    const auto result = workspace.run("ls /proc/self/fd | wc -l; sleep 0.2 & wait; kill -TERM $$");
    // ls has 0, 1, 2 and the directory it reads
    if (result.outcome != bailey::Outcome::exited || result.exit_code != 143 || result.out != "4\n") return shown(result);
    return {};
}

}  // namespace

TEST_CASE("a host that ignores SIGCHLD gets the right outcome") {
    TempDir root;
    CHECK(in_a_host([&] {
        ::signal(SIGCHLD, SIG_IGN);
        return run_as_it_should(root.path());
    }) == "");
}

TEST_CASE("a host whose own thread reaps every child gets the right outcome") {
    TempDir root;
    CHECK(in_a_host([&] {
        std::atomic<bool> done{false};
        std::thread reaper{[&] {
            while (!done) {
                if (::waitpid(-1, nullptr, WNOHANG) <= 0) ::usleep(1000);
            }
        }};
        auto wrong = run_as_it_should(root.path());
        done = true;
        reaper.join();
        return wrong;
    }) == "");
}

TEST_CASE("a host with a thousand inheritable descriptors and a limit of a million gives none of them away") {
    TempDir root;
    CHECK(in_a_host([&] {
        rlimit many{1 << 20, 1 << 20};
        ::setrlimit(RLIMIT_NOFILE, &many);
        for (int i = 0; i < 1000; ++i) (void)::open("/dev/null", O_RDONLY);
        (void)::dup2(0, 900'000);
        const auto began = std::chrono::steady_clock::now();
        auto wrong = run_as_it_should(root.path());
        if (std::chrono::steady_clock::now() - began > 20s) wrong += "took too long";
        return wrong;
    }) == "");
}

TEST_CASE("a host that blocks and ignores every signal gets the right outcome, and keeps its mask and handlers") {
    TempDir root;
    CHECK(in_a_host([&]() -> std::string {
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1}) ::sigaction(signal, &ignore, nullptr);
        void (*handlers[65])(int){};
        const auto handler = [](int signal) {
            struct sigaction now {};
            return ::sigaction(signal, nullptr, &now) == 0 ? now.sa_handler : SIG_DFL;
        };
        for (int signal = 1; signal < 65; ++signal) handlers[signal] = handler(signal);
        sigset_t all, after;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
        ::pthread_sigmask(SIG_SETMASK, nullptr, &all);
        if (auto wrong = run_as_it_should(root.path()); !wrong.empty()) return wrong;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
        for (int signal = 1; signal < 65; ++signal) {
            if (::sigismember(&all, signal) != ::sigismember(&after, signal)) return "the signal mask has changed";
            if (handler(signal) != handlers[signal]) return "a handler was installed";
        }
        return {};
    }) == "");
}

TEST_CASE("a host whose threads allocate and fork all the time") {
    TempDir root;
    CHECK(in_a_host([&] {
        std::atomic<bool> done{false};
        std::vector<std::thread> threads;
        for (int i = 0; i < 16; ++i) {
            threads.emplace_back([&done, i] {
                while (!done) {
                    std::string memory(static_cast<std::size_t>(1000 * (i + 1)), 'x');
                    if (i % 8 == 0) {
                        const pid_t child = ::fork();
                        if (child == 0) ::_exit(memory.size() == 0 ? 1 : 0);
                        ::waitpid(child, nullptr, 0);
                    }
                    ::usleep(500);
                }
            });
        }
        std::string wrong;
        for (int i = 0; i < 3 && wrong.empty(); ++i) wrong = run_as_it_should(root.path());
        done = true;
        for (auto& thread : threads) thread.join();
        return wrong;
    }) == "");
}

TEST_CASE("a child that the host forks and that exits takes nothing of its parent's along") {
    TempDir root;
    CHECK(in_a_host([&]() -> std::string {
              static support::Subject<> workspace{root.path(), tools()};
              static auto running = workspace.spawn("sleep 1; echo done");
              while (!running.wait_for(20ms) && descendants().size() < 4) {
              }
              for (int children = 0; children < 2; ++children) {
                  const pid_t child = ::fork();
                  if (child == 0) {
                      is_forked_child = true;
                      if (children == 0) std::exit(0);  // with all that static objects do
                      ::_exit(workspace.run("echo child", {.timeout = 60s}).out == "child\n" ? 0 : 1);
                  }
                  int status = 0;
                  ::waitpid(child, &status, 0);
                  if (status != 0) return "the child ended with " + std::to_string(status);
              }
              const auto result = running.wait();
              if (result.exit_code != 0 || result.out != "done\n") return shown(result);
              const auto next = workspace.run("echo next", {.timeout = 60s});
              return next.out == "next\n" ? "" : shown(next);
          }) == "");
}

TEST_CASE("a host that inherits orphans, as the first process of a container does, is left with none") {
    TempDir root;
    CHECK(in_a_host([&]() -> std::string {
              ::prctl(PR_SET_CHILD_SUBREAPER, 1);
              {
                  const support::Subject<> workspace{root.path(), tools()};
                  for (const char* command : {"true", "true", "sleep 30 & sleep 30"}) (void)workspace.run(command, {.timeout = 2s});
                  for (const int moment : {60, 150, 240, 330, 420, 510}) (void)workspace.run("sleep 30", {.timeout = std::chrono::milliseconds{moment}});  // also while it starts
              }
              std::string left;
              for (const auto& process : host_processes())
                  if (process.parent == ::getpid()) left += std::to_string(process.pid) + process.state + " ";
              return left;
          }) == "");
}

TEST_CASE("T19 the host's standard input is not the command's, even without any") {
    TempDir root;
    CHECK(in_a_host([&] {
        int ends[2];
        (void)!::pipe(ends);
        (void)!::write(ends[1], "secret\n", 7);
        ::dup2(ends[0], 0);
        const support::Subject<> workspace{root.path(), tools()};
        const auto result = workspace.run("cat; echo end");
        char bytes[16]{};
        const auto left = ::read(0, bytes, sizeof bytes);
        if (result.out != "end\n" || std::string_view{bytes, static_cast<std::size_t>(left)} != "secret\n") return shown(result);
        for (const int fd : {0, 1, 2}) ::close(fd);
        const auto bare = workspace.run("cat; echo end; echo err >&2");
        return bare.out == "end\n" && bare.err == "err\n" ? std::string{} : shown(bare);
    }) == "");
}

TEST_CASE("a host that waits costs close to nothing") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    auto running = workspace.spawn("echo up; sleep 60");
    CHECK_FALSE(running.wait_for(2s));
    rusage before{}, after{};
    ::getrusage(RUSAGE_THREAD, &before);
    const bool ended = running.wait_for(3s);
    ::getrusage(RUSAGE_THREAD, &after);
    if (ended) {
        const auto result = running.try_wait();
        const std::string how = result ? shown(*result) : result.error().what();
        FAIL(how);
    }
    timeval user{}, system{};
    timersub(&after.ru_utime, &before.ru_utime, &user);
    timersub(&after.ru_stime, &before.ru_stime, &system);
    CHECK(user.tv_sec + system.tv_sec == 0);
    CHECK(user.tv_usec + system.tv_usec < 30'000);
    CHECK(after.ru_nvcsw - before.ru_nvcsw < 50);  // asleep, not polling
}

TEST_CASE("O06 the merged stream keeps the order of stdout and stderr") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    const auto result = workspace.run("for i in 1 2 3; do echo out$i; echo err$i >&2; done", {.merge_stderr = true});
    CHECK(result.out == "out1\nerr1\nout2\nerr2\nout3\nerr3\n");
    CHECK(result.err.empty());
}

TEST_CASE("standard input: a pipe that stays open, bytes that arrive whole, bytes that nobody reads") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    auto running = workspace.spawn("read a; echo got $a; cat", {.input = bailey::Input::pipe()});
    running.write("first\nsec");
    running.wait_for(100ms);
    running.write("ond\n");
    running.close_input();
    CHECK(running.wait().out == "got first\nsecond\n");

    const std::string large(10 << 20, 'x');
    CHECK(workspace.run("wc -c", {.input = large}).out == std::to_string(large.size()) + "\n");
    CHECK(workspace.run("echo done", {.input = large}).out == "done\n");
}
