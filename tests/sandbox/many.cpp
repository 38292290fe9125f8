// Many commands at once, and many one after another: no cross-talk, no litter, no protection lost, nothing that grows.
#include "processes.hpp"
#include "support.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include <sys/resource.h>

using namespace support;

namespace {

template <class Work>
void in_parallel(int count, Work&& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
    for (auto& thread : threads) thread.join();
}

std::size_t entries(const std::string& directory) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator{directory}, fs::directory_iterator{}));
}

long resident_kib() {
    std::ifstream statm{"/proc/self/statm"};
    long size = 0, resident = 0;
    statm >> size >> resident;
    return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace

TEST_CASE("32 commands at once in one workspace, with a denied path that does not exist yet") {
    TempDir root;
    const auto workspace = support::workspace(root.path(), bailey::WritePolicy<bailey::Deny<".env">>{});
    std::vector<bailey::CommandResult> results(32);
    std::atomic<int> held{0};
    in_parallel(32, [&](int i) {
        // Each ends at another time: a protection that one takes away is missed by those that still run.
        results[static_cast<std::size_t>(i)] =
            workspace.run(fmt::format("echo {0} > f{0}; for n in $(seq {1}); do {{ echo evil > .env; rm -f .env; mv .env x; mkdir .env; }} 2>/dev/null; sleep 0.1; done; cat f{0}", i, i % 4 * 5 + 1),
                          {.timeout = 300s});
        if (fs::exists(root / ".env")) ++held;
    });
    for (int i = 0; i < 32; ++i) {
        const auto& result = results[static_cast<std::size_t>(i)];
        INFO(shown(result));
        CHECK(result.ok());
        CHECK(result.out == std::to_string(i) + "\n");
        CHECK(read(root / fmt::format("f{}", i)) == std::to_string(i) + "\n");
    }
    CHECK(held > 0);  // the last but one still saw the placeholder that the others hold
    CHECK(entries(root.path()) == 32);
}

TEST_CASE("32 workspaces at once with different policies, and a limiter that they share") {
    bailey::Limiter limiter{3};
    std::atomic<int> wrong{0};
    in_parallel(32, [&](int i) {
        TempDir root{"bailey-many"};
        const auto check = [&](const auto& workspace, const char* command, bool ok) {
            const auto result = workspace.try_run(command, {.timeout = 300s, .limiter = &limiter});
            // What was refused may be told; nothing else happened.
            const auto refused = [&](const auto& violation) { return !ok && violation.kind == bailey::ViolationKind::file_write && violation.subject == root / "made"; };
            if (!result || result->ok() != ok || !std::all_of(result->violations.begin(), result->violations.end(), refused)) {
                ++wrong;
                std::fprintf(stderr, "%s: %s", command, result ? shown(*result).c_str() : result.error().what());
            }
        };
        const auto use = [&](auto workspace) {
            workspace.use(tools());
            return workspace;
        };
        switch (i % 4) {
            case 0: check(use(support::Subject<>{root.path()}), "touch made && test -z \"$WHO\"", true); break;
            case 1: check(use(support::Subject<bailey::ReadOnly>{root.path()}), "touch made", false); break;
            case 2: check(use(support::Subject<bailey::EnvValue<"WHO", "two">>{root.path()}), "test \"$WHO\" = two", true); break;
            default: check(use(support::Subject<bailey::WritePolicy<bailey::Deny<"made">>>{root.path()}), "touch made", false); break;
        }
    });
    CHECK(wrong.load() == 0);
}

TEST_CASE("a limiter bounds how many sandboxes start at once, and waiting for it can be cancelled") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    bailey::Limiter limiter{1};
    auto first = workspace.spawn("sleep 60", {.limiter = &limiter});
    auto second = workspace.spawn("touch second; echo second", {.limiter = &limiter});
    auto third = workspace.spawn("touch third", {.timeout = 300ms, .limiter = &limiter});
    auto fourth = workspace.spawn("touch fourth", {.limiter = &limiter});
    // Nobody drives the first: its slot stays taken, and the others have not even been started.
    CHECK(descendants().size() >= 1);
    CHECK_FALSE(second.step());
    fourth.stop();
    CHECK(fourth.wait().outcome == bailey::Outcome::cancelled);
    CHECK(third.wait().outcome == bailey::Outcome::timed_out);
    first.stop();
    CHECK(first.wait().outcome == bailey::Outcome::cancelled);
    CHECK(second.wait().out == "second\n");
    CHECK(fs::exists(root / "second"));
    CHECK_FALSE(fs::exists(root / "third"));
    CHECK_FALSE(fs::exists(root / "fourth"));
}

TEST_CASE("a slot comes back when the command is over, whoever has looked at the result") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    bailey::Limiter limiter{1};
    auto stopped = workspace.spawn("sleep 60", {.limiter = &limiter});
    stopped.stop();
    while (!stopped.wait_for(50ms)) {
    }
    CHECK(workspace.run("echo next", {.timeout = 60s, .limiter = &limiter}).out == "next\n");
    CHECK(stopped.wait().outcome == bailey::Outcome::cancelled);
}

TEST_CASE("a limiter that could not be made is said, and is no command that waits for ever") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    const auto none_left = [] {
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        const rlimit before = limit;
        limit.rlim_cur = 3;
        ::setrlimit(RLIMIT_NOFILE, &limit);
        auto made = std::make_unique<bailey::Limiter>(2);
        ::setrlimit(RLIMIT_NOFILE, &before);
        return made;
    }();
    const auto refused = workspace.try_run("true", {.timeout = 0ms, .limiter = none_left.get()});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code() == bailey::ErrorCode::process);
    CHECK(std::string_view{refused.error().what()}.find("out of descriptors when it was made") != std::string_view::npos);
}

TEST_CASE("T14 nothing grows: descriptors, threads, children, memory, files") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    const auto tmpdir = workspace.run("printf %s $TMPDIR").out;
    const auto state = [&] {
        return std::vector<std::size_t>{entries("/proc/self/fd"), entries("/proc/self/task"), descendants().size(), entries(fs::path{tmpdir}.parent_path()), entries(root.path())};
    };
    // A session prepares the next sandbox a moment after a command: wait until it has.
    const auto steady = [&] {
        auto last = state();
        for (int same = 0, tries = 0; same < 20 && tries < 400; ++tries) {
            ::usleep(50'000);
            auto now = state();
            same = now == last ? same + 1 : 0;
            last = std::move(now);
        }
        return last;
    };
    const auto before = steady();
    const long memory = resident_kib();
    // Four at a time. BAILEY_TEST_RUNS=2000 is a soak. Cold ones cost most of a second of processor time each.
    const int runs = std::getenv("BAILEY_TEST_RUNS") != nullptr ? std::atoi(std::getenv("BAILEY_TEST_RUNS")) : through_session() ? 300 : 100;
    std::atomic<int> failed{0};
    in_parallel(4, [&](int) {
        for (int i = 0; i < runs / 4; ++i) failed += workspace.run("true", {.timeout = 300s}).ok() ? 0 : 1;
    });
    CHECK(failed == 0);
    const auto after = steady();
    for (std::size_t i = 0; i < after.size(); ++i) {
        CAPTURE(i);  // descriptors, threads, descendants, in the private directory, in the workspace
        CHECK(after[i] <= before[i]);
    }
    CHECK(resident_kib() - memory < 4096 + memory_slack_kib);
}
