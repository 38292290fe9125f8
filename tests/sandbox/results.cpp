// What comes back: exit codes, signals, limits, and output of every kind, exactly.
#include "processes.hpp"
#include "support.hpp"

#include <atomic>
#include <csignal>
#include <thread>

#include <fcntl.h>

using namespace support;
using bailey::Outcome;

namespace {

/// A number among the arguments of a process that nobody else uses.
std::string tag(int number) { return std::to_string(400'000 + ::getpid() % 50'000) + "." + std::to_string(number); }

long peak_memory_kib() {
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) return std::strtol(line.c_str() + 6, nullptr, 10);
    }
    return -1;
}
long start_peak_memory() {
    std::ofstream{"/proc/self/clear_refs"} << "5";  // VmHWM starts anew
    return peak_memory_kib();
}

}  // namespace

TEST_CASE("T02 exit codes pass through; 137 by exit is exited(137)") {
    TempDir root;
    const auto space = workspace(root.path());
    for (const int code : {0, 1, 2, 3, 64, 125, 126, 127, 128, 137, 143, 255}) {
        const auto result = space.run("exit " + std::to_string(code));
        CAPTURE(code);
        CHECK(result.outcome == Outcome::exited);
        CHECK(result.exit_code == code);
        CHECK(result.ok() == (code == 0));
        CHECK(result.likely_signal == (code > 128 && code <= 192 ? code - 128 : 0));
        CHECK(result.err.empty());
    }
    CHECK(space.run("exit 256").exit_code == 0);  // the shell's own arithmetic
    CHECK(space.run("exit -1").exit_code == 255);
}

TEST_CASE("T01 killed by a signal is no success, and what was printed before is kept") {
    TempDir root;
    write(root / "null.c", "int main(int argc, char** argv) { (void)argv; volatile int* p = 0; return argc > 9 ? 0 : *p; }\n");
    const auto space = workspace(root.path());
    REQUIRE(space.run("gcc -o null null.c").ok());
    const std::pair<std::string, int> ways[] = {{"kill -KILL $$", SIGKILL}, {"kill -TERM $$", SIGTERM}, {"kill -SEGV $$", SIGSEGV}, {"kill -ABRT $$", SIGABRT},
                                                {"exec sh -c 'kill -9 $$'", SIGKILL}, {"exec ./null", SIGSEGV}, {"./null", SIGSEGV}};
    for (const auto& pair : ways) {
        const auto& way = pair.first;
        const auto signal = pair.second;
        const auto result = space.run("printf before; " + way);
        INFO(way, "\n", shown(result));
        CHECK(result.outcome == Outcome::exited);
        CHECK(result.exit_code == 128 + signal);
        CHECK(result.likely_signal == signal);
        CHECK_FALSE(result.ok());
        CHECK(result.out == "before");
    }
}

TEST_CASE("T04 T05 the time limit: what was printed before is kept, and it is no success") {
    TempDir root;
    const auto space = workspace(root.path());
    const auto limit = ample(space);
    const auto result = space.run("for i in 1 2 3; do echo $i; done; echo err >&2; sleep " + tag(1), {.timeout = limit});
    INFO(shown(result));
    CHECK(result.outcome == Outcome::timed_out);
    CHECK_FALSE(result.ok());
    CHECK(result.out == "1\n2\n3\n");
    CHECK(result.err == "err\n");
    CHECK(result.elapsed >= limit);
    CHECK(result.elapsed < limit + 20s);
    CHECK_FALSE(runs(tag(1)));
}

TEST_CASE("T07 grandchildren, setsid and double forks end with it") {
    TempDir root;
    const auto space = workspace(root.path());
    const auto result = space.run("setsid sleep " + tag(2) + " & (setsid sh -c 'trap \"\" TERM HUP INT; sleep " + tag(3) + " & wait' &) ; nohup sleep " + tag(4) +
                                                       " >/dev/null 2>&1 & echo up; sleep " + tag(5), {.timeout = ample(space)});
    INFO(shown(result));
    CHECK(result.outcome == Outcome::timed_out);
    CHECK(result.out == "up\n");
    for (const int number : {2, 3, 4, 5}) {
        CAPTURE(number);
        CHECK(is_over(tag(number), 10s));
    }
}

