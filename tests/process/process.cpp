// The life of a child: its clock, its streams, its end, and what its host must not notice.
#include "support.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

#include <poll.h>

using namespace process_support;

namespace {

process::ProcessPlan limited(std::vector<std::string> arguments, std::chrono::milliseconds limit, std::chrono::milliseconds grace = 300ms) {
    auto made = plan(std::move(arguments));
    made.deadline = Clock::now() + limit;
    made.grace = grace;
    return made;
}

process::ProcessPlan with_input(std::vector<std::string> arguments, bailey::Input input) {
    auto made = plan(std::move(arguments));
    made.input = std::move(input);
    return made;
}

std::string ten_mebibytes() {
    std::string bytes(10 << 20, '\0');
    unsigned state = 1;
    for (char& byte : bytes) byte = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
    return bytes;
}

std::string summary(std::string_view bytes) {
    std::uint64_t sum = 1469598103934665603ULL;
    for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
    return std::to_string(bytes.size()) + " " + std::to_string(sum) + "\n";
}

}  // namespace

TEST_CASE("process: a child that ends by itself, with both streams apart") {
    const auto finished = run(plan({"say-and-sleep", "0"}));
    CHECK(finished.ending.outcome == Outcome::exited);
    CHECK(finished.ending.status_known);
    CHECK(finished.ending.exit_code == 0);
    CHECK(finished.out == "early\n");
    CHECK(finished.err == "warned\n");
}

TEST_CASE("process: T01 a child killed by a signal is 128 and the signal") {
    for (const int signal : {SIGKILL, SIGTERM, SIGSEGV, SIGABRT, SIGPIPE, SIGHUP, SIGUSR1}) {
        const auto ending = run(plan({"kill", std::to_string(signal)})).ending;
        CAPTURE(signal);
        CHECK(ending.outcome == Outcome::exited);
        CHECK(ending.status_known);
        CHECK(ending.exit_code == 128 + signal);
    }
}

TEST_CASE("process: T04 the deadline ends it, and the output so far is there") {
    const auto finished = run(limited({"say-and-sleep", "60000"}, 1s));
    CHECK(finished.ending.outcome == Outcome::timed_out);
    CHECK(finished.out == "early\n");
    CHECK(finished.err == "warned\n");
    CHECK(finished.elapsed >= 1s);
    CHECK(finished.elapsed < 20s);
}

TEST_CASE("process: a deadline that has passed already still ends it") {
    const auto finished = run(limited({"sleep", "60000"}, -1s));
    CHECK(finished.ending.outcome == Outcome::timed_out);
    CHECK(finished.elapsed < 20s);
}

TEST_CASE("process: SIGTERM first, and a child that heeds it ends at once") {
    Live live{plan({"exit-on-term", "5", "60000"})};
    live.read_until(6);
    const auto stopped = Clock::now();
    live.stop.request();
    REQUIRE(live.finish());
    CHECK(Clock::now() - stopped < 20s);
    CHECK(live.started->ending().outcome == Outcome::cancelled);
    CHECK(live.started->ending().exit_code == 5);
    CHECK(live.out.take().bytes == "ready\ngot TERM\n");
}

TEST_CASE("process: SIGKILL when the grace is over, not before") {
    auto stubborn = plan({"ignore-term", "60000"});
    stubborn.grace = 400ms;
    Live live{std::move(stubborn)};
    live.read_until(6);
    const auto stopped = Clock::now();
    live.stop.request();
    REQUIRE(live.finish());
    const auto took = Clock::now() - stopped;
    CHECK(took >= 400ms);
    CHECK(took < 20s);
    CHECK(live.started->ending().outcome == Outcome::cancelled);
    CHECK(live.started->ending().exit_code == 128 + SIGKILL);
}

TEST_CASE("process: a stopped child ends too") {
    const auto finished = run(limited({"stop-itself"}, 200ms));
    CHECK(finished.ending.outcome == Outcome::timed_out);
    CHECK(finished.elapsed < 20s);
}

TEST_CASE("process: T13 stop from another thread, distinct from a timeout; after the end it is nothing") {
    Live live{limited({"sleep", "60000"}, 50s)};
    const auto began = Clock::now();
    std::thread other{[&live] {
        std::this_thread::sleep_for(200ms);
        live.stop.request();
    }};
    const bool ended = live.finish();
    other.join();
    REQUIRE(ended);
    CHECK(Clock::now() - began >= 200ms);
    CHECK(Clock::now() - began < 20s);
    CHECK(live.started->ending().outcome == Outcome::cancelled);

    Live over{plan({"exit", "3"})};
    REQUIRE(over.finish());
    over.stop.request();
    over.step();
    CHECK(over.started->ending().outcome == Outcome::exited);
    CHECK(over.started->ending().exit_code == 3);
}

