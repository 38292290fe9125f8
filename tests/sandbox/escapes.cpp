// Ways out of the workspace by links and renames, for the command and for the host's own access on its behalf.
#include "inside.hpp"
#include "support.hpp"

#include <atomic>
#include <thread>

#include <sys/stat.h>

using namespace support;

namespace {

/// A directory that no default grant covers.
struct Outside : TempDir {
    Outside() : TempDir{"bailey-outside"}, victim{*this / "victim"} { write(victim, "original"); }
    [[nodiscard]] bool untouched() const { return read(victim) == "original" && host_output("ls -A " + path()) == "victim\n"; }
    std::string victim;
};

template <class Space>
void refuses_read(const Space& space, std::string_view path, bailey::ErrorCode code = bailey::ErrorCode::policy) {
    CAPTURE(std::string{path});
    const auto result = space.try_read_text(path);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code() == code);
    CHECK_FALSE(holds(result.error().what(), "original"));
}

template <class Space>
void refuses_write(const Space& space, std::string_view path, bailey::ErrorCode code = bailey::ErrorCode::policy) {
    CAPTURE(std::string{path});
    const auto result = space.try_write_text(path, "OWNED");
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code() == code);
}

}  // namespace

TEST_CASE("F03 F04 F07 no link, symbolic or hard, dangling or not, leads a write outside") {
    TempDir root;
    Outside outside;
    const auto space = workspace(root.path(), bailey::runtime::AllowRead{outside.path()});
    fs::create_symlink(outside.victim, root / "notes.md");
    fs::create_symlink(outside / "new", root / "draft");
    fs::create_directory_symlink(outside.path(), root / "dir");
    fs::create_symlink("../" + fs::path{outside.path()}.filename().string() + "/victim", root / "relative");
    const auto result = space.run(ask + "V=" + outside.victim + R"sh(
        try readable 'cat notes.md | grep -q original'
        try last 'echo OWNED > notes.md'; try append 'echo OWNED >> notes.md'; try relative 'echo OWNED > relative'
        try dangling 'echo x > draft'; try dir 'echo OWNED > dir/victim'; try new 'touch dir/new'; try remove 'rm -f dir/victim'; try move 'mv dir/victim .'
        try hard 'ln "$V" mine'; echo BAD > mine; try copylink 'cp -l "$V" mine2'; try through 'ln dir/victim mine3'
        try chmod 'chmod 777 notes.md'; try touch 'touch -d 2001-01-01 notes.md'; try truncate 'truncate -s 0 notes.md'
        try proc 'echo OWNED > /proc/self/root"$V"'; try cwdproc 'echo OWNED > /proc/self/cwd/notes.md')sh");
    INFO(shown(result));
    const Answers answers{result.out};
    CHECK(answers["readable"] == "yes");  // the links lead where they should
    for (const auto* way : {"last", "append", "relative", "dangling", "dir", "new", "remove", "move", "hard", "copylink", "through", "chmod", "touch", "truncate", "proc", "cwdproc"}) {
        CAPTURE(way);
        CHECK(answers[way] == "no");
    }
    CHECK(outside.untouched());
    CHECK(read(root / "mine") == "BAD\n");
}

TEST_CASE("F05 the host's own access follows no link that a command made") {
    TempDir root;
    Outside outside;
    const auto space = workspace(root.path());
    const auto planted = space.run("ln -s / escape; ln -s " + outside.victim + " file; ln -s " + outside.path() + " dir; mkdir real; echo inside > real/file; ln -s real/file near; "
                                   "ln -s real nearby; ln -s .. real/up; ln -s self self; ln -s " + (outside / "new") + " dangling; mkfifo fifo; echo ok > plain; ln -s /proc/self/environ env");
    REQUIRE(planted.exit_code == 0);
    REQUIRE(host("cat " + (root / "file") + " | grep -q original") == 0);

    CHECK(space.read_text("plain") == "ok\n");
    CHECK(space.read_text("real/file") == "inside\n");
    CHECK(space.read_text("./real//./file") == "inside\n");
    CHECK(space.read_text(root / "real/file") == "inside\n");

    const std::string nul{"plain\0x", 7};
    for (const std::string& path : {std::string{"escape/etc/hostname"}, std::string{"file"}, std::string{"dir/victim"}, std::string{"near"}, std::string{"nearby/file"}, std::string{"real/up/plain"},
                                    std::string{"self"}, std::string{"self/x"}, std::string{"env"}, std::string{"dangling"}, std::string{"../" + fs::path{outside.path()}.filename().string() + "/victim"},
                                    std::string{"real/../plain"}, std::string{"real/.."}, std::string{".."}, outside.victim, std::string{"/etc/hostname"}, root.path() + "x/plain", std::string{"/"}, root.path(),
                                    std::string{""}, std::string{"."}, nul, std::string{"fifo"}, std::string{"real"}, std::string{"plain/x"}}) {
        refuses_read(space, path);
        if (path != "real") refuses_write(space, path);
    }
    refuses_write(space, "real");
    refuses_read(space, "missing", bailey::ErrorCode::process);
    refuses_write(space, "missing/file", bailey::ErrorCode::process);
    CHECK(outside.untouched());
    CHECK(fs::is_symlink(root / "file"));
    CHECK(fs::is_fifo(root / "fifo"));

    space.write_text("plain", "new content");
    CHECK(read(root / "plain") == "new content");
    space.write_text("made", std::string{"\0\xff", 2});
    CHECK(space.read_text("made") == std::string{"\0\xff", 2});
    // A file under two names: the other name keeps what it had.
    fs::create_hard_link(root / "made", root / "second");
    space.write_text("made", "changed");
    CHECK(read(root / "second") == std::string{"\0\xff", 2});
    CHECK(host_output("ls -A " + root.path() + " | grep '^[.]'") == "");  // no draft is left
    CHECK_THROWS_AS((void)space.read_text("escape/etc/hostname"), bailey::PolicyError);
    CHECK_THROWS_AS(space.write_text("file", "OWNED"), bailey::PolicyError);
}

