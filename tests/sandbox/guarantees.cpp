// design.md section 4, one by one: what a run promises about itself, whatever the command does.
#include "processes.hpp"
#include "support.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <linux/keyctl.h>
#include <sys/syscall.h>
#endif

using namespace support;

namespace {

std::string private_base() { return "/var/tmp/bailey-" + std::to_string(::geteuid()); }

/// A run that has come to its command and goes on until `hurry`.
class Paused {
public:
    template <class Space>
    Paused(const Space& space, const std::string& before, bailey::RunOptions options = {}) {
        options.on_stdout = [this](std::string_view bytes) { said_ += bytes; };
        running_.emplace(space.spawn(before + "\necho paused; sleep 60", std::move(options)));
        while (said_.find("paused\n") == said_.npos && !running_->wait_for(20ms)) {
        }
        if (said_.find("paused\n") == said_.npos) MESSAGE(shown(running_->wait()));
        REQUIRE_MESSAGE(said_.find("paused\n") != said_.npos, said_);
        said_.erase(said_.find("paused\n"));
    }

    /// What the command has printed until it paused.
    [[nodiscard]] const std::string& said() const { return said_; }

    /// The node that runs srt: our one child.
    [[nodiscard]] static HostProcess srt() {
        std::vector<HostProcess> children;
        for (const auto& process : descendants()) {
            if (process.parent == ::getpid()) children.push_back(process);
        }
        REQUIRE(children.size() == 1);
        return children.front();
    }

    bailey::CommandResult end() {
        running_->stop();
        return running_->wait();
    }

private:
    std::string said_;
    std::optional<bailey::Running> running_;
};

/// Whatever the other tests go through: these look at how srt itself is started.
bailey::Workspace<> started_cold(const std::string& root) { return bailey::Workspace<>{root, tools()}; }

/// A directory that no default grant covers, with a file that must stay as it is.
struct Untouched : TempDir {
    Untouched() : TempDir{"bailey-outside"}, victim{*this / "victim"} { write(victim, "original"); }
    std::string victim;
};

std::string git_identity = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c; ";

}  // namespace

TEST_CASE("guarantee 0, F22: during a run srt's directory is private and empty, and the workspace holds nothing of srt's") {
    TempDir root;
    REQUIRE(host("cd " + root.path() + " && git init -q . && echo x > tracked && git add . && " + git_identity + "git commit -qm m") == 0);
    const auto before = host_output("ls -A " + root.path());
    Paused run{started_cold(root.path()), "ls -A; git status --porcelain; git add . && git status --porcelain"};

    CHECK(run.said() == before);  // no phantom inside: not in the listing, not for git
    CHECK(host_output("ls -A " + root.path()) == before);
    CHECK(host_output("git -C " + root.path() + " status --porcelain") == "");

    const auto directory = fs::read_symlink(Paused::srt().file("cwd"));
    CHECK(directory.string().starts_with(private_base() + "/"));
    CHECK((fs::status(directory).permissions() & fs::perms::mask) == fs::perms::owner_all);
    CHECK(fs::is_empty(directory));
    CHECK(run.end().outcome == bailey::Outcome::cancelled);
    CHECK_FALSE(fs::exists(directory));
}

TEST_CASE("F19 a run leaves nothing behind; F20 nor does one that is killed") {
    TempDir root;
    write(root / ".bashrc", "mine");
    write(root / "empty", "");
    const auto space = workspace(root.path());
    const auto before = listing(root.path());
    const auto tmp = space.run("printf %s \"$TMPDIR\"");
    REQUIRE(tmp.ok());
    const int own = through_session() ? 3 : 2;  // TMPDIR, the lock, and the session's
    CHECK(listing(root.path()) == before);
    CHECK(fs::is_empty(tmp.out));
    CHECK(std::distance(fs::directory_iterator{fs::path{tmp.out}.parent_path()}, {}) == own);

    const auto killed = space.run("sleep 60", {.timeout = 1s});
    CHECK(killed.outcome == bailey::Outcome::timed_out);
    CHECK(listing(root.path()) == before);
    CHECK(std::distance(fs::directory_iterator{fs::path{tmp.out}.parent_path()}, {}) == own);

    Paused run{space, ""};
    CHECK(run.end().outcome == bailey::Outcome::cancelled);
    CHECK(listing(root.path()) == before);
    CHECK(fs::is_empty(tmp.out));
    CHECK(std::distance(fs::directory_iterator{fs::path{tmp.out}.parent_path()}, {}) == own);
}

