// The host's own access to files on the agent's behalf is bound as commands are.
#include "support.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

using namespace support;

namespace {

#if defined(__linux__)
/// What an older kernel, or a container's filter, answers to openat2: for this thread, until it ends.
void take_openat2_away() {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 437, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{4, program};
    REQUIRE(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
    REQUIRE(::syscall(437, -1, "", nullptr, 0) == -1);
    REQUIRE(errno == ENOSYS);
}
#endif

/// Runs the body with the kernel's openat2, where there is one, and again without.
template <class Body>
void both_ways(Body&& body) {
    SUBCASE("with the kernel's openat2") { body(); }
#if defined(__linux__)
    SUBCASE("name by name") {
        std::exception_ptr failure;
        std::thread{[&] {
            try {
                take_openat2_away();
                body();
            } catch (...) {
                failure = std::current_exception();
            }
        }}.join();
        if (failure) std::rethrow_exception(failure);
    }
#endif
}

template <class T>
std::string why(const bailey::Result<T>& result) {
    return result ? "it worked" : result.error().what();
}

bool found(const bailey::Result<bool>& result) { return result && *result; }

}  // namespace

TEST_CASE("write_text writes nothing that the host would run by itself") {
    TempDir root;
    REQUIRE(host("git init -q " + root.path() + " && mkdir " + root.path() + "/sub") == 0);
    const auto before = read(root / ".git/config");
    const auto workspace = support::workspace<>(root.path());
    for (const char* path : {".git/hooks/pre-commit", ".git/config", ".git/commondir", ".bashrc", "sub/.git", ".gitmodules", "./.git/../.git/config"}) {
        CAPTURE(path);
        CHECK_THROWS_AS(workspace.write_text(path, "gitdir: /tmp/elsewhere\n"), bailey::PolicyError);
    }
    CHECK(read(root / ".git/config") == before);
    CHECK_FALSE(fs::exists(root / ".git/commondir"));
    CHECK_FALSE(fs::exists(root / ".bashrc"));
    CHECK_FALSE(fs::exists(root / "sub/.git"));
    workspace.write_text("sub/notes.md", "text");
    CHECK(workspace.read_text("sub/notes.md") == "text");
}

TEST_CASE("denied is denied here too, with the rule") {
    TempDir root;
    write(root / ".env", "KEY=abc");
    const auto workspace = support::workspace(root.path(), bailey::ReadPolicy<bailey::Deny<".env">>{}, bailey::WritePolicy<bailey::Deny<"lock.json">>{});
    const auto read_env = workspace.try_read_text(".env");
    REQUIRE_FALSE(read_env.has_value());
    CHECK(std::string_view{read_env.error().what()}.find(".env") != std::string_view::npos);
    CHECK_FALSE(workspace.try_write_text(".env", "x").has_value());
    CHECK_FALSE(workspace.try_write_text("lock.json", "x").has_value());
    CHECK(read(root / ".env") == "KEY=abc");
    CHECK_FALSE(support::workspace(root.path(), bailey::ReadOnly{}).try_write_text("new", "x").has_value());
    CHECK_FALSE(fs::exists(root / "new"));
}

TEST_CASE("bytes, names and modes stay what they are") {
    TempDir root;
    const auto workspace = support::workspace<>(root.path());
    const std::string bytes{"a\0b\xff\n", 5};
    for (const char* name : {"plain", "with space", "日本", "new\nline", "-dash", "[x]"}) {
        workspace.write_text(name, bytes);
        CHECK(workspace.read_text(name) == bytes);
        CHECK(read(root / name) == bytes);
    }
    REQUIRE(host("chmod 750 " + (root / "plain")) == 0);
    workspace.write_text("plain", "new");
    CHECK(host_output("stat -c %a " + (root / "plain")) == "750\n");
    CHECK(workspace.read_text(root / "plain") == "new");  // an absolute path inside
    CHECK_FALSE(workspace.try_read_text("missing").has_value());
    CHECK_FALSE(workspace.try_read_text("").has_value());
}

TEST_CASE("what is there is listed, looked for and removed") {
    both_ways([] {
        TempDir root;
        write(root / "b", "x");
        REQUIRE(host("mkdir -p " + root.path() + "/a/deep && ln -s /etc/passwd " + root.path() + "/link") == 0);
        const auto workspace = support::workspace<>(root.path());
        CHECK(workspace.list() == std::vector<std::string>{"a/", "b", "link"});
        CHECK(workspace.list("a/") == std::vector<std::string>{"deep/"});
        CHECK(workspace.list(root.path()) == workspace.list("."));
        CHECK(workspace.list("a/deep").empty());
        for (const char* path : {"b", "a", "a/deep", "link", "."}) CHECK(workspace.exists(path));
        for (const char* path : {"c", "a/c", "c/c", "b/c"}) CHECK_FALSE(workspace.exists(path));

        CHECK(why(workspace.try_remove("a")) == "bailey: cannot remove \"a\": Directory not empty");
        CHECK(why(workspace.try_remove("c")) == "bailey: cannot remove \"c\": No such file or directory");
        CHECK(why(workspace.try_remove(".")).find("is the root itself") != std::string::npos);
        // A path that ends in "/" is that of a directory, as the kernel has it.
        for (const char* path : {"b/", "link/", "b/.", "c/"}) CHECK_FALSE(workspace.exists(path));
        for (const char* path : {"a/", "a/deep/.", "./"}) CHECK(workspace.exists(path));
        CHECK(why(workspace.try_remove("b/")) == "bailey: cannot remove \"b/\": it, or what it leads through, is no directory");
        CHECK(why(workspace.try_remove("link/")) == "bailey: cannot remove \"link/\": it, or what it leads through, is no directory");
        CHECK(why(workspace.try_remove("c/")) == "bailey: cannot remove \"c/\": No such file or directory");
        CHECK(why(workspace.try_read_text("b/")) == "bailey: the path \"b/\" names a directory; name a file in it");
        CHECK(why(workspace.try_write_text("new/", "x")) == "bailey: the path \"new/\" names a directory; name a file in it");
        for (const char* path : {"a/deep", "a/", "b", "link"}) workspace.remove(path);
        CHECK(workspace.list().empty());
        CHECK(fs::exists("/etc/passwd"));
    });
}

TEST_CASE("no name is a link, none leads outside") {
    both_ways([] {
        TempDir root, outside;
        write(outside / "file", "original");
        REQUIRE(host("cd " + root.path() + " && mkdir d && ln -s " + outside.path() + " up && ln -s ../d d/loop && ln -s " + outside.path() + "/file link") == 0);
        const auto workspace = support::workspace<>(root.path());
        for (const std::string path : {"up/file", "link", "d/loop/file"}) {
            CAPTURE(path);
            const std::string quoted = "\"" + path + "\": it is a symlink, or leads through one";
            CHECK(why(workspace.try_read_text(path)) == "bailey: cannot read " + quoted);
            CHECK(why(workspace.try_write_text(path, "x")) == "bailey: cannot write " + quoted);
            CHECK(why(workspace.try_list(path)) == "bailey: cannot list " + quoted);
            if (path == "link") continue;  // a link can be seen and removed; what it leads to cannot
            CHECK(why(workspace.try_exists(path)) == "bailey: cannot look for " + quoted);
            CHECK(why(workspace.try_remove(path)) == "bailey: cannot remove " + quoted);
        }
        for (const std::string& path : std::vector<std::string>{"../x", "d/../../x", "/etc/passwd", outside / "file", root.path() + "x/file", std::string{"a\0b", 3}, std::string{}}) {
            CAPTURE(path);
            CHECK(why(workspace.try_read_text(path)).find("name a file inside the workspace") != std::string::npos);
            CHECK(why(workspace.try_write_text(path, "x")).find("name a file inside the workspace") != std::string::npos);
            CHECK(why(workspace.try_list(path)).find("name a file inside the workspace") != std::string::npos);
            CHECK(why(workspace.try_exists(path)).find("name a file inside the workspace") != std::string::npos);
            CHECK(why(workspace.try_remove(path)).find("name a file inside the workspace") != std::string::npos);
        }
        CHECK(read(outside / "file") == "original");
    });
}

TEST_CASE("a denied path is denied in every way, with the rule") {
    both_ways([] {
        TempDir root;
        REQUIRE(host("cd " + root.path() + " && mkdir -p keys/old ci/empty kept && echo k > keys/a && echo c > ci/job") == 0);
        const auto workspace = support::workspace(root.path(), bailey::ReadPolicy<bailey::Deny<"keys", "kept/later">>{}, bailey::WritePolicy<bailey::Deny<"ci">>{});
        const std::string keys = ": the read denial \"" + (root / "keys") + "\"", ci = ": the write denial \"" + (root / "ci") + "\"";
        CHECK(why(workspace.try_read_text("keys/a")) == "bailey: reading \"" + (root / "keys/a") + "\" is denied" + keys);
        CHECK(why(workspace.try_list("keys")) == "bailey: listing \"" + (root / "keys") + "\" is denied" + keys);
        CHECK(why(workspace.try_exists("keys/a")) == "bailey: looking for \"" + (root / "keys/a") + "\" is denied" + keys);
        CHECK(why(workspace.try_exists("./keys//b")) == "bailey: looking for \"" + (root / "keys/b") + "\" is denied" + keys);
        CHECK(why(workspace.try_remove("keys/old")) == "bailey: removing \"" + (root / "keys/old") + "\" is denied" + keys);
        CHECK(why(workspace.try_write_text("ci/new", "x")) == "bailey: writing \"" + (root / "ci/new") + "\" is denied" + ci);
        CHECK(why(workspace.try_remove("ci/empty")) == "bailey: removing \"" + (root / "ci/empty") + "\" is denied" + ci);
        CHECK(why(workspace.try_remove("kept")) == "bailey: removing \"" + (root / "kept") + "\" is denied: the read denial \"" + (root / "kept/later") + "\"");
        CHECK(workspace.read_text("ci/job") == "c\n");
        CHECK(workspace.list("ci") == std::vector<std::string>{"empty/", "job"});
    });
}

TEST_CASE("nothing is removed that a command could not remove") {
    TempDir root;
    REQUIRE(host("git init -q " + root.path() + " && touch " + root.path() + "/.bashrc && mkdir -p " + root.path() + "/.claude/commands " + root.path() + "/free") == 0);
    const auto workspace = support::workspace<>(root.path());
    for (const std::string path : {".git/config", ".git/hooks", ".bashrc", ".claude/commands", ".git/hooks/pre-commit.sample"}) {
        CAPTURE(path);
        CHECK(why(workspace.try_remove(path)).find("bailey: removing \"" + (root / path) + "\" is refused: ") == 0);
        const auto result = workspace.run("rm -r " + path);
        CHECK(result.exit_code != 0);
    }
    CHECK(fs::exists(root / ".claude/commands"));
    workspace.remove("free");
    const auto narrow = support::workspace(root.path(), bailey::ReadOnly{});
    write(root / "file", "");
    CHECK(why(narrow.try_remove("file")) == "bailey: removing \"" + (root / "file") + "\" is denied: ReadOnly");
    CHECK(why(narrow.try_write_text("file", "x")) == "bailey: writing \"" + (root / "file") + "\" is denied: ReadOnly");
}

TEST_CASE("what a running command has planted is no fault of the host's own change, and is told by the command's result") {
    TempDir root;
    fs::create_directory(root / "d");
    const auto workspace = support::workspace<>(root.path());
    auto running = workspace.spawn("echo evil >.bashrc; echo evil >d/.zshrc; touch planted; until [ -e go ]; do sleep 0.05; done", {.timeout = 60s});
    REQUIRE(comes_true([&] { return !running.wait_for(20ms) && fs::exists(root / "planted"); }));
    workspace.write_text("notes.md", "x");
    CHECK(read(root / "notes.md") == "x");
    CHECK_FALSE(fs::exists(root / ".bashrc"));  // in quarantine already
    CHECK(why(workspace.try_write_text("d/.zshrc", "x")).find("writing \"" + (root / "d/.zshrc") + "\" is refused") != std::string::npos);  // its own
    workspace.write_text("go", "");
    const auto result = running.wait();
    INFO(shown(result));
    std::vector<std::string> planted;
    for (const auto& violation : result.violations) planted.push_back(violation.subject);
    std::sort(planted.begin(), planted.end());
    CHECK(planted == std::vector<std::string>{root / ".bashrc", root / "d/.zshrc"});
    CHECK(workspace.run("true").violations.empty());
}

TEST_CASE("write_text does not go behind a link that the host's tools follow") {
    TempDir root;
    write(root / "rc", "# mine\n");
    REQUIRE(host("ln -s rc " + (root / ".bashrc")) == 0);
    const auto workspace = support::workspace<>(root.path());
    CHECK_FALSE(workspace.try_write_text("rc", "evil\n").has_value());
    CHECK_FALSE(workspace.try_remove("rc").has_value());
    CHECK(workspace.run("echo evil > rc").exit_code != 0);
    CHECK(read(root / ".bashrc") == "# mine\n");
}

TEST_CASE("names that are no UTF-8, depths that no single call takes") {
    both_ways([] {
        TempDir root;
        const auto workspace = support::workspace<>(root.path());
        const std::string odd = "\xff\xfe\x01 '";
        workspace.write_text(odd, "x");
        CHECK(workspace.read_text(odd) == "x");
        CHECK(workspace.list() == std::vector<std::string>{odd});
        CHECK(workspace.exists(odd));
        workspace.remove(odd);
        CHECK(workspace.list().empty());

        const std::string name(250, 'n');
        std::string deep;
        int directory = ::open(root.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (int i = 0; i < 20; ++i) {  // 5000 bytes: longer than PATH_MAX
            REQUIRE(::mkdirat(directory, name.c_str(), 0755) == 0);
            const int next = ::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            ::close(directory);
            directory = next;
            deep += name + "/";
        }
        ::close(directory);
        workspace.write_text(deep + "file", "deep");
        CHECK(workspace.read_text(deep + "file") == "deep");
        CHECK(workspace.list(deep) == std::vector<std::string>{"file"});
        workspace.remove(deep + "file");
        CHECK_FALSE(workspace.exists(deep + "file"));
    });
}

TEST_CASE("sizes are bounded, and nothing is waited for") {
    both_ways([] {
        TempDir root;
        const auto workspace = support::workspace<>(root.path());
        REQUIRE(host("cd " + root.path() + " && truncate -s 64M most && truncate -s 67108865 more && mkfifo fifo && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'") == 0);
        CHECK(workspace.read_text("most").size() == 64 * 1024 * 1024);
        CHECK(why(workspace.try_read_text("more")) == "bailey: cannot read \"more\": it has more than the 67108864 bytes that are read at once");
        CHECK(why(workspace.try_read_text("fifo")) == "bailey: cannot read \"fifo\": it is not a regular file");
        CHECK(why(workspace.try_read_text("socket")) == "bailey: cannot read \"socket\": it is a FIFO, a socket or a device");
        CHECK(why(workspace.try_read_text(".")) == "bailey: the path \".\" names a directory; name a file in it");
        for (const char* path : {"fifo", "socket"}) CHECK_FALSE(workspace.try_write_text(path, "x").has_value());
        if (::mknod((root / "null").c_str(), S_IFCHR | 0666, 0x103) == 0) {  // as root; in a container not even then
            CHECK_FALSE(workspace.try_read_text("null").has_value());
            CHECK_FALSE(workspace.try_write_text("null", "x").has_value());
        }
    });
}

TEST_CASE("F05 a running command that swaps directories for symlinks leads nobody outside") {
    both_ways([] {
        TempDir root, outside;
        write(outside / "file", "original");
        write(outside / "only-outside", "");
        REQUIRE(host("mkdir " + root.path() + "/d && echo inside > " + root.path() + "/d/file") == 0);
        const auto workspace = support::workspace<>(root.path());
        auto swapper = workspace.spawn("ln -s " + outside.path() + " evil; echo up; while :; do mv -T d t; mv -T evil d; mv -T d evil; mv -T t d; done", {.timeout = 120s});
        std::atomic<bool> done{false};
        std::thread driver{[&] {
            while (!done) swapper.wait_for(20ms);
        }};
        while (!found(workspace.try_exists("evil"))) ::usleep(10'000);
        int inside = 0, refused = 0;
        for (int round = 0; round < 2000; ++round) {
            if (const auto content = workspace.try_read_text("d/file")) {
                CHECK(*content != "original");
                ++inside;
            } else {
                ++refused;
            }
            if (const auto names = workspace.try_list("d")) CHECK(std::find(names->begin(), names->end(), "only-outside") == names->end());
            CHECK_FALSE(found(workspace.try_exists("d/only-outside")));
            (void)workspace.try_remove("d/only-outside");
            (void)workspace.try_write_text("d/file", "inside\n");
        }
        done = true;
        driver.join();
        swapper.stop();
        (void)swapper.wait();
        CHECK(read(outside / "file") == "original");
        CHECK(fs::exists(outside / "only-outside"));
        CHECK(std::distance(fs::directory_iterator{outside.path()}, fs::directory_iterator{}) == 2);
        MESSAGE("read inside " << inside << " times, refused " << refused << " times");
        CHECK(inside > 0);
        CHECK(refused > 0);  // the swap was seen
    });
}
