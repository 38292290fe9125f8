// Sessions: the same sandbox without the wait. That the run path holds in one, every other file here tests (see subject.hpp).
#include "http_server.hpp"
#include "inside.hpp"
#include "processes.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>

using namespace support;
using bailey::NetworkAnswer;
using bailey::NetworkRequest;
using bailey::Outcome;
using bailey::Session;
using bailey::ViolationKind;

namespace {

bool has_waiting(const Session& session, std::size_t count = 1) {
    return comes_true([&] { return session.stats().waiting == count; });
}

/// The node that is our child.
int broker_pid() {
    for (const auto& process : descendants()) {
        if (process.parent == ::getpid() && process.state != 'Z' && process.words.find("SandboxManager") != std::string::npos) return process.pid;
    }
    return -1;
}

const std::string through_proxy = "export NO_PROXY= no_proxy=; ";
std::string fetch(const std::string& url) { return through_proxy + "curl -sS -m20 --noproxy '' -o /dev/null -w '%{http_code}\\n' " + url; }

}  // namespace

TEST_CASE("the first command is wrapped, the next find a sandbox that waits, and each is fresh") {
    TempDir root;
    const auto workspace = support::workspace(root.path());
    const auto began = std::chrono::steady_clock::now();
    const auto session = workspace.open_session();
    CHECK(std::chrono::steady_clock::now() - began < 500ms);  // it returns at once: starting a broker takes as long as that
    CHECK(session.run("echo first; echo kept > file; echo lost > /dev/shm/x; sleep 300 &").out == "first\n");
    for (int i = 0; i < 3; ++i) {
        REQUIRE(has_waiting(session));
        const auto result = session.run("cat file; ls /dev/shm; ps -e -o comm= | grep -c sleep");
        CHECK(result.out == "kept\n0\n");
    }
    const auto stats = session.stats();
    CHECK(stats.commands == 4);
    CHECK(stats.prepared + stats.wrapped == 4);
    CHECK(stats.prepared >= 3);
    CHECK(stats.cold == 0);
    CHECK(stats.brokers == 1);
}

TEST_CASE("cold, by the broker and prepared: a probe of the sandbox says the same") {
    TempDir root;
    REQUIRE(host("cd " + root.path() + " && git init -q . && echo x > .bashrc && mkdir -p sub/deep") == 0);
    // What differs by design is left out: numbers of this very run, and where bailey keeps its own.
    const std::string probe = R"sh(
        cut -d' ' -f4,5,6 /proc/self/mountinfo | sed -E "s#/var/tmp/bailey-[0-9]+/[^ ]*#BAILEY#g" | sort -u
        grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|Umask|SigIgn|SigBlk|SigCgt)' /proc/self/status
        for n in cgroup ipc mnt net pid user uts; do [ -e /proc/self/ns/$n ] && echo ns $n; done
        ulimit -a; umask; id; pwd; echo $0 $- $SHLVL $PPID
        env | sed -E 's#(TOKEN|proxy|PROXY|PASSWORD)=.*#\1#; s#/var/tmp/bailey-[0-9]+/[^ ]*#BAILEY#g; s#GIT_SSH_COMMAND=.*#GIT_SSH_COMMAND#; s#JAVA_TOOL_OPTIONS=.*#JAVA_TOOL_OPTIONS#; s#(PROXY_PORT)=.*#\1#; s#CLOUDSDK_PROXY_USERNAME=.*#CLOUDSDK_PROXY_USERNAME#' | sort
        echo /proc/self/fd/* | tr ' ' '\n' | wc -l; processes=$(cat /proc/[0-9]*/comm); sort <<<"$processes"
        cat /proc/sys/kernel/hostname; ls -la / /tmp/. 2>/dev/null | head -3 | cut -c1-10; cat /etc/shadow; ls /root /home /var; echo x > /etc/x; echo x > /proc/sys/kernel/core_pattern
        python3 -c 'import socket; socket.socket(socket.AF_UNIX)' 2>&1 | tail -1; unshare -U true; mount -t tmpfs x /mnt; dmesg | head -1; nice
    )sh";
    const auto workspace = support::workspace(root.path(), bailey::OpenFileLimit<256>{}, bailey::ReadPolicy<bailey::Deny<"sub/deep">>{});
    const auto cold = workspace.run(probe, {.timeout = 60s});
    const auto session = workspace.open_session();
    const auto wrapped = session.run(probe, {.timeout = 60s});
    REQUIRE(has_waiting(session));
    const auto prepared = session.run(probe, {.timeout = 60s});
    REQUIRE(session.stats().prepared >= 1);
    CHECK(std::count(cold.out.begin(), cold.out.end(), '\n') > 100);
    const auto same = [&](const std::string& out) {
        write(root / "cold", cold.out);
        write(root / "other", out);
        return host_output("diff " + (root / "cold") + " " + (root / "other")).substr(0, 4000);
    };
    CHECK(same(wrapped.out) == "");
    CHECK(same(prepared.out) == "");
    CHECK(wrapped.err == cold.err);
    CHECK(prepared.err == cold.err);
}