TEST_CASE("guarantee 0: the private directories go with the workspace") {
    TempDir root;
    std::string tmp;
    {
        const auto space = workspace(root.path());
        // A tree that is hard to remove: deep, without permissions, with links to what must stay.
        const auto result = space.run("printf %s $TMPDIR; cd $TMPDIR; for i in $(seq 300); do mkdir dddddddddddddddd; cd dddddddddddddddd; done; "
                                      "touch f; cd $TMPDIR; mkdir closed; touch closed/f; chmod 000 closed; ln -s \"$HOME\" link; ln -s / root");
        REQUIRE(result.ok());
        tmp = result.out;
        REQUIRE(fs::exists(tmp));
    }
    CHECK_FALSE(fs::exists(fs::path{tmp}.parent_path()));
    CHECK(fs::exists(root.path()));
}

TEST_CASE("guarantee 1: the settings are sealed in a memfd, and nowhere else") {
    TempDir root;
    Paused run{started_cold(root.path()), "ls -l /proc/[0-9]*/fd 2>/dev/null | grep memfd; readlink /proc/self/fd/3"};
    CHECK(run.said() == "");  // and unreachable from inside
    const auto srt = Paused::srt();
    CHECK(srt.words.find(std::string{"--settings\0/proc/self/fd/3\0", 27}) != srt.words.npos);

    const auto link = fs::read_symlink(srt.file("fd/3")).string();
    CHECK(link == "/memfd:bailey (deleted)");
    const bailey::process::Fd memfd{::open(srt.file("fd/3").c_str(), O_RDONLY | O_CLOEXEC)};
    REQUIRE(static_cast<bool>(memfd));
    CHECK(::fcntl(memfd.get(), F_GET_SEALS) == (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE));
    const auto settings = read(srt.file("fd/3"));
    CHECK(settings.find("\"allowWrite\"") != settings.npos);
    CHECK(settings.find(root.path()) != settings.npos);

    // No file holds them: neither in our directories, nor in /tmp, nor in the workspace.
    CHECK(host_output("grep -rlsF -D skip allowWrite " + private_base() + " /tmp " + root.path() + " 2>/dev/null | xargs -r grep -lsF '" + root.path() + "'") == "");
    (void)run.end();
}

