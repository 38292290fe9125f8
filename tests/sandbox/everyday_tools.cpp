// Guarantee 12: git, mktemp, compilers, make, cmake, python and node work in a default workspace, with HOME = its root.
#include "support.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

using namespace support;

namespace {

const std::string identity = "export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@e.x GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@e.x; ";

/// On the host, without any configuration of its user's.
int host_git(const std::string& command) { return host("export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1; " + identity + command + " >/dev/null 2>&1"); }

}  // namespace

TEST_CASE("G01 G02 git init, status, config, add, commit and log, with HOME the root") {
    TempDir root;
    const auto space = workspace(root.path());
    const auto result = space.run("set -e; test \"$HOME\" = \"$PWD\"; git init -q .; git status --porcelain; git config user.email a@b.c; git config user.name t; echo x > f; git add .; "
                                  "git commit -qm m; git -c user.name=t -c user.email=t@e.x commit --allow-empty -qm two; git log --format=%s; git branch b; git checkout -q b; git diff --stat HEAD~1; git status --porcelain");
    INFO(shown(result));
    CHECK(result.exit_code == 0);
    CHECK(result.out == "two\nm\n");
    // It is a repository for the next command and for the host, too.
    CHECK(space.run("git log --oneline | wc -l && git status --porcelain && git add -A && git commit --allow-empty -qm three").exit_code == 0);
    CHECK(host_output("git -C " + root.path() + " log --format=%s | head -1") == "three\n");
}

TEST_CASE("git clone, submodules, stash, worktree and rebase of local repositories") {
    TempDir root;
    const auto result = workspace(root.path()).run(identity + R"sh(set -e
        git init -q lib; cd lib; echo a > a; git add .; git commit -qm lib; cd ..
        git clone -q lib copy; cd copy; git -c protocol.file.allow=always submodule --quiet add ../lib sub; git commit -qm sub; echo b >> a; git stash -q; git stash pop -q; git commit -qam b
        git checkout -q -b side HEAD~1; echo c > c; git add .; git commit -qm c; git rebase -q master 2>/dev/null || git rebase -q main; git worktree add -q ../tree HEAD~1; cd ../tree; git status --porcelain; git log --format=%s)sh");
    INFO(shown(result));
    CHECK(result.exit_code == 0);
    CHECK(result.out == "b\nsub\nlib\n");
}

TEST_CASE("G03 G05 what git could not write into a repository's protected configuration is said") {
    TempDir root, remote{"bailey-remote"};
    REQUIRE(host_git("git init -q --bare " + remote.path() + " && cd " + root.path() + " && git init -q . && git commit -q --allow-empty -m m && git remote add origin " + remote.path()) == 0);
    const auto space = workspace(root.path(), bailey::runtime::AllowWrite{remote.path()});
    for (const std::string command : {"git config user.name t", "git remote add o R", "git push -q -u origin HEAD"}) {
        const auto result = space.run(command);
        INFO(command << shown(result));
        REQUIRE(result.violations.size() == 1);
        CHECK(result.violations[0].kind == bailey::ViolationKind::file_write);
        CHECK(result.violations[0].subject == root / ".git/config");
        CHECK(result.violations[0].rule.find("protected") != std::string::npos);
        CHECK(result.ok() == command.starts_with("git push"));  // it pushed, and could not store what it tracks
    }
    CHECK(host_git("git -C " + remote.path() + " rev-parse -q --verify HEAD") == 0);
}

TEST_CASE("G04 push to a local bare remote that is granted") {
    TempDir root, remote{"bailey-remote"};
    REQUIRE(host_git("git init -q --bare " + remote.path() + " && cd " + root.path() + " && git init -q . && git commit -q --allow-empty -m m && git remote add origin " + remote.path()) == 0);
    const auto result = workspace(root.path(), bailey::runtime::AllowWrite{remote.path()}).run("git push -q origin HEAD:main");
    INFO(shown(result));
    CHECK(result.exit_code == 0);
    CHECK(host_output("git -C " + remote.path() + " log --format=%s main") == "m\n");
    // Without the grant there is nothing there to push to.
    CHECK(workspace(root.path()).run("git push -q origin HEAD:other").exit_code != 0);
    CHECK(host_git("git -C " + remote.path() + " rev-parse --verify -q other") != 0);
}

