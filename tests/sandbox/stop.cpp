// Stop is complete at every moment: the right outcome, nothing alive, nothing left, in bounded time.
#include "processes.hpp"
#include "support.hpp"

#include <algorithm>
#include <csignal>
#include <random>
#include <thread>

#include <sched.h>
#include <sys/wait.h>

using namespace support;

namespace {

/// Ways not to end. Each holds a word that no other process has.
std::vector<std::string> stubborn(const std::string& word) {
    const auto sleep = "sleep " + word;
    return {
        sleep,
        "trap '' TERM INT HUP; " + sleep,
        "setsid " + sleep + " & (setsid sh -c '" + sleep + " &' &); " + sleep,
        sleep + " & kill -STOP $$",
        "yes " + word,
        "for i in $(seq 500); do " + sleep + " & done; wait",
    };
}

std::string next_word() {
    static int count = 0;
    return std::to_string(7'000'000 + ::getpid() % 10'000 * 100 + ++count);
}

/// From the command's own process up to the one that the host has started: srt itself, or a session's bubblewrap.
std::vector<HostProcess> chain_of(const std::string& word) {
    std::vector<HostProcess> chain;
    const auto processes = descendants();
    const auto find = [&](auto which) {
        const auto found = std::find_if(processes.begin(), processes.end(), which);
        if (found != processes.end()) chain.push_back(*found);
        return found != processes.end();
    };
    REQUIRE(find([&](const HostProcess& process) { return process.words == std::string{"sleep"} + '\0' + word + '\0'; }));
    while (find([parent = chain.back().parent](const HostProcess& process) { return process.pid == parent; })) {
    }
    return chain;
}

/// A process of the host's that puts a child into another's pid namespace and does not reap it: the namespace cannot end before.
class Clinger {
public:
    Clinger() {
        REQUIRE(::pipe2(orders_, O_CLOEXEC) == 0);
        REQUIRE(::pipe2(answers_, O_CLOEXEC) == 0);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) cling();
        ::close(orders_[0]);
        ::close(answers_[1]);
    }
    ~Clinger() { let_go(); }
    Clinger(const Clinger&) = delete;
    Clinger& operator=(const Clinger&) = delete;

    bool cling_to(int pid) {
        char answer = 'n';
        return ::write(orders_[1], &pid, sizeof pid) == sizeof pid && ::read(answers_[0], &answer, 1) == 1 && answer == 'y';
    }
    void let_go() {
        if (pid_ < 0) return;
        ::close(orders_[1]);
        ::close(answers_[0]);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

private:
    [[noreturn]] void cling() {
        ::close(orders_[1]);
        int pid = 0;
        if (::read(orders_[0], &pid, sizeof pid) == sizeof pid) {
            const auto namespaces = "/proc/" + std::to_string(pid) + "/ns/";
            const int user = ::open((namespaces + "user").c_str(), O_RDONLY), pids = ::open((namespaces + "pid").c_str(), O_RDONLY);
            ::setns(user, CLONE_NEWUSER);  // refused where it is the same; root needs it not
            const bool joined = ::setns(pids, CLONE_NEWPID) == 0;
            if (joined && ::fork() == 0)
                for (;;) ::pause();
            [[maybe_unused]] const auto sent = ::write(answers_[1], joined ? "y" : "n", 1);
            [[maybe_unused]] const auto over = ::read(orders_[0], &pid, 1);
        }
        ::_exit(0);
    }

    int orders_[2], answers_[2];
    pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("stop is complete at every moment") {
    TempDir root;
    write(root / "file", "content");
    REQUIRE(host("cd " + root.path() + " && git init -q . && mkdir d && ln -s file link") == 0);
    const auto workspace = support::workspace<>(root.path());
    const auto tmpdir = workspace.run("printf %s $TMPDIR").out;
    const auto before = listing(root.path());
    const auto runs_left = [&] { return host_output("ls -d " + fs::path{tmpdir}.parent_path().string() + "/r* 2>/dev/null"); };
    const auto runs_before = runs_left();
    CHECK((runs_before.empty() || support::through_session()));  // a session has one of its own
    std::mt19937 random{20261129};
    std::chrono::milliseconds longest{0};
    for (int round = 0; round < 40; ++round) {
        const auto word = next_word();
        const auto commands = stubborn(word);
        const auto& command = commands[static_cast<std::size_t>(round) % commands.size()];
        const auto moment = std::chrono::milliseconds{round == 0 ? 1 : random() % 1500};
        const bool by_timeout = round % 2 == 0;
        CAPTURE(command);
        CAPTURE(moment.count());

        const auto began = std::chrono::steady_clock::now();
        bailey::CommandResult result;
        if (by_timeout) {
            result = workspace.run(command, {.timeout = moment});
        } else {
            auto running = workspace.spawn(command);
            std::thread stopper{[&] {
                std::this_thread::sleep_for(moment);
                running.stop();
            }};
            result = running.wait();
            stopper.join();
        }
        const auto over = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began) - moment;
        longest = std::max(longest, over);
        CHECK(result.outcome == (by_timeout ? bailey::Outcome::timed_out : bailey::Outcome::cancelled));
        CHECK(is_over(word, 10s));
        // srt, its socat: whatever it started is gone, or a zombie of nobody. A session keeps its broker, and makes sandboxes ready.
        CHECK((descendants().empty() || support::through_session()));
        CHECK(listing(root.path()) == before);
        CHECK(runs_left() == runs_before);
    }
    MESSAGE("longest stop: " << longest.count() << " ms over the limit");
}

TEST_CASE("no process of a command is alive when its result is there, also when none of them holds its output") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    for (int round = 0; round < 12; ++round) {
        const auto word = next_word();
        std::string said;
        auto running = workspace.spawn("for i in {1..200}; do (sleep " + word + " > /dev/null 2>&1 &); done; echo ready; " + (round % 2 == 0 ? "exit 3" : "sleep " + word),
                                       {.on_stdout = [&](std::string_view bytes) { said += bytes; }});
        while (said.empty() && !running.wait_for(20ms)) {
        }
        if (round % 2 != 0) running.stop();
        const auto result = running.wait();
        CHECK_FALSE(runs(word));
        CAPTURE(round);
        CHECK(result.out == "ready\n");
        CHECK(result.outcome == (round % 2 == 0 ? bailey::Outcome::exited : bailey::Outcome::cancelled));
    }
}

TEST_CASE("T08 one process of the chain from the host to the command is killed, and nothing is left") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    const auto before = listing(root.path());
    for (std::size_t link = 0, links = 1; link < links; ++link) {
        const auto word = next_word();
        auto running = workspace.spawn("echo early; sleep " + word + "; echo late; exit 0");
        while (!runs(word) && !running.wait_for(20ms)) {
        }
        const auto chain = chain_of(word);
        links = chain.size();
        CAPTURE(links);
        REQUIRE(link < links);
        CAPTURE(chain[link].words.substr(0, 60));
        ::kill(chain[link].pid, SIGKILL);
        running.wait_for(200ms);
        running.stop();
        const auto result = running.wait();
        CHECK(result.out.starts_with("early\n"));
        if (link > 0) CHECK_FALSE(result.ok());  // its own sleep was only a step on its way
        CHECK(is_over(word, 2s));
        CHECK((descendants().empty() || support::through_session()));
        CHECK(listing(root.path()) == before);
    }
}