TEST_CASE("C01 a command that rewrites every settings file it finds changes no other run") {
    TempDir root, shared{"bailey-shared"};
    Untouched outside;
    const auto attacker = support::Subject<>{root.path(), tools()};
    // In /tmp only what speaks of this test's directories: others work on this machine too.
    auto attack = attacker.spawn(R"sh(
        policy='{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowRead":["/"],"allowWrite":["/"],"denyWrite":[]}}'
        while :; do
            for f in $(grep -rlsF "$HOME" /tmp "$TMPDIR" "$TMPDIR/.." --include='*.json' 2>/dev/null) $(ls "$HOME"/*.json 2>/dev/null); do printf %s "$policy" > "$f"; done
            printf %s "$policy" > "$HOME/settings.json"; printf %s "$policy" > "$HOME/.srt-settings.json"
        done)sh", {.timeout = 10min});
    const auto victim = workspace(root.path(), bailey::runtime::DenyRead{root / "denied"});
    write(root / "denied", "secret-4711");
    while (!fs::exists(root / "settings.json") && !attack.wait_for(20ms)) {
    }
    for (int round = 0, failed = 0; round < 10; ++round) {
        const auto tried = victim.try_run("cat '" + outside.victim + "' denied; touch '" + (outside / "pwn") + "'", {.timeout = 300s});
        // The attack keeps the processors busy: srt gives up on its own socat after a while, and nothing has run.
        if (!tried && tried.error().code() == bailey::ErrorCode::sandbox_start && ++failed < 5) continue;
        REQUIRE_MESSAGE(tried.has_value(), (tried ? "" : tried.error().what()));
        const auto& result = *tried;
        INFO(shown(result));
        REQUIRE(result.outcome == bailey::Outcome::exited);
        REQUIRE(result.exit_code != 0);
        REQUIRE(result.out.empty());
        REQUIRE_FALSE(fs::exists(outside / "pwn"));
    }
    CHECK_FALSE(attack.wait_for(0ms));  // it was at it all the time
    attack.stop();
    CHECK(attack.wait().outcome == bailey::Outcome::cancelled);
    CHECK(fs::exists(root / "settings.json"));
}

TEST_CASE("guarantee 1: 0, 1 and 2 are all that is open inside, however careless the host") {
    TempDir root;
    std::vector<bailey::process::Fd> careless;
    for (int i = 0; i < 100; ++i) careless.emplace_back(::open("/etc/hostname", O_RDONLY));
    const auto result = workspace(root.path()).run("for f in /proc/$$/fd/*; do echo ${f##*/}; done; for p in /proc/[0-9]*; do ls -l $p/fd; done 2>/dev/null | grep -c hostname");
    INFO(shown(result));
    CHECK(result.out == "0\n1\n2\n0\n");
}

TEST_CASE("guarantee 2: srt starts in a fixed environment; the command's values are in no argv") {
    TempDir root;
    ::setenv("BAILEY_TEST_HOST_SECRET", "host-secret-4711", 1);
    Paused run{started_cold(root.path()), "printf '%s\\n' \"$VALUE\"; cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -c 'value-471[1]'",
               {.env = {{"VALUE", "value-4711"}, {"LANG", "xx"}}}};
    ::unsetenv("BAILEY_TEST_HOST_SECRET");
    CHECK(run.said() == "value-4711\n0\n");  // in the environment, and in no process's arguments

    std::set<std::string> names;
    const auto srt = Paused::srt();
    for (std::size_t at = 0; at < srt.environment.size(); at = srt.environment.find('\0', at) + 1)
        names.insert(srt.environment.substr(at, srt.environment.find('=', at) - at));
    CHECK(names == std::set<std::string>{"CLAUDE_CODE_TMPDIR", "HOME", "PATH", "TMPDIR"});
    CHECK(srt.environment.find("PATH=/usr/bin:/bin:/usr/sbin:/sbin") != srt.environment.npos);
    for (const auto& process : descendants()) {
        CAPTURE(process.words);
        CHECK(process.words.find("value-4711") == process.words.npos);
        CHECK(process.environment.find("host-secret-4711") == process.environment.npos);
    }
    (void)run.end();
}

TEST_CASE("E03 what is given for the command never steers the launcher, and reaches the command") {
    TempDir root;
    Untouched outside;
    const auto pwn = outside / "pwn";
    write(root / "evil.js", "require('fs').writeFileSync('" + pwn + "', 'x')");
    write(root / "evil.sh", "touch '" + pwn + "'\n");
    const std::vector<std::pair<std::string, std::string>> steering{
        {"NODE_OPTIONS", "--require " + (root / "evil.js")}, {"BASH_ENV", root / "evil.sh"}, {"ENV", root / "evil.sh"},
        {"NODE_PATH", root.path()}, {"LD_AUDIT", root / "evil.so"}, {"GCONV_PATH", root.path()}, {"PYTHONSTARTUP", root / "evil.js"},
        {"LD_LIBRARY_PATH", root.path()}, {"SRT_DEBUG", "1"}, {"HTTP_PROXY", "http://127.0.0.1:1"}, {"CLAUDE_TMPDIR", root.path()}};
    std::string asking;
    std::string wanted;
    for (const auto& [name, value] : steering) {
        asking += "printf '%s\\n' \"$" + name + "\"; ";
        wanted += value + "\n";
    }
    const auto result = workspace(root.path()).run(asking, {.env = steering});
    INFO(shown(result));
    CHECK(result.outcome == bailey::Outcome::exited);
    CHECK(result.out == wanted);
    CHECK_FALSE(fs::exists(pwn));
}

TEST_CASE("E04 E05 E11 planted tools on the command's PATH are the command's alone") {
    TempDir root;
    Untouched outside;
    const auto space = workspace(root.path());
    const auto planted = space.run("mkdir bin; for t in bwrap socat rg which node srt bash sh env; do printf '#!/bin/sh\\ntouch \"" + (outside / "pwn") +
                                   "\"\\necho planted\\n' > bin/$t; chmod +x bin/$t; done");
    REQUIRE(planted.ok());
    const std::string path = root / "bin:/usr/bin:/bin";
    const auto result = space.run("bwrap; node", {.env = {{"PATH", path}}});
    INFO(shown(result));
    CHECK(result.out == "planted\nplanted\n");  // inside it is what the command asked for
    CHECK_FALSE(fs::exists(outside / "pwn"));

    // The host's own PATH begins with them as well: they are refused, not run.
    const std::string before = std::getenv("PATH");
    ::setenv("PATH", path.c_str(), 1);
    bailey::Workspace<> searching{root.path(), {.srt = environment("BAILEY_SRT")}};
    ::setenv("PATH", before.c_str(), 1);
    const auto refused = searching.try_run("true");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code() == bailey::ErrorCode::srt_unavailable);
    CHECK_FALSE(fs::exists(outside / "pwn"));
}