TEST_CASE("nothing that a command starts can forge its end, and an end that it has set a trap for is waited for") {
    TempDir root;
    write(root / "ends", "trap 'echo bye; exit 5' EXIT\n");
    const auto workspace = support::workspace(root.path());
    const auto session = workspace.open_session();
    CHECK(session.run("true").ok());
    write(root / "forge", "for end in /var/tmp/bailey-*/*/r*/run/*/ended; do printf \"$@\" > \"$end\"; done\n");
    for (const bool waiting : {true, false}) {
        if (waiting) REQUIRE(has_waiting(session));
        for (const std::string word : {"X0\\n", "X0 \\n", "X0 no\\n", "X0 %s\\nX0\\n $BAILEY_WORD", "X4"}) {
            const auto forged = session.run("sh ./forge '" + word + "'; sleep 0.1; echo on; exit 4");
            CHECK(forged.exit_code == 4);
            CHECK(forged.out == "on\n");
        }
        CHECK(session.run("env | grep -c BAILEY_; echo \"$(tr '\\0' '\\n' < /proc/$$/environ | grep -c BAILEY_)\"").out == "0\n0\n");
        const auto ended = session.run(". ./ends; echo in");
        CHECK(ended.out == "in\nbye\n");
        CHECK(ended.exit_code == 5);
    }
    // No descriptor is left for a word.
    const auto narrow = support::workspace(root.path(), bailey::OpenFileLimit<8>{}).open_session();
    CHECK(narrow.run("true").ok());
    REQUIRE(has_waiting(narrow));
    const auto status = narrow.run("echo out; (exit 9)");
    CHECK(status.out == "out\n");
    CHECK(status.err == "");
    CHECK(status.exit_code == 9);
}