TEST_CASE("F05 nor one that is swapped in just now") {
    TempDir root;
    Outside outside;
    const auto space = workspace(root.path());
    fs::create_directory(root / "d");
    write(root / "d/victim", "inside");
    std::atomic<bool> over{false};
    std::thread swapper{[&] {
        while (!over) {
            (void)!::rename((root / "d").c_str(), (root / "aside").c_str());
            (void)!::symlink(outside.path().c_str(), (root / "d").c_str());
            ::unlink((root / "d").c_str());
            (void)!::rename((root / "aside").c_str(), (root / "d").c_str());
        }
    }};
    int inside = 0, refused = 0, wrong = 0;
    for (int i = 0; i < 20'000; ++i) {
        if (const auto text = space.try_read_text("d/victim")) {
            *text == "inside" ? ++inside : ++wrong;
        } else {
            ++refused;
        }
        if (i % 10 == 0 && !space.try_write_text("d/victim", "inside")) ++refused;
    }
    over = true;
    swapper.join();
    CHECK(wrong == 0);
    CHECK(inside > 0);
    CHECK(refused > 0);  // else nothing was swapped
    CHECK(outside.untouched());
}

TEST_CASE("F05 what is denied for commands is denied for the host's own access") {
    TempDir root;
    write(root / ".env", "KEY=abc");
    write(root / "lock.json", "{}");
    fs::create_directory(root / "secret");
    write(root / "secret/deep", "abc");
    const auto space = workspace(root.path(), bailey::ReadPolicy<bailey::Deny<".env", "secret">>{}, bailey::WritePolicy<bailey::Deny<"lock.json">>{});
    refuses_read(space, ".env");
    refuses_read(space, "./.env");
    refuses_read(space, root / ".env");
    refuses_read(space, "secret/deep");
    refuses_write(space, ".env");
    refuses_write(space, "lock.json");
    CHECK(space.read_text("lock.json") == "{}");
    refuses_write(workspace(root.path(), bailey::ReadOnly{}), "new");
    CHECK(read(root / "lock.json") == "{}");
}

TEST_CASE("F16 the root can be emptied, not moved or removed") {
    TempDir parent;
    const std::string root = parent / "W";
    fs::create_directory(root);
    write(root + "/file", "x");
    const auto space = workspace(root);
    const auto result = space.run("cd / && rm -rf \"$W\"; mv \"$W\" \"$W.x\" && echo moved; rmdir \"$W\" && echo removed; mkdir \"$W.y\"; true", {.env = {{"W", root}}});
    INFO(shown(result));
    CHECK(result.out == "");
    CHECK(fs::is_directory(root));
    CHECK(fs::is_empty(root));
    CHECK(host_output("ls -A " + parent.path()) == "W\n");
    CHECK(space.run("echo again > f && cat f").out == "again\n");
}

TEST_CASE("F18 a directory that a command removed is an invalid cwd, and the next run is fine") {
    TempDir root;
    Outside outside;
    const auto space = workspace(root.path());
    CHECK(space.run("mkdir d; touch file; ln -s " + outside.path() + " out; ln -s d link").exit_code == 0);
    CHECK(space.run("rmdir ../d; pwd; true", {.cwd = "d"}).exit_code == 0);
    for (const std::string& cwd : {std::string{"d"}, std::string{"file"}, std::string{"out"}, outside.path(), std::string{".."}, std::string{"/"}}) {
        const auto refused = space.try_run("touch pwn", {.cwd = cwd});
        CAPTURE(cwd);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().code() == bailey::ErrorCode::policy);
        CHECK(holds(refused.error().what(), "\"" + cwd + "\""));
    }
    CHECK_FALSE(fs::exists(root / "pwn"));
    fs::create_directory(root / "d");
    CHECK(space.run("pwd", {.cwd = "link"}).out == (root / "d") + "\n");
    CHECK(space.run("pwd", {.cwd = root / "d"}).out == (root / "d") + "\n");
    CHECK(space.run("pwd").out == root.path() + "\n");
}