TEST_CASE("guarantee 3b: a root that is no longer the same is refused, and good again when it is") {
    TempDir parent;
    Untouched outside;
    fs::create_directory(parent / "W");
    const auto space = workspace(parent / "W");
    CHECK(space.run("touch first").ok());
    const auto refused = [&](std::string_view why) {
        const auto result = space.try_run("touch pwn");
        CAPTURE(why);
        REQUIRE_FALSE(result.has_value());
        CHECK(result.error().code() == bailey::ErrorCode::policy);
        CHECK(std::string_view{result.error().what()}.find(parent / "W") != std::string_view::npos);
    };
    fs::rename(parent / "W", parent / "W.x");
    refused("gone");
    fs::create_directory_symlink(outside.path(), parent / "W");
    refused("a link to elsewhere");
    fs::remove(parent / "W");
    fs::create_directory_symlink(parent / "W.x", parent / "W");
    refused("a link, though to the same directory");
    fs::remove(parent / "W");
    fs::create_directory(parent / "W");
    refused("another directory");
    fs::remove(parent / "W");
    fs::rename(parent / "W.x", parent / "W");
    CHECK(space.run("test -f first").ok());
    CHECK_FALSE(fs::exists(outside / "pwn"));
    CHECK_THROWS_AS([&] { fs::rename(parent / "W", parent / "W.x"); space.run("true"); }(), bailey::PolicyError);
}

TEST_CASE("guarantee 3b: a grant that a command has swapped for a link never leads elsewhere") {
    TempDir root;
    Untouched outside;
    fs::create_directories(root / "sub/granted");
    const auto space = workspace(root.path(), bailey::ReadOnly{}, bailey::runtime::AllowWrite{root / "sub/granted"});
    CHECK(space.run("touch sub/granted/a && ! touch sub/b").ok());
    const auto planter = workspace(root.path());
    REQUIRE(planter.run("mv sub/granted sub/old && ln -s '" + outside.path() + "' sub/granted").ok());
    const auto result = space.try_run("touch sub/granted/pwn");
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code() == bailey::ErrorCode::policy);
    CHECK(std::string_view{result.error().what()}.find("sub/granted") != std::string_view::npos);
    CHECK_FALSE(fs::exists(outside / "pwn"));
}