TEST_CASE("process: an end that came before the stop is the outcome") {
    Live live{limited({"exit", "3"}, 1s)};
    ::usleep(1'500'000);  // the child is long over, the deadline has passed, and nobody has looked yet
    live.stop.request();
    REQUIRE(live.finish());
    CHECK(live.started->ending().outcome == Outcome::exited);
    CHECK(live.started->ending().exit_code == 3);
}

TEST_CASE("process: standard input that is not read neither blocks nor raises SIGPIPE") {
    CHECK(as_host([] {
        if (::signal(SIGPIPE, SIG_DFL) == SIG_ERR) return 1;  // raised, it would be the end of this host
        const auto finished = run(with_input({"never-read", "300"}, ten_mebibytes()));
        if (finished.ending.outcome != Outcome::exited || finished.ending.exit_code != 0 || finished.elapsed > 20s) return 2;
        const auto closed = run(with_input({"close-input", "300"}, ten_mebibytes()));
        if (closed.ending.exit_code != 0 || closed.out != "closed\n") return 3;
        sigset_t pending;
        ::sigpending(&pending);
        return ::sigismember(&pending, SIGPIPE) == 0 ? 0 : 4;
    }) == 0);
}

TEST_CASE("process: a SIGPIPE that was pending before is still pending after") {
    CHECK(as_host([] {
        sigset_t pipe, pending;
        ::sigemptyset(&pipe);
        ::sigaddset(&pipe, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
        ::raise(SIGPIPE);
        if (run(with_input({"close-input", "100"}, ten_mebibytes())).ending.exit_code != 0) return 1;
        ::sigpending(&pending);
        return ::sigismember(&pending, SIGPIPE) == 1 ? 0 : 2;
    }) == 0);
}

TEST_CASE("process: 10 MiB of standard input arrive whole, and then it ends") {
    const auto bytes = ten_mebibytes();
    CHECK(run(with_input({"read-stdin"}, bytes)).out == summary(bytes));
    CHECK(run(with_input({"read-stdin"}, std::string{})).out == summary(""));
    CHECK(run(plan({"read-stdin"})).out == summary(""));  // no input: /dev/null
}

TEST_CASE("process: both ways at once, 10 MiB in and the same 10 MiB out") {
    const auto bytes = ten_mebibytes();
    const auto finished = run(with_input({"cat"}, bytes), 32 << 20);
    CHECK(finished.ending.exit_code == 0);
    CHECK((finished.out == bytes));  // no decomposition: 10 MiB of it would be printed
}

TEST_CASE("process: an open input pipe takes bytes when they come and ends when it is closed") {
    Live live{with_input({"cat"}, bailey::Input::pipe())};
    live.started->write("one ");
    live.read_until(4);
    CHECK(live.out.total() == 4);
    CHECK_FALSE(live.started->done());
    live.started->write("two");
    live.started->close_input();
    REQUIRE(live.finish());
    live.started->write("late");  // nothing, and no harm
    live.started->close_input();
    CHECK(live.started->ending().outcome == Outcome::exited);
    CHECK(live.out.take().bytes == "one two");

    Live closed_first{with_input({"cat"}, bailey::Input::pipe())};
    closed_first.started->close_input();
    REQUIRE(closed_first.finish());
    CHECK(closed_first.out.total() == 0);
}

TEST_CASE("process: what is written after the input was closed is not sent") {
    for (const std::size_t before : {std::size_t{0}, std::size_t{300'000}}) {  // nothing queued, and more than a pipe holds
        Live live{with_input({"cat"}, bailey::Input::pipe())};
        live.started->write(std::string(before, 'x'));
        live.started->close_input();
        live.started->write("late");
        REQUIRE(live.finish());
        CHECK(live.out.total() == before);
    }
}

TEST_CASE("process: both pipes full at once") {
    const auto finished = run(plan({"flood-both", std::to_string(20 << 20)}));
    CHECK(finished.ending.exit_code == 0);
    CHECK(finished.out_bytes == 20U << 20);
    CHECK(finished.err_bytes == 20U << 20);
}

TEST_CASE("process: O01 O02 500 MB are drained in constant memory, counted exactly, and the exit code still comes") {
    std::ofstream{"/proc/self/clear_refs"} << "5";  // VmHWM starts anew
    const long before = status_number("VmHWM:");
    REQUIRE(before > 0);
    const auto finished = run(plan({"flood", "500000000", "3"}), 1 << 20);
    CHECK(finished.ending.exit_code == 3);
    CHECK(finished.out_bytes == 500'000'000);
    CHECK(finished.out.size() == 1 << 20);
    CHECK(status_number("VmHWM:") - before < 8 * 1024 + memory_slack_kib);
}

TEST_CASE("process: a flood does not keep it from the clock or the stop") {
    const auto finished = run(limited({"flood", "1000000000000"}, 300ms));
    CHECK(finished.ending.outcome == Outcome::timed_out);
    CHECK(finished.out_bytes > 1 << 20);
    CHECK(finished.elapsed < 20s);
}

TEST_CASE("process: one step never blocks and never stays long, however much there is to read") {
    Live live{plan({"flood", "1000000000000"})};
    live.read_until(1 << 20);
    for (int i = 0; i < 5; ++i) {
        live.started->wait(std::nullopt);
        // A sink slower than the flood: there is always more to read.
        int calls = 0;
        live.started->step([&calls](process::Stream, std::string_view) {
            ::usleep(5000);
            if (++calls > 500) throw std::runtime_error{"one step goes on and on"};
        });
        CHECK(calls > 0);
        CHECK(calls < 100);
    }
    Live quiet{plan({"sleep", "60000"})};
    const auto began = Clock::now();
    for (int i = 0; i < 100; ++i) quiet.step();
    CHECK(Clock::now() - began < 2s);
}

TEST_CASE("process: T10 a background child that holds the pipes ends with its parent") {
    const auto finished = run(plan({"background", "30000", "4"}));
    CHECK(finished.ending.outcome == Outcome::exited);
    CHECK(finished.ending.exit_code == 4);
    CHECK(finished.out == "done\n");
    CHECK(finished.elapsed < 15s);  // killed with the group: its end of the pipes is closed at once
}

TEST_CASE("process: T10 one in a session of its own keeps us no longer than the drain limit, silent or chatty") {
    for (const std::string mode : {"double-fork", "chatty-daemon"}) {
        const auto finished = run(plan({mode, "30000"}));
        CAPTURE(mode);
        CHECK(finished.ending.outcome == Outcome::exited);
        CHECK(finished.ending.exit_code == 0);
        CHECK(finished.elapsed < 15s);
    }
}

TEST_CASE("process: merged streams keep their order") {
    auto merged = plan({"flood-both", std::to_string(1 << 20)});
    merged.merge = true;
    const auto both = run(std::move(merged), 4 << 20);
    CHECK(both.out_bytes == 2U << 20);
    CHECK(both.err_bytes == 0);
    auto said = plan({"say-and-sleep", "0"});
    said.merge = true;
    CHECK(run(std::move(said)).out == "early\nwarned\n");
}

TEST_CASE("process: a child that closes its streams is waited for all the same, without spinning") {
    const auto cpu_before = std::clock();
    const auto finished = run(plan({"close-output", "1000", "6"}));
    CHECK(finished.ending.exit_code == 6);
    CHECK(finished.elapsed >= 1s);
    CHECK(std::clock() - cpu_before < CLOCKS_PER_SEC / 10);
}

TEST_CASE("process: what cannot be watched is looked at now and then") {
    // The kernel watches no regular file, as it watches nothing more when the user's watches are used up.
    auto readiness = process::Readiness::open();
    REQUIRE(readiness.has_value());
    readiness->wake_at(std::nullopt);
    pollfd ready{readiness->fd(), POLLIN, 0};
    CHECK(::poll(&ready, 1, 100) == 0);
    const process::Fd file{::open("/etc/passwd", O_RDONLY | O_CLOEXEC)};
    readiness->watch_readable(file);
    readiness->wake_at(std::nullopt);
    CHECK(::poll(&ready, 1, 10'000) == 1);
}

TEST_CASE("process: while the child sleeps the host sleeps") {
    Live live{plan({"sleep", "1000"})};
    int steps = 0;
    while (!live.started->done()) {
        live.step();
        ++steps;
        if (!live.started->done()) live.started->wait(std::nullopt);
    }
    CHECK(steps < 20);
}

TEST_CASE("process: the host ignores SIGCHLD, and the kernel reaps in our place") {
    CHECK(as_host([] {
        ::signal(SIGCHLD, SIG_IGN);
        for (int i = 0; i < 20; ++i) {
            const auto finished = run(plan({"exit", "7"}));
            if (finished.ending.outcome != Outcome::exited) return 1;
            if (finished.ending.status_known && finished.ending.exit_code != 7) return 2;  // an invented status
        }
        const auto background = run(plan({"background", "30000", "4"}));
        if (background.out != "done\n" || background.elapsed > 15s) return 3;
        return run(limited({"ignore-term", "60000"}, 200ms)).ending.outcome == Outcome::timed_out ? 0 : 4;
    }) == 0);
}

TEST_CASE("process: a thread of the host reaps whatever it finds") {
    CHECK(as_host([] {
        std::atomic<bool> over{false};
        std::atomic<int> stolen{0};
        std::thread thief{[&] {
            while (!over) {
                if (::waitpid(-1, nullptr, 0) > 0) ++stolen;
            }
        }};
        int unknown = 0, wrong = 0;
        for (int i = 0; i < 50 || (unknown == 0 && i < 1000); ++i) {
            const auto ending = run(plan({"exit", "7"})).ending;
            if (!ending.status_known) ++unknown;
            if (ending.outcome != Outcome::exited || (ending.status_known && ending.exit_code != 7)) ++wrong;
        }
        const bool timed_out = run(limited({"ignore-term", "60000"}, 200ms)).ending.outcome == Outcome::timed_out;
        over = true;
        thief.join();
        if (stolen == 0 || unknown == 0) return 1;  // then nothing was tested
        return wrong != 0 ? 2 : timed_out ? 0 : 3;
    }) == 0);
}

TEST_CASE("process: what the sink throws comes out of step, and the process can still be stopped or go on") {
    Live live{plan({"flood", "1000000000000"})};
    bool thrown = false;
    while (!thrown) {
        try {
            live.started->step([](process::Stream, std::string_view) { throw 42; });
            live.started->wait(std::nullopt);
        } catch (int value) {
            thrown = value == 42;
        }
    }
    live.stop.request();
    REQUIRE(live.finish());
    CHECK(live.started->ending().outcome == Outcome::cancelled);

    Live patient{plan({"flood", "3000000", "9"})};
    int throws = 0;
    while (!patient.started->done()) {
        try {
            patient.started->step([&](process::Stream, std::string_view) {
                if (++throws <= 3) throw 42;
            });
            if (!patient.started->done()) patient.started->wait(std::nullopt);
        } catch (int) {
        }
    }
    CHECK(patient.started->ending().exit_code == 9);
}

TEST_CASE("process: the destructor stops and reaps in bounded time, also one that ignores TERM") {
    for (const std::string mode : {"sleep", "ignore-term", "flood"}) {
        CAPTURE(mode);
        pid_t pid = -1;
        auto began = Clock::now();
        {
            Live live{plan({mode, "1000000000"})};
            if (mode != "sleep") live.read_until(6);
            pid = live.started->pid();
            began = Clock::now();
        }
        CHECK(Clock::now() - began < 20s);
        CHECK(is_gone(pid));
    }
    CHECK_FALSE(has_children());
}

TEST_CASE("process: the lifeline ends when the host's side does, and carries notes back") {
    auto noting = plan({"note", "3", "a note\n"});
    noting.lifeline = 3;
    Live live{std::move(noting)};
    REQUIRE(live.finish());
    CHECK(live.started->notes() == "a note\n");

    int status = -1;
    int report[2];
    REQUIRE(::pipe(report) == 0);
    const pid_t host = ::fork();
    if (host == 0) {  // a host that is killed while its child runs
        auto awaiting = plan({"await-end", "3"});
        awaiting.lifeline = 3;
        Live doomed{std::move(awaiting)};
        const pid_t pid = doomed.started->pid();
        (void)!::write(report[1], &pid, sizeof pid);
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(host, &status, 0);
    CHECK(WIFSIGNALED(status));
    pid_t child = -1;
    REQUIRE(::read(report[0], &child, sizeof child) == sizeof child);
    ::close(report[0]);
    ::close(report[1]);
    // Its new parent may not reap it, so that a zombie is as good as gone.
    const auto over = [child] {
        std::ifstream stat{"/proc/" + std::to_string(child) + "/stat"};
        std::string text;
        std::getline(stat, text);
        return text.empty() || text.find(") Z ") != text.npos;
    };
    for (int i = 0; i < 200 && !over(); ++i) ::usleep(10'000);
    CHECK(over());
}

TEST_CASE("process: the caller's blocked signals are as they were") {
    CHECK(as_host([] {
        sigset_t mine, after;
        ::sigemptyset(&mine);
        for (const int signal : {SIGUSR1, SIGINT, SIGRTMIN + 2}) ::sigaddset(&mine, signal);
        ::pthread_sigmask(SIG_SETMASK, &mine, nullptr);
        if (run(with_input({"read-stdin"}, std::string(300'000, 'x'))).ending.exit_code != 0) return 1;
        if (run(limited({"ignore-term", "60000"}, 100ms)).ending.outcome != Outcome::timed_out) return 2;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
        for (int signal = 1; signal < NSIG; ++signal) {
            if (::sigismember(&mine, signal) != ::sigismember(&after, signal)) return 3;
        }
        return 0;
    }) == 0);
}

TEST_CASE("process: no signal handler is installed") {
    CHECK(as_host([] {
        const auto handlers = [] {
            std::vector<void (*)(int)> all;
            for (int signal = 1; signal < NSIG; ++signal) {
                struct sigaction action {};
                if (::sigaction(signal, nullptr, &action) == 0) all.push_back(action.sa_handler);
            }
            return all;
        };
        const auto before = handlers();
        if (run(limited({"ignore-term", "60000"}, 100ms)).ending.outcome != Outcome::timed_out) return 1;
        if (run(with_input({"close-input", "50"}, ten_mebibytes())).ending.exit_code != 0) return 2;
        return handlers() == before ? 0 : 3;
    }) == 0);
}

TEST_CASE("process: eight threads, a life of their own each") {
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([i, &wrong] {
            for (int round = 0; round < 10; ++round) {
                const auto code = i * 10 + round;
                const auto finished = run(with_input({"cat"}, std::to_string(code)));
                if (finished.out != std::to_string(code) || run(plan({"exit", std::to_string(code)})).ending.exit_code != code) ++wrong;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("process: T14 200 lives leave no descriptor, no zombie and no memory behind") {
    const auto life = [](int i) {
        switch (i % 4) {
            case 0: return run(plan({"exit", "1"})).ending.exit_code == 1;
            case 1: return run(with_input({"read-stdin"}, std::string(100'000, 'x'))).ending.exit_code == 0;
            case 2: return run(limited({"sleep", "60000"}, 5ms)).ending.outcome == Outcome::timed_out;
            default: {
                auto noting = plan({"note", "3", "n"});
                noting.lifeline = 3;
                return run(std::move(noting)).ending.exit_code == 0;
            }
        }
    };
    for (int i = 0; i < 20; ++i) REQUIRE(life(i));
    const auto fds = open_fds();
    const long memory = status_number("VmRSS:"), threads = status_number("Threads:");
    for (int i = 0; i < 200; ++i) REQUIRE(life(i));
    CHECK(open_fds() == fds);
    CHECK_FALSE(has_children());
    CHECK(status_number("Threads:") == threads);
    CHECK(status_number("VmRSS:") - memory < 1024 + memory_slack_kib);
}

TEST_CASE("process: a child that says it has ended is ended, and nothing else that it says counts") {
    const auto ending_after = [](const char* word, const char* milliseconds) {
        auto told = process::make_pipe().value();
        process::set_nonblocking(told.read);
        auto what = plan({"sleep", milliseconds});
        auto readiness = process::Readiness::open().value();
        process::StopSignal stop;
        stop.attach(readiness).value();
        auto child = process::start_child(what).value();
        child.ended = std::move(told.read);
        child.word = "word";
        const auto driven = process::Process::drive(std::move(child), what, readiness, stop);
        (void)!::write(told.write.get(), word, std::strlen(word));
        while (!driven->done()) {
            driven->step([](process::Stream, std::string_view) {});
            if (!driven->done()) driven->wait(std::nullopt);
        }
        CHECK(driven->ending().outcome == Outcome::exited);
        CHECK(driven->ending().status_known);
        return driven->ending().exit_code;
    };
    const auto began = Clock::now();
    CHECK(ending_after("X0 word\n", "60000") == 0);
    CHECK(ending_after("X7 word\n", "60000") == 7);
    CHECK(ending_after("X255 word\n", "60000") == 255);
    CHECK(Clock::now() - began < 60s);
    for (const char* word : {"", "X7 word", "X word\n", "X256 word\n", "X-1 word\n", "X 7 word\n", "X7 word \n", "x7 word\n", "7 word\n", "X7\n", "X7 \n", "X7 wor\n", "X7 words\n", "X7 & word\n", "X7 word\nX8 word\n", "trap -- 'echo' EXIT\nX7 word\n", "X99999999999999999999 word\n"}) {
        CAPTURE(word);
        CHECK(ending_after(word, "100") == 0);
    }
}