TEST_CASE("a sandbox that somebody else terminates is no command that succeeded") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    for (const std::size_t from_the_top : {0U, 1U, 100U}) {  // srt, its bubblewrap, all of it: as a service manager ends a group
        CAPTURE(from_the_top);
        const auto word = next_word();
        auto running = workspace.spawn("echo early; sleep " + word + "; echo late", {.timeout = 60s});
        while (!runs(word) && !running.wait_for(20ms)) {
        }
        const auto chain = chain_of(word);
        // From the top: a shell whose sleep alone has ended would go on.
        for (std::size_t i = 0; i < chain.size(); ++i)
            if (from_the_top == 100 || i == from_the_top) ::kill(chain[chain.size() - 1 - i].pid, SIGTERM);
        running.wait_for(5s);
        running.stop();  // what takes no notice of it goes on
        const auto result = running.wait();
        INFO(shown(result));
        CHECK_FALSE(result.ok());
        CHECK(result.out == "early\n");
        if (from_the_top == 100) CHECK(result.exit_code == 143);
        CHECK(is_over(word, 2s));
    }
}

TEST_CASE("a stop after the end changes nothing, and a stop before the start starts nothing") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    auto running = workspace.spawn("touch ran; exit 4");
    while (!running.step()) running.wait_for(50ms);
    running.stop();
    const auto result = running.wait();
    CHECK(result.outcome == bailey::Outcome::exited);
    CHECK(result.exit_code == 4);

    std::stop_source source;
    source.request_stop();
    const auto never = workspace.run("touch never", {.stop = source.get_token()});
    CHECK(never.outcome == bailey::Outcome::cancelled);
    CHECK(fs::exists(root / "ran"));
    CHECK_FALSE(fs::exists(root / "never"));
}