TEST_CASE("guarantee 3c, F24: bailey's own directories are invisible, but for one's own TMPDIR") {
    TempDir one, two;
    const auto mine = workspace(one.path());
    const auto other = workspace(two.path(), bailey::AllReads{});
    const auto tmp = mine.run("echo secret-4711 > $TMPDIR/k; printf %s $TMPDIR").out;
    REQUIRE(fs::exists(tmp + "/k"));
    for (const auto& result : {workspace(two.path()).run("cat " + tmp + "/k; ls -A " + private_base()), other.run("cat " + tmp + "/k; ls -A " + private_base())}) {
        INFO(shown(result));
        CHECK(result.out.find("secret-4711") == result.out.npos);
        // Its own directory is all that is to be seen.
        CHECK(std::count(result.out.begin(), result.out.end(), '\n') <= 1);
        CHECK(result.out.find(fs::path{tmp}.parent_path().filename().string()) == result.out.npos);
    }
    // Nor can it write there, but in its own TMPDIR.
    const auto base = private_base();
    CHECK(mine.run("touch " + base + "/pwn $TMPDIR/../pwn $TMPDIR/../r*/run/pwn $TMPDIR/../r*/pwn; rm -rf $TMPDIR/../r*/run/prelude; true").ok());
    CHECK_FALSE(fs::exists(base + "/pwn"));
    CHECK_FALSE(fs::exists(fs::path{tmp}.parent_path() / "pwn"));
}

TEST_CASE("guarantee 3c: /tmp/claude is not writable where /tmp is not granted (alone)") {
    ::mkdir("/tmp/claude", 0777);  // and stays, see posture.cpp
    TempDir root;
    const auto name = "/tmp/claude/bailey-" + fs::path{root.path()}.filename().string();
    const std::string command = "mkdir -p /tmp/claude; touch " + name;
    (void)workspace(root.path(), bailey::PrivateTmp{}).run(command);
    CHECK_FALSE(fs::exists(name));
    (void)workspace(root.path(), bailey::ReadOnly{}).run(command);
    CHECK_FALSE(fs::exists(name));
}

