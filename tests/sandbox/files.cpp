// read_text and write_text: the host's own access on the agent's behalf is bound as commands are.
#include "support.hpp"

#include <atomic>
#include <thread>

using namespace support;

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

TEST_CASE("F05 a running command that swaps directories for symlinks leads nobody outside") {
    TempDir root, outside;
    write(outside / "file", "original");
    REQUIRE(host("mkdir " + root.path() + "/d && echo inside > " + root.path() + "/d/file") == 0);
    const auto workspace = support::workspace<>(root.path());
    auto swapper = workspace.spawn("ln -s " + outside.path() + " evil; cp -r d good; echo up; while :; do mv -T d t; mv -T evil d; mv -T d evil; mv -T t d; done", {.timeout = 60s});
    std::atomic<bool> done{false};
    std::thread driver{[&] {
        while (!done) swapper.wait_for(20ms);
    }};
    ::usleep(2'000'000);
    int inside = 0, refused = 0;
    for (int round = 0; round < 2000; ++round) {
        const auto content = workspace.try_read_text("d/file");
        if (content) {
            CHECK(*content != "original");
            ++inside;
        } else {
            ++refused;
        }
        (void)workspace.try_write_text("d/file", "inside\n");
    }
    done = true;
    driver.join();
    swapper.stop();
    (void)swapper.wait();
    CHECK(read(outside / "file") == "original");
    CHECK(fs::exists(outside / "file"));
    CHECK(std::distance(fs::directory_iterator{outside.path()}, fs::directory_iterator{}) == 1);
    MESSAGE("read inside " << inside << " times, refused " << refused << " times");
    CHECK(inside > 0);
    CHECK(refused > 0);  // the swap was seen
}