TEST_CASE("a handle that is dropped stops its command") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    const auto word = next_word();
    {
        auto running = workspace.spawn("echo x > .bashrc; sleep " + word);
        for (int i = 0; i < 1200 && !runs(word); ++i) running.wait_for(50ms);
        CHECK(runs(word));
    }
    CHECK(is_over(word, 10s));
    CHECK_FALSE(fs::exists(root / ".bashrc"));  // the host is protected also when nobody waited for the end
}

TEST_CASE("what a command left in the workspace of a host that dropped its handle unread is looked at, too") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    for (const bool has_ended : {false, true}) {
        CAPTURE(has_ended);
        const auto word = next_word();
        fs::remove(root / "ready");
        {
            auto running = workspace.spawn("cp /bin/true program; chmod u+s program; echo x > .bashrc; touch ready; " + (has_ended ? std::string{"exit"} : "sleep " + word));
            if (support::through_session())
                for (int i = 0; i < 1200 && !fs::exists(root / "ready"); ++i) running.wait_for(10ms);
            CHECK(comes_true([&] { return fs::exists(root / "ready"); }));
            if (has_ended) ::usleep(300'000);
        }
        CHECK(is_over(word, 10s));
        CHECK_FALSE(fs::exists(root / ".bashrc"));
        CHECK((fs::status(root / "program").permissions() & fs::perms::set_uid) == fs::perms::none);
    }
}

TEST_CASE("O07 a slow callback cannot stall the clock") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    const auto word = next_word();
    const auto limit = ample(workspace);
    bool alive_after = true;
    // The callback holds the thread that drives the run: only the guard can keep to the clock.
    const auto result = workspace.run("echo begin; sleep " + word, {.timeout = limit, .on_stdout = [&](std::string_view) {
                                          std::this_thread::sleep_for(limit + 2s);
                                          alive_after = runs(word);
                                      }});
    CHECK(result.outcome == bailey::Outcome::timed_out);
    CHECK_FALSE(alive_after);
    CHECK(result.out == "begin\n");
}

TEST_CASE("a callback that throws stops the command and comes out once") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    const auto word = next_word();
    int calls = 0;
    const auto thrower = [&](std::string_view) {
        ++calls;
        throw std::out_of_range{"mine"};
    };
    CHECK_THROWS_AS(workspace.run("echo begin; sleep " + word, {.on_stdout = thrower}), std::out_of_range);
    CHECK(calls == 1);
    CHECK(is_over(word, 10s));
    const auto result = workspace.try_run("echo begin; sleep " + word, {.on_stdout = thrower});
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code() == bailey::ErrorCode::callback);
    CHECK_THROWS_AS(std::rethrow_exception(result.error().cause()), std::out_of_range);
}

TEST_CASE("a command whose processes do not end is an error, not a result that says the workspace stands still") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    for (const bool is_stopped : {true, false}) {
        if (!is_stopped && !through_session()) continue;  // srt itself waits for them there, until the time is up
        CAPTURE(is_stopped);
        Clinger clinger;
        const auto word = next_word();
        auto running = workspace.spawn("sh -c 'until [ -e go ]; do sleep 0.05; done' " + word, {.timeout = 60s});
        int inside = -1;
        REQUIRE(comes_true([&] {
            (void)running.wait_for(20ms);
            for (const auto& process : descendants())
                if (process.words.starts_with("sh") && process.words.ends_with('\0' + word + '\0')) inside = process.pid;
            return inside > 0;
        }));
        REQUIRE(clinger.cling_to(inside));
        const auto began = std::chrono::steady_clock::now();
        if (is_stopped) {
            running.stop();
        } else {
            write(root / "go", "");
        }
        const auto result = running.try_wait();
        const auto took = std::chrono::steady_clock::now() - began;
        REQUIRE_FALSE(result.has_value());
        CHECK(result.error().code() == bailey::ErrorCode::process);
        CHECK(std::string_view{result.error().what()}.find("hangs in the kernel and can still change the workspace") != std::string_view::npos);
        CHECK(took > 4s);
        CHECK(took < 15s);
        clinger.let_go();
        CHECK(workspace.run("echo next", {.timeout = 60s}).out == "next\n");
    }
}