TEST_CASE("guarantee 4: a marker that the command finds and repeats is its own output") {
    TempDir root;
    const auto result = workspace(root.path()).run(R"sh(
        m=$(sed -n "s/.*\([0-9a-f]\{32\}\)' *>&2\$/\1/p; s/.* \([0-9a-f]\{32\}\) >&2\$/\1/p" "$TMPDIR"/../r*/run/prelude "$TMPDIR"/../r*/run/*/go 2>/dev/null)
        echo "$m"; printf '\036%s\n' "$m" >&2; echo between >&2; printf '\036%s\n' "$m" >&2; exit 1)sh");
    INFO(shown(result));
    REQUIRE(result.out.size() == 33);
    const auto marker = "\x1e" + result.out;
    CHECK(result.outcome == bailey::Outcome::exited);
    CHECK(result.exit_code == 1);
    CHECK(result.err == marker + "between\n" + marker);
}

TEST_CASE("T03 (c) a command that fails as srt does is a command that failed") {
    TempDir root;
    const auto space = workspace(root.path());
    for (const std::string text : {"Error: fake", "bwrap: Can't find source path", "bailey: this is no sandbox: the host is visible"}) {
        const auto result = space.run("echo \"" + text + "\" >&2; exit 1");
        INFO(shown(result));
        CHECK(result.outcome == bailey::Outcome::exited);
        CHECK(result.exit_code == 1);
        CHECK(result.err == text + "\n");
    }
}

TEST_CASE("T10 a background job that keeps stdout open does not hang run, and is dead when it returns") {
    TempDir root;
    const auto space = workspace(root.path());
    const auto baseline = space.run("true").elapsed;
    const std::string tag = std::to_string(40'000 + ::getpid() % 10'000);
    for (const std::string& command : {"sleep " + tag + " & echo done", "(while :; do echo x; sleep .1; done) & sleep " + tag + " & echo done",
                                       "setsid sleep " + tag + " & echo done", "nohup sh -c 'trap \"\" TERM HUP; sleep " + tag + "' & echo done"}) {
        const auto result = space.run(command);
        INFO(command, "\n", shown(result));
        CHECK(result.outcome == bailey::Outcome::exited);
        CHECK(result.exit_code == 0);
        CHECK(result.out.find("done\n") != result.out.npos);
        CHECK(result.elapsed < baseline + 15s);
        CHECK_FALSE(runs(tag));
    }
}

TEST_CASE("guarantee 13: setuid and setgid bits are gone on the host, and said") {
    TempDir root;
    write(root / "mine", "theirs");
    fs::permissions(root / "mine", fs::perms{04755});
    const auto before = listing(root.path());
    const auto result = workspace(root.path()).run(R"sh(
        cp /bin/true suid; chmod 4755 suid; cp /bin/true sgid; chmod 2755 sgid; cp /bin/true both; chmod 6711 both
        mkdir -p deep/er; cp /bin/true deep/er/x; chmod 4755 deep/er/x; chmod 311 deep/er; ln deep/er/x hard; ln -s suid link
        mkdir setgiddir; chmod 2775 setgiddir; cp /bin/true plain; cp /bin/true "$TMPDIR"/t; chmod 4755 "$TMPDIR"/t)sh");
    INFO(shown(result));
    CHECK(result.ok());
    CHECK(host_output("find " + root.path() + " -type f -perm /6000 -printf '%f '") == "mine ");  // the user's own stays
    CHECK(host_output("stat -c %a " + root.path() + "/suid " + root.path() + "/both " + root.path() + "/plain") == "755\n711\n755\n");
    CHECK(listing(root.path()).find(before) != std::string::npos);
    std::set<std::string> subjects;
    for (const auto& violation : result.violations) {
        CHECK(violation.kind == bailey::ViolationKind::setuid_file);
        CHECK_FALSE(violation.rule.empty());
        CHECK_FALSE(violation.remedy.empty());
        subjects.insert(violation.subject);
    }
    for (const auto* name : {"suid", "sgid", "both"}) CHECK_MESSAGE(subjects.count(root / name) == 1, name);
    CHECK(subjects.count(root / "deep/er/x") + subjects.count(root / "hard") >= 1);
    CHECK(subjects.count(root / "mine") + subjects.count(root / "plain") == 0);
}

#if defined(__linux__)
TEST_CASE("guarantee 13: the host's session keyring is not inherited, and the secrets of /etc are hidden") {
    TempDir root;
    const pid_t host_process = ::fork();  // with a session keyring of its own
    if (host_process == 0) {
        if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr, 0, 0, 0) < 0 ||
            ::syscall(SYS_add_key, "user", "bailey-guarantee", "hunter2", 7, KEY_SPEC_SESSION_KEYRING) < 0)
            ::_exit(1);
        int status = 2;
        try {
            const auto result = support::Subject<>{root.path(), {.srt = std::getenv("BAILEY_SRT"), .node = std::getenv("BAILEY_NODE")}}.run(
                "keyctl request user bailey-guarantee >/dev/null 2>&1 && echo KEY; keyctl search @s user bailey-guarantee >/dev/null 2>&1 && echo KEY; "
                "head -c1 /etc/shadow /etc/gshadow /etc/shadow- 2>/dev/null | grep -v '^==>' | grep -q . && echo SHADOW; cat /etc/passwd >/dev/null && echo passwd");
            status = result.out == "passwd\n" ? 0 : 3;
            if (status != 0) std::fprintf(stderr, "%s", shown(result).c_str());
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
        }
        ::_exit(status);
    }
    int status = -1;
    ::waitpid(host_process, &status, 0);
    CHECK(status == 0);
    CHECK(host("test -s /etc/shadow") == 0);  // there is something to hide
}
#endif