TEST_CASE("T11 wait really waits") {
    TempDir root;
    const auto result = workspace(root.path()).run("sleep 2 & wait; echo end");
    CHECK(result.out == "end\n");
    CHECK(result.elapsed >= 2s);
}

#if defined(__cpp_lib_jthread)
TEST_CASE("T13 a stop token cancels, before, while and after") {
    TempDir root;
    const auto space = workspace(root.path());
    std::stop_source source;
    std::thread other{[&] {
        for (int i = 0; i < 1200 && !runs(tag(6)); ++i) std::this_thread::sleep_for(50ms);
        source.request_stop();
    }};
    const auto result = space.run("echo begun; sleep " + tag(6), {.timeout = 120s, .stop = source.get_token()});
    other.join();
    INFO(shown(result));
    CHECK(result.outcome == Outcome::cancelled);
    CHECK(result.out == "begun\n");
    CHECK_FALSE(result.ok());
    CHECK_FALSE(runs(tag(6)));

    const auto never = space.run("touch made", {.stop = source.get_token()});
    CHECK(never.outcome == Outcome::cancelled);
    CHECK_FALSE(fs::exists(root / "made"));

    std::stop_source late;
    CHECK(space.run("true", {.stop = late.get_token()}).ok());
    late.request_stop();  // the run is over, and so is its interest
}
#endif

TEST_CASE("T13 Running::stop from another thread") {
    TempDir root;
    const auto space = workspace(root.path());
    auto running = space.spawn("echo begun; sleep " + tag(7), {.timeout = 120s});
    std::thread other{[&] {
        for (int i = 0; i < 1200 && !runs(tag(7)); ++i) std::this_thread::sleep_for(50ms);
        running.stop();
        running.stop();
    }};
    const auto result = running.wait();
    other.join();
    CHECK(result.outcome == Outcome::cancelled);
    CHECK(result.out == "begun\n");
    CHECK(is_over(tag(7), 10s));
}

TEST_CASE("O01 endless output: the limit holds, memory is bounded, every byte is counted") {
    TempDir root;
    const auto space = workspace(root.path());
    std::uint64_t seen = 0;
    const auto limit = ample(space);
    const long before = start_peak_memory();
    const auto result = space.run("yes", {.timeout = limit, .on_stdout = [&](std::string_view bytes) { seen += bytes.size(); }});
    CHECK(peak_memory_kib() - before < 8 * 1024 + memory_slack_kib);
    CHECK(result.outcome == Outcome::timed_out);
    CHECK(result.elapsed < limit + 20s);
    CHECK(result.out_truncated);
    CHECK(result.out.size() == 1 << 20);
    CHECK(result.out_gap == 1 << 19);
    CHECK(result.out_bytes > 10 << 20);
    CHECK(result.out_bytes == seen);
    CHECK_FALSE(result.err_truncated);
}

TEST_CASE("O02 reading goes on past the limit: 500 MB in constant memory, head and tail, and the end of it all") {
    TempDir root;
    const auto space = workspace(root.path());
    const long before = start_peak_memory();
    const auto result = space.run("echo HEAD; head -c 500000000 /dev/zero; echo TAIL; echo END >&2; exit 3", {.timeout = 300s});
    CHECK(peak_memory_kib() - before < 8 * 1024 + memory_slack_kib);
    CHECK(result.outcome == Outcome::exited);
    CHECK(result.exit_code == 3);
    CHECK(result.err == "END\n");
    CHECK(result.out_truncated);
    CHECK(result.out_bytes == 500'000'010);
    CHECK(result.out.size() == 1 << 20);
    CHECK(result.out.starts_with(std::string{"HEAD\n\0\0", 7}));
    CHECK(result.out.ends_with(std::string{"\0\0TAIL\n", 7}));
}