TEST_CASE("a sandbox that waits is used only if preparing it now would give the same") {
    TempDir root, outside{"bailey-outside"};
    const auto at = [&](const std::string& name) { return root / name; };
    REQUIRE(host("cd " + root.path() + " && mkdir -p a/b data denied && git init -q repo && echo s > denied/secret && echo d > data/d && ln -s data/d .zprofile && echo x > .profile && echo e > .env") == 0);
    fs::create_directories(outside / "grant");
    const auto workspace = support::workspace(root.path(), bailey::runtime::DenyRead{"denied"}, bailey::runtime::DenyWrite{".env", "a/b"}, bailey::runtime::AllowRead{outside / "grant"});
    const auto session = workspace.open_session();
    REQUIRE(session.run("true").ok());
    const std::pair<const char*, std::string> changes[] = {
        {"a new repository", "git init -q " + at("new")},
        {"a repository beneath", "git init -q " + at("a/deeper")},
        {"a new dotfile", "echo x > " + at(".bashrc")},
        {"a dotfile beneath", "echo x > " + at("a/.zshrc")},
        {"a dotfile taken away", "rm " + at(".bashrc")},
        {"a dotfile made anew", "rm " + at(".profile") + "; echo y > " + at(".profile")},
        {"a directory of an editor", "mkdir " + at(".vscode")},
        {"a hook's directory made anew", "rm -rf " + at("repo/.git/hooks") + "; mkdir " + at("repo/.git/hooks")},
        {"a configuration made anew", "git -C " + at("repo") + " config a.b c"},
        {"another worktree's configuration", "touch " + at("repo/.git/config.worktree")},
        {"a repository moved", "mv " + at("repo") + " " + at("moved")},
        {"a link to another place", "ln -sfn ordinary " + at(".zprofile")},
        {"a link replaced by a file", "rm " + at(".zprofile") + "; echo x > " + at(".zprofile")},
        {"a denied directory made anew", "rm -rf " + at("denied") + "; mkdir " + at("denied")},
        {"a denied directory replaced by a file", "rm -rf " + at("denied") + "; echo x > " + at("denied")},
        {"a file denied for writing made anew", "rm " + at(".env") + "; echo n > " + at(".env")},
        {"a directory above a denied one made anew", "mv " + at("a") + " " + at("a.old") + "; mkdir -p " + at("a/b")},
        {"a denied path taken away", "rm -rf " + at("a/b")},
        {"… and there again", "mkdir " + at("a/b")},
        {"the mode of a denied directory", "chmod 700 " + at("a/b")},
    };
    for (const auto& [name, change] : changes) {
        const std::string what{name};  // clang 14 lets no lambda capture a binding
        INFO(what);
        if (what != "… and there again") REQUIRE(has_waiting(session));  // with a place to hold, none waits
        const auto before = session.stats();
        REQUIRE(host(change) == 0);
        REQUIRE(session.run("true").ok());
        const auto after = session.stats();
        CHECK(after.prepared == before.prepared);
        CHECK(after.wrapped == before.wrapped + 1);
    }
    // And what has no part in it does not matter.
    REQUIRE(has_waiting(session));
    const auto before = session.stats().prepared;
    write(root / "ordinary", "x");
    fs::create_directories(root / "data/more");
    REQUIRE(session.run("true").ok());
    CHECK(session.stats().prepared == before + 1);
    // A limit or a mask that the host gives itself meanwhile is the command's too.
    REQUIRE(has_waiting(session));
    const auto mask = ::umask(027);
    CHECK(session.run("umask").out == "0027\n");
    ::umask(mask);
    // What is no longer what it was is refused, waiting sandbox or not.
    REQUIRE(has_waiting(session));
    REQUIRE(host("mv " + (outside / "grant") + " " + (outside / "old") + " && mkdir " + (outside / "grant")) == 0);
    CHECK_THROWS_AS(session.run("true"), bailey::PolicyError);
}

TEST_CASE("a thread that may less than the one that opened the session gets a sandbox that it starts itself") {
    TempDir root;
    const auto workspace = support::workspace(root.path());
    const auto session = workspace.open_session({.prepared = 0});
    CHECK(session.run("true").ok());
    std::string inside;
    std::thread weaker{[&] {
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        ::prctl(PR_CAPBSET_DROP, CAP_SYS_BOOT, 0, 0, 0);
        const auto result = session.try_run("true");
        inside = result ? std::string{result->ok() ? "ok" : "failed"} : result.error().what();
    }};
    weaker.join();
    CHECK(inside == "ok");
    CHECK(session.run("true").ok());
    const auto stats = session.stats();
    CHECK(stats.cold == 1);
    CHECK(stats.wrapped == 2);
}

TEST_CASE("where a command changes names all the time, none is prepared in vain for long") {
    TempDir root;
    REQUIRE(host("cd " + root.path() + " && git init -q .") == 0);
    const auto workspace = support::workspace(root.path());
    const auto session = workspace.open_session();
    (void)session.run("while :; do : > x; rm x; sleep 0.01; done", {.timeout = 8s});
    CHECK(session.stats().stale <= 4);
    CHECK(session.run("true").ok());
    CHECK(has_waiting(session));
}