TEST_CASE("G07 a linked worktree says which repository must be granted, and works once it is") {
    TempDir place;
    REQUIRE(host_git("cd " + place.path() + " && git init -q M && cd M && git commit -q --allow-empty -m m && git worktree add -q ../W && git worktree add -q ../X") == 0);
    const auto command = identity + "echo x > f && git add f && git commit -qm m2 && git status --porcelain";
    const auto alone = workspace(place / "W");
    CHECK(alone.explain().find("git will not work") != std::string::npos);
    CHECK(alone.explain().find("\"" + (place / "M/.git") + "\"") != std::string::npos);
    CHECK(alone.run(command).exit_code != 0);
    const auto granted = workspace(place / "W", bailey::runtime::AllowWrite{place / "M/.git"});
    CHECK(granted.explain().find("git will not work") == std::string::npos);
    const auto result = granted.run(command);
    INFO(shown(result));
    CHECK(result.exit_code == 0);
    CHECK(result.violations.empty());
    CHECK(host_output("git -C " + (place / "M") + " log --format=%s W") == "m2\nm\n");
    // The grant is for the work, not for its settings.
    CHECK(granted.run("git config core.fsmonitor x").exit_code != 0);
}

TEST_CASE("G11 eight workspaces commit at once, each in a worktree of one repository") {
    TempDir place;
    REQUIRE(host_git("cd " + place.path() + " && git init -q M && cd M && git commit -q --allow-empty -m m && for i in 0 1 2 3 4 5 6 7; do git worktree add -q ../W$i || exit 1; done") == 0);
    std::vector<bailey::CommandResult> results(8);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < results.size(); ++i)
        threads.emplace_back([&, i] { results[i] = workspace(place / ("W" + std::to_string(i)), bailey::runtime::AllowWrite{place / "M/.git"}).run(identity + "echo x > f && git add f && git commit -qm $PPID", {.timeout = 120s}); });
    for (auto& thread : threads) thread.join();
    for (const auto& result : results) {
        INFO(shown(result));
        CHECK(result.exit_code == 0);
        CHECK(result.violations.empty());
    }
    CHECK(host_output("cd " + (place / "M") + " && for i in 0 1 2 3 4 5 6 7; do git log --oneline W$i | wc -l; done | sort -u") == "2\n");
    CHECK(host_output("find " + place.path() + " -name '*.lock'").empty());
}

TEST_CASE("G13 git never waits for an editor") {
    TempDir root;
    REQUIRE(host_git("cd " + root.path() + " && git init -q . && git commit -q --allow-empty -m a && git commit -q --allow-empty -m b && git checkout -q -b x HEAD~1 && git commit -q --allow-empty -m c") == 0);
    const auto space = workspace(root.path());
    const auto began = std::chrono::steady_clock::now();
    const auto result = space.run(identity + "git commit --allow-empty; echo $?; git rebase -i HEAD~1; echo $?; git merge --no-ff -; echo $?", {.timeout = 120s});
    INFO(shown(result));
    CHECK(result.outcome == bailey::Outcome::exited);
    CHECK(std::chrono::steady_clock::now() - began < 100s);
    CHECK(result.out.find("0\n") != 0);  // the first, at least, wanted an editor
}

TEST_CASE("F23 mktemp, python's tempfile and a private TMPDIR") {
    TempDir root;
    const auto result = workspace(root.path()).run("f=$(mktemp) && echo x>$f && cat $f; d=$(mktemp -d) && test -d $d && python3 -c 'import tempfile, os; print(tempfile.gettempdir() == os.environ[\"TMPDIR\"])'; "
                                                   "stat -c '%a %u' \"$TMPDIR\"; case $f in \"$TMPDIR\"/*) echo beneath;; esac");
    INFO(shown(result));
    CHECK(result.exit_code == 0);
    CHECK(result.out == "x\nTrue\n700 " + std::to_string(::geteuid()) + "\nbeneath\n");
}