TEST_CASE("what is kept: head, tail or both, cut between characters") {
    TempDir root;
    const auto space = workspace(root.path());
    const std::string command = "for i in $(seq 1000); do printf 'é日😀%04d' $i; printf 'err%04d' $i >&2; done";  // 13 bytes and 7
    const auto both = space.run(command, {.output_limit = 100});
    CHECK(both.out_bytes == 13'000);
    CHECK(both.err_bytes == 7'000);
    CHECK((both.out_truncated && both.err_truncated));
    CHECK(both.out.starts_with("é日😀0001é日😀0002"));
    CHECK(both.out.ends_with("é日😀1000"));
    CHECK(bailey::text::is_utf8(both.out));
    CHECK(both.out.size() <= 100);
    CHECK(both.out.size() > 93);
    CHECK(both.err.ends_with("err0999err1000"));
    const auto head = space.run(command, {.output_limit = 14, .keep = bailey::Keep::head});
    CHECK(head.out == "é日😀0001");  // the fourteenth byte is half a character
    CHECK(head.out_gap == head.out.size());
    const auto tail = space.run(command, {.output_limit = 15, .keep = bailey::Keep::tail});
    CHECK(tail.out == "99é日😀1000");
    CHECK(tail.out_gap == 0);
    const auto none = space.run(command, {.output_limit = 0});
    CHECK(none.out.empty());
    CHECK(none.out_bytes == 13'000);
    CHECK(none.out_truncated);
    const auto all = space.run(command, {.output_limit = 13'000});
    CHECK_FALSE(all.out_truncated);
    CHECK(all.out.size() == 13'000);
}

TEST_CASE("O04 O09 bytes are bytes: binary, NUL, carriage returns, no newline at the end") {
    TempDir root;
    const auto space = workspace(root.path());
    const auto result = space.run("head -c 200000 /dev/urandom | tee noise; printf 'a\\0b'; printf 'a\\rb\\rc' >&2; printf '\\036no newline' >&2");
    CHECK(result.exit_code == 0);
    CHECK(result.out.size() == 200'003);
    CHECK((result.out == read(root / "noise") + std::string{"a\0b", 3}));
    CHECK(result.err == "a\rb\rc\x1eno newline");
    CHECK_FALSE(result.out_truncated);
}

TEST_CASE("live callbacks give every byte of each stream, in order, as they come") {
    TempDir root;
    std::string out, err;
    std::chrono::steady_clock::time_point first{};
    const auto result = workspace(root.path()).run("echo first; sleep 1; seq 50000; seq 50000 >&2; echo last", {.on_stdout = [&](std::string_view bytes) {
                                                                                                                 if (out.empty()) first = std::chrono::steady_clock::now();
                                                                                                                 out += bytes;
                                                                                                             },
                                                                                                             .on_stderr = [&](std::string_view bytes) { err += bytes; }});
    CHECK(result.exit_code == 0);
    CHECK(std::chrono::steady_clock::now() - first >= 1s);
    CHECK((out == result.out));
    CHECK((err == result.err));
    CHECK(result.out.starts_with("first\n1\n2\n"));
    CHECK(result.out.ends_with("50000\nlast\n"));
}

TEST_CASE("O07 a callback that is slow at every chunk: the limit is kept, and what it was given is in order") {
    TempDir root;
    std::string seen;
    const auto space = workspace(root.path());
    const auto result = space.run("seq 2000000; sleep " + tag(8), {.timeout = ample(space), .on_stdout = [&](std::string_view bytes) {
                                                                                       seen += bytes;
                                                                                       std::this_thread::sleep_for(50ms);
                                                                                   }});
    CHECK(result.outcome == Outcome::timed_out);
    CHECK(seen.size() == result.out_bytes);
    CHECK(seen.starts_with("1\n2\n3\n"));
    CHECK_FALSE(runs(tag(8)));
}

TEST_CASE("C04 eight at once in one workspace") {
    TempDir root;
    const auto space = workspace(root.path());
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            const auto n = std::to_string(i);
            const auto result = space.try_run("echo $N > f$N; echo out$N; echo err$N >&2; exit $N", {.timeout = 120s, .env = {{"N", n}}});
            if (result && result->outcome == Outcome::exited && result->exit_code == i && result->out == "out" + n + "\n" && result->err == "err" + n + "\n" && result->violations.empty()) ++right;
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(right == 8);
    std::string files;
    for (int i = 0; i < 8; ++i) {
        CHECK(read(root / "f" + std::to_string(i)) == std::to_string(i) + "\n");
        files += "f" + std::to_string(i) + "\n";
    }
    CHECK(host_output("ls -A " + root.path()) == files);
}