TEST_CASE("what is swapped and swapped back while a sandbox is being prepared is not mounted in it") {
    TempDir root, outside{"bailey-outside"};
    fs::create_directories(outside / "grant");
    fs::create_directories(outside / "elsewhere");
    const auto workspace = support::workspace(root.path(), bailey::runtime::AllowWrite{outside / "grant"});
    const auto session = workspace.open_session();
    for (int round = 0; round < 12; ++round) {
        REQUIRE(session.run("true").ok());
        // The keeper is at it now.
        ::usleep(static_cast<useconds_t>(25'000 + round * 12'000));
        fs::rename(outside / "grant", outside / "kept");
        fs::create_directory_symlink(outside / "elsewhere", outside / "grant");
        ::usleep(15'000);
        fs::remove(outside / "grant");
        fs::rename(outside / "kept", outside / "grant");
        ::usleep(round % 2 == 0 ? 0 : 200'000);
        const auto result = session.run("echo x > '" + (outside / "grant") + "/made'");
        INFO(shown(result));
        CHECK(result.ok());
        CHECK(fs::exists(outside / "grant/made"));
        CHECK_FALSE(fs::exists(outside / "elsewhere/made"));
        fs::remove(outside / "grant/made");
    }
}

TEST_CASE("what a command leaves is found in trees that are watched, too") {
    TempDir root, granted{"bailey-granted"};
    REQUIRE(host("cd " + root.path() + " && git init -q . && mkdir -p a/b/c/d old && cp /bin/true old/program && cp /bin/true a/b/c/d/program && cp /bin/true " + (granted / "program")) == 0);
    const auto workspace = support::workspace(root.path(), bailey::runtime::AllowWrite{granted.path()});
    const auto session = workspace.open_session();
    REQUIRE(session.run("true").ok());
    const auto setuid = [](const std::string& path) { return (fs::status(path).permissions() & (fs::perms::set_uid | fs::perms::set_gid)) != fs::perms::none; };
    const auto attempt = [&](const std::string& command, const std::string& path, ViolationKind kind) {
        INFO(command);
        REQUIRE(has_waiting(session));  // by then the trees are watched again
        CHECK(session.run("cat old/program >/dev/null; ls -R >/dev/null").violations.empty());
        REQUIRE(has_waiting(session));
        const auto result = session.run(command);
        INFO(shown(result));
        CHECK(std::any_of(result.violations.begin(), result.violations.end(), [&](const auto& violation) { return violation.kind == kind && violation.subject == path; }));
        if (kind == ViolationKind::planted_file) {
            CHECK_FALSE(fs::exists(path));
        } else {
            CHECK_FALSE(setuid(path));
        }
    };
    attempt("chmod u+s old/program", root / "old/program", ViolationKind::setuid_file);
    attempt("chmod g+s a/b/c/d/program", root / "a/b/c/d/program", ViolationKind::setuid_file);
    attempt("chmod u+s '" + (granted / "program") + "'", granted / "program", ViolationKind::setuid_file);
    attempt("mkdir -p x/y; cp /bin/true x/y/new; chmod 6755 x/y/new", root / "x/y/new", ViolationKind::setuid_file);
    attempt("mkdir z; cp /bin/true z/p; chmod u+s z/p; mv z/p moved; rmdir z", root / "moved", ViolationKind::setuid_file);
    attempt("cp /bin/true deep; chmod u+s deep; ln deep a/b/c/d/linked; rm deep", root / "a/b/c/d/linked", ViolationKind::setuid_file);
    attempt("python3 -c 'import os; f = os.open(\"old/program\", os.O_RDONLY); os.fchmod(f, 0o4755)'", root / "old/program", ViolationKind::setuid_file);
    attempt("echo evil > .bashrc", root / ".bashrc", ViolationKind::planted_file);
    attempt("echo evil > t; ln t a/.bashrc; rm t", root / "a/.bashrc", ViolationKind::planted_file);
    attempt("mkdir q; echo evil > q/.mcp.json; mv q a/q", root / "a/q/.mcp.json", ViolationKind::planted_file);
    // Nothing happens in the workspace, but where something in it leads.
    fs::create_symlink(granted / "profile", root / ".zprofile");
    attempt("echo evil > '" + (granted / "profile") + "'", root / ".zprofile", ViolationKind::planted_file);
    // A program that is still at it when another command ends is found out when it has ended itself.
    REQUIRE(has_waiting(session));
    auto slow = session.spawn("until [ -e go ]; do sleep 0.05; done; chmod u+s old/program", {.timeout = 120s});
    CHECK(session.run("true", {.timeout = 120s}).violations.empty());
    write(root / "go", "");
    const auto result = slow.wait();
    CHECK(result.violations.size() == 1);
    CHECK_FALSE(setuid(root / "old/program"));
}

TEST_CASE("what a command asks for cannot spoil the list of what is allowed for the session") {
    TempDir root;
    const auto workspace = support::workspace(root.path());
    std::mutex mutex;
    std::vector<std::string> asked;
    auto session = workspace.open_session({.prepared = 0, .on_network_request = [&](const NetworkRequest& request) {
                                               const std::lock_guard lock{mutex};
                                               asked.push_back(request.entry());
                                               return NetworkAnswer::allow_for_session();
                                           }});
    const auto reach = [&](const std::string& host) { return session.run(fetch("http://" + host + "/"), {.timeout = 60s}).out != "403\n"; };
    for (const char* host : {"intranet", "under_score.example", "-dash.example", "a..example", "A.Example."}) {
        CAPTURE(host);
        CHECK(reach(host));  // the proxy lets it through, and finds no such host
    }
    const std::vector<std::string> entries{"intranet:80", "under_score.example:80", "-dash.example:80", "a..example:80", "a.example:80"};
    CHECK(asked == entries);
    CHECK(session.boundary().allowed_domains == std::vector<std::string>{"under_score.example:80", "a.example:80"});  // the others were for once
    CHECK(reach("a.example"));
    CHECK(asked == entries);
    CHECK(session.run("echo next").out == "next\n");
    const auto stats = session.stats();
    CHECK(stats.cold == 0);
    CHECK(stats.brokers == 1);
}

TEST_CASE("a broker that is killed is replaced; commands that run go on") {
    TempDir root;
    const auto workspace = support::workspace(root.path());
    const auto session = workspace.open_session();
    for (const int moment : {0, 20, 60, 150, 400, 900}) {
        CAPTURE(moment);
        auto running = session.spawn("sleep 1; echo survived", {.timeout = 60s});
        ::usleep(static_cast<useconds_t>(moment) * 1000);
        const int broker = broker_pid();
        REQUIRE(broker > 0);
        ::kill(broker, SIGKILL);
        const auto result = running.wait();
        INFO(shown(result));
        CHECK(result.out == "survived\n");
        CHECK(session.run("echo next").out == "next\n");
    }
    CHECK(session.stats().brokers > 1);
}

TEST_CASE("a broker that ends again and again is not started for ever; the cold way is left") {
    TempDir root;
    const auto workspace = support::workspace(root.path());
    const auto session = workspace.open_session({.prepared = 0});
    for (int broker = -1; const std::uint64_t number : {1U, 2U}) {
        REQUIRE(comes_true([&] { return session.stats().brokers == number && broker_pid() > 0 && broker_pid() != broker; }));
        broker = broker_pid();
        REQUIRE(session.try_proxy_url().has_value());  // it is ready
        ::kill(broker, SIGKILL);
    }
    CHECK(session.run("echo cold", {.timeout = 60s}).out == "cold\n");
    const auto stats = session.stats();
    CHECK(stats.cold == 1);
    CHECK(stats.brokers == 2);
    CHECK(broker_pid() == -1);
    CHECK(std::string_view{session.try_proxy_url().error().what()}.find("has no broker, and so no proxy") != std::string_view::npos);
}

TEST_CASE("a command that has ended in time has ended, however late its host looks") {
    TempDir root;
    const auto workspace = support::workspace(root.path());
    const auto session = workspace.open_session();
    for (int round = 0; round < 2; ++round) {
        REQUIRE(has_waiting(session));
        auto running = session.spawn("echo hi; exit 3", {.timeout = 1s});
        if (round == 0) ::sleep(2);
        const auto result = round == 0 ? running.wait() : session.run("echo hi; exit 3", {.timeout = 1s, .on_stdout = [](std::string_view) { ::sleep(2); }});
        CHECK(result.outcome == bailey::Outcome::exited);
        CHECK(result.exit_code == 3);
        CHECK(result.out == "hi\n");
    }
}

TEST_CASE("closing a session at any moment leaves nothing behind") {
    TempDir root;
    write(root / "file", "x");
    const auto workspace = support::workspace(root.path());
    const auto before = listing(root.path());
    for (const int moment : {0, 10, 50, 120, 250, 450, 700, 1200, 2500}) {
        CAPTURE(moment);
        {
            const auto session = workspace.open_session({.prepared = 2});
            ::usleep(static_cast<useconds_t>(moment) * 1000);
            if (moment % 100 == 0 && moment > 0) (void)session.run("true");
        }
        CHECK(comes_true([] { return descendants().empty(); }, 2s));
        CHECK(listing(root.path()) == before);
    }
    // A command outlives the session's handle: it is its own.
    auto running = [&] {
        const auto session = workspace.open_session();
        return session.spawn("sleep 1; echo end");
    }();
    CHECK(running.wait().out == "end\n");
    CHECK(comes_true([] { return descendants().empty(); }, 2s));
}

TEST_CASE("sandboxes that wait end after their time, and nothing of them shows in the workspace") {
    TempDir root;
    write(root / "file", "x");
    const auto workspace = support::workspace(root.path());
    const auto before = listing(root.path());
    const auto session = workspace.open_session({.prepared = 2, .time_to_live = 8s});
    REQUIRE(session.run("true").ok());
    REQUIRE(has_waiting(session, 2));
    CHECK(listing(root.path()) == before);
    const auto stats = session.stats();
    CHECK(stats.processes > 10);
    CHECK(stats.memory > 1'000'000);
    CHECK(comes_true([&] { return session.stats().waiting == 0; }));
    ::usleep(500'000);
    CHECK(session.stats().waiting == 0);  // none is prepared for nobody
    CHECK(session.run("echo back").out == "back\n");

    const auto none = workspace.open_session({.prepared = 0});
    for (int i = 0; i < 3; ++i) REQUIRE(none.run("true").ok());
    ::usleep(1'500'000);
    CHECK(none.stats().waiting == 0);
    CHECK(none.stats().wrapped == 3);

    // A denied path that does not exist needs a placeholder while a command runs, and only then.
    const auto denying = support::workspace(root.path(), bailey::WritePolicy<bailey::Deny<".env">>{});
    const auto careful = denying.open_session();
    CHECK_FALSE(careful.run("echo x > .env").ok());
    ::usleep(1'500'000);
    CHECK(careful.stats().waiting == 0);
    CHECK(listing(root.path()) == before);
}

TEST_CASE("what the network refused is known, with the rule and a remedy") {
    HttpServer server{"hello\n"};
    TempDir root;
    const auto workspace = support::workspace(root.path(), bailey::DomainAllowlist<"127.0.0.1", "*.example.com">{}, bailey::DomainDenylist<"bad.example.com">{});
    const auto session = workspace.open_session();
    for (const bool waiting : {false, true}) {
        if (waiting) REQUIRE(has_waiting(session));
        const auto result = session.run(fetch(server.url()) + "; " + fetch("http://unlisted.example/") + "; " + fetch("https://bad.example.com/") + "; " + fetch("http://unlisted.example/again"));
        INFO(shown(result));
        CHECK(result.out == "200\n403\n000\n403\n");
        std::vector<bailey::Violation> network;
        std::copy_if(result.violations.begin(), result.violations.end(), std::back_inserter(network), [](const auto& violation) { return violation.kind == ViolationKind::network; });
        REQUIRE(network.size() == 2);
        CHECK(network[0].subject == "unlisted.example:80");
        CHECK(network[0].rule == "no allowed domain covers it");
        CHECK(network[0].remedy == "add DomainAllowlist<\"unlisted.example:80\">");
        CHECK(network[0].certain);
        CHECK(network[1].subject == "bad.example.com:443");
        CHECK(network[1].rule == "the denied domain \"bad.example.com\"");
    }
    // Two at once are told apart.
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            const auto result = session.run(fetch("http://host" + std::to_string(i) + ".example/"), {.timeout = 120s});
            right += result.violations.size() == 1 && result.violations[0].subject == "host" + std::to_string(i) + ".example:80" ? 1 : 0;
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(right == 4);
}

TEST_CASE("a host that no rule decides is asked about: once, for the session, or not") {
    HttpServer server{"hello\n"};
    TempDir root;
    std::mutex mutex;
    std::vector<std::string> asked;
    std::atomic<int> answer{0};
    const auto workspace = support::workspace(root.path(), bailey::DomainDenylist<"denied.example">{});
    auto session = workspace.open_session({.on_network_request = [&](const NetworkRequest& request) {
                                               {
                                                   const std::lock_guard lock{mutex};
                                                   asked.push_back(request.host + ":" + std::to_string(request.port));
                                               }
                                               if (answer == 1) return NetworkAnswer::allow_once();
                                               if (answer == 2) return NetworkAnswer::allow_for_session();
                                               if (answer == 3) throw std::runtime_error{"cannot say"};
                                               if (answer == 4) std::this_thread::sleep_for(3s);
                                               return NetworkAnswer::deny("ask the operator for <it>");
                                           },
                                           .answer_within = 2s});
    const auto address = "127.0.0.1:" + server.port();
    const auto count = [&] {
        const std::lock_guard lock{mutex};
        return asked.size();
    };
    const auto denied = session.run(through_proxy + "curl -sv -m20 --noproxy '' https://" + address);
    INFO(shown(denied));
    CHECK(denied.err.find("403 ask the operator") != std::string::npos);  // the command sees why
    REQUIRE(denied.violations.size() == 1);
    CHECK(denied.violations[0].rule.find("ask the operator") != std::string::npos);
    CHECK(count() == 1);
    CHECK(asked[0] == address);
    answer = 1;
    CHECK(session.run(fetch(server.url()) + "; " + fetch(server.url())).out == "200\n200\n");
    CHECK(count() == 3);
    answer = 3;
    CHECK(session.run(fetch(server.url())).out == "403\n");
    answer = 4;
    CHECK(session.run(fetch(server.url()), {.timeout = 60s}).out == "403\n");  // nobody answered in time
    answer = 2;
    ::usleep(1'500'000);  // until the late answer has been given
    const auto before = count();
    CHECK(session.run(fetch(server.url()) + "; " + fetch(server.url())).out == "200\n200\n");
    CHECK(session.run(fetch(server.url())).out == "200\n");
    CHECK(count() == before + 1);
    CHECK(session.boundary().permits_host("127.0.0.1", static_cast<std::uint16_t>(std::stoi(server.port()))).allowed);
    CHECK(session.run(fetch("http://denied.example/")).out == "403\n");
    CHECK(count() == before + 1);  // a denial is no question

    // Several commands at once, and several connections of one to the same place: one question each.
    std::vector<std::thread> threads;
    std::atomic<int> reached{0};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            HttpServer own{"own\n"};
            const auto result = session.run("for i in 1 2 3; do (" + fetch(own.url()) + ") & done; wait", {.timeout = 120s});
            reached += result.out == "200\n200\n200\n" ? 1 : 0;
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(reached == 4);
    CHECK(count() == before + 5);
}

TEST_CASE("the domains change for commands that run, from the next connection on") {
    HttpServer server{"hello\n"};
    TempDir root;
    const auto workspace = support::workspace(root.path());
    auto session = workspace.open_session();
    std::string said;
    auto running = session.spawn("while read -r line; do " + fetch(server.url()) + "; done", {.timeout = 120s, .input = bailey::Input::pipe(), .on_stdout = [&](std::string_view bytes) { said += bytes; }});
    const auto next = [&] {
        const auto before = said.size();
        running.write("\n");
        while (said.size() == before && !running.wait_for(20ms)) {
        }
        return said.substr(before);
    };
    CHECK(next() == "403\n");
    session.allow_domains({"127.0.0.1:" + server.port()});
    CHECK(next() == "200\n");
    session.deny_domains({"127.0.0.1"});
    CHECK(next() == "403\n");
    session.set_domains({"127.0.0.1"});
    CHECK(next() == "200\n");
    session.set_domains({});
    CHECK(next() == "403\n");
    CHECK_THROWS_AS(session.allow_domains({"127.0.0.1", "no host"}), bailey::PolicyError);
    CHECK(next() == "403\n");  // then nothing is changed
    session.allow_domains({"127.0.0.1"});
    const int broker = broker_pid();
    ::kill(broker, SIGKILL);
    CHECK(comes_true([&] { return session.stats().brokers == 2; }));
    const auto after = session.run(fetch(server.url()), {.timeout = 60s});
    INFO(shown(after));
    CHECK(after.out == "200\n");  // the next broker knows
    running.close_input();
    CHECK(running.wait().outcome == Outcome::exited);
}

TEST_CASE("the host's own clients go through the same filter") {
    HttpServer server{"hello\n"};
    TempDir root;
    const auto workspace = support::workspace(root.path(), bailey::DomainAllowlist<"127.0.0.1">{});
    const auto session = workspace.open_session();
    const auto proxy = session.proxy_url();
    CHECK(proxy.starts_with("http://bailey:"));
    const auto fetch_through = [](const std::string& through, const std::string& url) { return host_output("curl -sS -m20 --noproxy '' -x '" + through + "' -o /dev/null -w '%{http_code}' " + url + " 2>/dev/null"); };
    CHECK(fetch_through(proxy, server.url()) == "200");
    CHECK(fetch_through(proxy, server.url("localhost")) == "403");
    CHECK(fetch_through("http://127.0.0.1" + proxy.substr(proxy.rfind(':')), server.url()) == "407");  // without the password
}

TEST_CASE("frames that nobody understands end the session, in words") {
    TempDir root;
    // The real broker, given nonsense by its host.
    const auto found = bailey::srt::find_tools(tools(), support::workspace(root.path()).boundary()).value();
    for (const auto& [bytes, complaint] : {std::pair<std::string, std::string>{std::string{"\1\0\0\0Z", 5}, "before it was told to begin"}, {std::string{"\0\0\0\0", 4}, "a frame of 0 bytes"}, {"\xff\xff\xff\x7f", "a frame of 2147483647 bytes"}}) {
        const auto words = complaint;
        CAPTURE(words);
        auto pair = bailey::process::make_socket_pair().value();
        const bailey::process::Fd directory{::open("/var/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        bailey::process::ChildPlan plan;
        plan.spawn.argv = {found.node, "-e", std::string{bailey::srt::broker_script}, "--", found.library(), "no mark of " + root.path(), "0"};
        plan.spawn.environment = {"PATH=/usr/bin:/bin"};
        plan.spawn.fds = {pair.write.get()};
        plan.spawn.directory = directory.get();
        auto child = bailey::process::start_child(std::move(plan)).value();
        pair.write.reset();
        bailey::srt::FrameSocket frames{std::move(pair.read)};
        REQUIRE(::write(frames.fd().get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
        std::optional<bailey::srt::Frame> said;
        CHECK(comes_true([&] { return (said = frames.receive()).has_value() || frames.ended(); }));
        REQUIRE(said.has_value());
        CHECK(said->letter == 'F');
        CHECK(said->fields.at(0).find(words) != std::string::npos);
        CHECK(comes_true([&] { return bailey::process::has_ended(child); }));
        bailey::process::end_child(std::move(child), "");
    }
}

TEST_CASE("a broker that speaks nonsense ends the session, in words; one that cannot start leaves the cold way") {
    TempDir root, fake{"bailey-fake-srt"};
    fs::create_directories(fake / "dist");
    write(fake / "package.json", R"({"name": "@anthropic-ai/sandbox-runtime", "version": "9.9.9", "type": "module", "engines": {"node": ">=20.0.0"}})");
    write(fake / "dist/cli.js", "console.error('fake srt, started cold'); process.exit(1);\n");
    const auto complaint = [&](const std::string& initialize) {
        write(fake / "dist/index.js", "import fs from 'fs';\nexport const SandboxRuntimeConfigSchema = {parse: x => x};\nexport const SandboxManager = {initialize() { " + initialize +
                                          " }, reset() {}, getSandboxViolationStore() { return {getTotalCount: () => 0, subscribe() {}}; }, getProxyPort: () => 1, getProxyAuthToken: () => 't'};\n");
        auto workspace = bailey::Workspace<>{root.path()};
        workspace.use({.srt = fake.path(), .node = tools().node});
        const auto session = workspace.open_session();
        const auto result = session.try_run("true", {.timeout = 20s});
        REQUIRE_FALSE(result.has_value());
        return std::string{result.error().what()};
    };
    CHECK(complaint("fs.writeSync(3, Buffer.from([255, 255, 255, 255, 1]));").find("what is no frame; the session is over, open a new one") != std::string::npos);
    CHECK(complaint("fs.writeSync(3, Buffer.from([2, 0, 0, 0, 81, 65]));").find("the frame \"Q\" with 1 fields, which nobody understands here") != std::string::npos);
    CHECK(complaint("throw new Error('no bridge');").find("fake srt, started cold") != std::string::npos);
    CHECK(complaint("process.exit(3);").find("fake srt, started cold") != std::string::npos);
}