TEST_CASE("B01 gcc and make -j3; B02 cmake") {
    TempDir root;
    write(root / "hello.c", "#include <stdio.h>\nint one(void); int two(void);\nint main(void) { printf(\"%d\\n\", one() + two()); return 0; }\n");
    write(root / "one.c", "int one(void) { return 1; }\n");
    write(root / "two.c", "int two(void) { return 2; }\n");
    write(root / "Makefile", "hello: hello.o one.o two.o\n\t$(CC) -o $@ $^\nclean:\n\trm -f *.o hello\n");
    write(root / "CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(hello C)\nadd_executable(x hello.c one.c two.c)\n");
    const auto space = workspace(root.path());
    const auto made = space.run("make -s -j3 && ./hello", {.timeout = 120s});
    INFO(shown(made));
    CHECK(made.exit_code == 0);
    CHECK(made.out == "3\n");
    const auto built = space.run("cmake -S . -B b >/dev/null && cmake --build b -j4 >/dev/null && b/x", {.timeout = 120s});
    INFO(shown(built));
    CHECK(built.exit_code == 0);
    CHECK(built.out == "3\n");
}

TEST_CASE("python's venv, and node") {
    TempDir root;
    const auto space = workspace(root.path());
    const auto python = space.run("python3 -m venv v && . v/bin/activate && python -c 'import sys; print(sys.prefix)' && pip --version >/dev/null && python -m unittest -q </dev/null 2>&1 | tail -1", {.timeout = 120s});
    INFO(shown(python));
    CHECK(python.exit_code == 0);
    CHECK(python.out.starts_with((root / "v") + "\n"));
    const auto node = space.run_argv({environment("BAILEY_NODE"), "-e",
                                      "const fs = require('fs'), os = require('os'), cp = require('child_process'); fs.writeFileSync('made', os.homedir()); fs.mkdtempSync(os.tmpdir() + '/x');"
                                      "console.log(cp.execSync('cat made').toString(), new (require('worker_threads').Worker)('1', {eval: true}) && 'worker')"});
    INFO(shown(node));
    CHECK(node.exit_code == 0);
    CHECK(node.out == root.path() + " worker\n");
}

TEST_CASE("B03 meson and ninja; Q08 a locale of UTF-8; B08 java is told of the proxy") {
    TempDir root;
    write(root / "meson.build", "project('p', 'c')\nexecutable('x', 'x.c')\n");
    write(root / "x.c", "int main(void) { return 0; }\n");
    const auto space = workspace(root.path());
    const auto built = space.run("meson setup b >/dev/null && meson compile -C b >/dev/null && b/x", {.timeout = 120s});
    INFO(shown(built));
    CHECK(built.exit_code == 0);
    const auto spoken = space.run("python3 -c \"print('é日')\" && touch é日 && ls é* && printf 'b\\nB\\na\\n' | sort | tr -d '\\n' && echo && echo \"$JAVA_TOOL_OPTIONS\" | grep -c javaagent");
    INFO(shown(spoken));
    CHECK(spoken.out == "é日\né日\nBab\n1\n");
}

TEST_CASE("B04 a cache that lies outside is named; B07 npm without network ends soon and says what it wanted") {
    TempDir root;
    const auto space = workspace(root.path(), bailey::EnvValue<"XDG_CACHE_HOME", "/usr/share">{});
    const auto cached = space.run("echo x > $XDG_CACHE_HOME/x");
    INFO(shown(cached));
    REQUIRE(cached.violations.size() == 1);
    CHECK(cached.violations[0].subject == "/usr/share/x");

    const auto npm = space.run("npm init -y >/dev/null && npm ls && npm install --fetch-retries=0 --registry=https://registry.example/ left-pad", {.timeout = 60s});
    INFO(shown(npm));
    CHECK(npm.outcome == bailey::Outcome::exited);
    CHECK(npm.exit_code != 0);
    const auto wanted = [](const auto& violation) { return violation.kind == bailey::ViolationKind::network && violation.subject == "registry.example:443"; };
    CHECK(std::count_if(npm.violations.begin(), npm.violations.end(), wanted) == 1);
}
