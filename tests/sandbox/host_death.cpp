// When the host program is killed, however and whenever, nothing of its commands is left.
#include "processes.hpp"
#include "support.hpp"

#include <algorithm>
#include <csignal>
#include <sstream>
#include <random>
#include <thread>

#include <fcntl.h>

using namespace support;

namespace {

/// A host of its own: runs two commands at once until it is killed.
pid_t start_host(const std::string& root, const std::string& word) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    support::Subject<bailey::WritePolicy<bailey::Deny<".env">>> workspace{root, tools()};
    std::thread other{[&] { (void)workspace.run("setsid sleep " + word + " & sleep " + word, {.timeout = 60s}); }};
    (void)workspace.run("trap '' TERM; sleep " + word, {.timeout = 60s});
    other.join();
    ::_exit(0);
}

}  // namespace

TEST_CASE("T09 the host dies and nothing of its commands is left two seconds later") {
    TempDir root;
    write(root / "file", "content");
    const auto before = listing(root.path());
    std::mt19937 random{20261129};
    int ran = 0;
    for (int round = 0; round < 20; ++round) {
        const auto word = std::to_string(8'000'000 + ::getpid() % 10'000 * 100 + round);
        const auto moment = static_cast<unsigned>(random() % 2000);
        CAPTURE(moment);
        const pid_t host_program = start_host(root.path(), word);
        ::usleep(moment * 1000);
        for (int i = 0; round == 0 && i < 600 && !runs(word); ++i) ::usleep(100'000);  // one at least is killed while its commands run
        ran += runs(word) ? 1 : 0;
        REQUIRE(::kill(host_program, SIGKILL) == 0);
        REQUIRE(::waitpid(host_program, nullptr, 0) == host_program);
        const auto died = std::chrono::steady_clock::now();
        CHECK(is_over(word, 2s));
        // The placeholder goes when the guard has ended; on a busy machine a node that has just been started takes its time.
        while (listing(root.path()) != before && std::chrono::steady_clock::now() < died + 20s) ::usleep(50'000);
        CHECK(listing(root.path()) == before);
        // srt and its socat name their private directory, which names nothing of ours: look for orphans of the group
        const auto orphaned = [&] {
            const auto all = host_processes();
            return std::any_of(all.begin(), all.end(), [&](const auto& process) { return process.state != 'Z' && process.words.find(root.path()) != std::string::npos; });
        };
        while (orphaned() && std::chrono::steady_clock::now() < died + 20s) ::usleep(20'000);
        CHECK_FALSE(orphaned());
    }
    CHECK(ran > 0);  // some were killed while their commands ran
}

TEST_CASE("a host that dies is dead also while a child lives that it had forked") {
    TempDir root;
    const auto word = std::to_string(8'500'000 + ::getpid() % 10'000);
    const pid_t host_program = ::fork();
    if (host_program == 0) {
        const support::Subject<> workspace{root.path(), tools()};
        auto running = workspace.spawn("sleep " + word);
        while (!runs(word)) running.wait_for(20ms);
        if (::fork() == 0) {
            ::sleep(15);
            ::_exit(0);
        }
        write(root / "forked", "");
        (void)running.wait();
        ::_exit(0);
    }
    REQUIRE(comes_true([&] { return fs::exists(root / "forked"); }));
    ::kill(host_program, SIGKILL);
    REQUIRE(::waitpid(host_program, nullptr, 0) == host_program);
    CHECK(is_over(word, 2s));
}

TEST_CASE("a guard whose srt ends before it has seen that the host is dead takes the placeholder away all the same") {
    TempDir root;
    const auto path = root / ".env";
    const auto found = bailey::srt::find_tools(support::tools(), support::workspace<>(root.path()).boundary()).value();
    const pid_t host_program = ::fork();
    if (host_program == 0) {
        const auto placeholder = bailey::srt::Placeholder::ready(path).value();
        const bailey::process::Fd nothing{::open("/dev/null", O_RDONLY | O_CLOEXEC)}, directory{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        bailey::process::ChildPlan plan;
        plan.spawn.argv = {found.node, "-e", std::string{bailey::srt::guard_script}, "--", found.cli(), found.node_floor, "0", "[\"" + path + "\"]", "no mark of " + root.path(), std::to_string(::getpid()),
                           "--settings", "/proc/self/fd/3", "-c", "true"};  // empty settings: srt says so and ends at once
        plan.spawn.environment = {"PATH=/usr/bin:/bin"};
        plan.spawn.fds = {nothing.get(), placeholder.fd()};
        plan.spawn.directory = directory.get();
        plan.spawn.names = {placeholder.new_name()};
        plan.lifeline = bailey::srt::lifeline_fd;
        const auto child = bailey::process::start_child(plan);
        ::_exit(child && fs::exists(path) ? 0 : 1);  // the child has named it before it became node
    }
    int status = 0;
    REQUIRE(::waitpid(host_program, &status, 0) == host_program);
    CHECK(status == 0);
    for (int i = 0; i < 500 && fs::exists(path); ++i) ::usleep(20'000);
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a later workspace sweeps what a crash left") {
    TempDir root;
    const auto base = "/var/tmp/bailey-" + std::to_string(::geteuid());
    const pid_t host_program = ::fork();
    if (host_program == 0) {
        const support::Subject<> workspace{root.path(), tools()};
        ::kill(::getpid(), SIGKILL);
    }
    const auto directories = [&] { return host_output("ls " + base); };
    REQUIRE(::waitpid(host_program, nullptr, 0) == host_program);
    const auto after_crash = directories();
    const auto workspace = support::workspace<>(root.path());
    // One came, and the crashed one went; other programs' directories may come and go meanwhile.
    std::size_t swept = 0;
    std::istringstream names{after_crash};
    for (std::string name; std::getline(names, name);) swept += fs::exists(fs::path{base} / name) ? 0 : 1;
    CHECK(swept >= 1);
}
