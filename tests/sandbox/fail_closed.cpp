// No command ever runs without its sandbox: whatever is missing, old, broken or hostile, the right error says the remedy.
#include "support.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sched.h>
#if defined(__linux__)
#include <sys/mount.h>
#endif
#include <sys/stat.h>
#include <sys/syscall.h>

using namespace support;
using bailey::ErrorCode;

namespace {

/// A workspace whose command would leave a file: the error is the right one, says the words, and the file is not there.
template <class... Ps>
void never_runs(const bailey::Tools& tools, ErrorCode code, std::initializer_list<std::string_view> words, const Ps&... policies) {
    TempDir root;
    auto space = workspace(root.path(), policies...);
    space.use(tools);
    const auto result = space.try_run("echo ran; touch made", {.timeout = 60s});
    REQUIRE_FALSE(result.has_value());
    INFO(result.error().what());
    CHECK(result.error().code() == code);
    CHECK(std::string_view{result.error().what()}.starts_with("bailey: "));
    for (const auto word : words) CHECK_MESSAGE(std::string_view{result.error().what()}.find(word) != std::string_view::npos, word);
    CHECK_FALSE(fs::exists(root / "made"));
    CHECK(fs::is_empty(root.path()));
}

/// An npm package that passes for srt: its cli.js is the test's.
class Package {
public:
    explicit Package(const std::string& cli, const std::string& version = "9.9.9", const std::string& engine = ">=18.0.0", const std::string& name = "@anthropic-ai/sandbox-runtime") {
        fs::create_directories(path() + "/dist");
        write(path() + "/package.json", R"({"name": ")" + name + R"(", "version": ")" + version + R"(", "type": "module", "engines": {"node": ")" + engine + R"("}})");
        write(path() + "/dist/cli.js", "#!/usr/bin/env node\n" + cli);
        fs::permissions(path() + "/dist/cli.js", fs::perms{0755});
    }
    [[nodiscard]] std::string path() const { return place_ / "node_modules/@anthropic-ai/sandbox-runtime"; }
    [[nodiscard]] std::string place() const { return place_.path(); }
    [[nodiscard]] bailey::Tools tools() const { return {.srt = path(), .node = environment("BAILEY_NODE")}; }

private:
    TempDir place_{"bailey-package"};
};

void script(const std::string& path, const std::string& body) {
    write(path, "#!/bin/sh\n" + body);
    fs::permissions(path, fs::perms{0755});
}

bailey::Tools with(std::string bailey::Tools::*member, std::string value) {
    auto changed = tools();
    changed.*member = std::move(value);
    return changed;
}

constexpr std::string_view install_srt = "npm install -g @anthropic-ai/sandbox-runtime@latest";
// What runs a command line given by -c as if there were no sandbox to be made.
const std::string unsandboxed = "import {spawnSync} from 'node:child_process';\n"
                                "const r = spawnSync('bash', ['-c', process.argv[process.argv.indexOf('-c') + 1]], {stdio: 'inherit'});\nprocess.exit(r.status);\n";
std::string real_srt(const std::string& before) {
    return before + "\nawait import('" + environment("BAILEY_SRT") + "/dist/cli.js');\n";
}

}  // namespace

TEST_CASE("the tools that the tests replace one by one work as they are") {
    TempDir root;
    CHECK(workspace(root.path()).run("touch made").ok());
    CHECK(fs::exists(root / "made"));
    // And so does a package that hands on to the real one: what is wrong below is what each test makes wrong.
    const Package honest{real_srt("")};
    CHECK(workspace(root.path()).use(honest.tools()).run("touch too").ok());
    CHECK(fs::exists(root / "too"));
}

TEST_CASE("C03 srt missing, not executable, a directory of something else, a shim") {
    never_runs(with(&bailey::Tools::srt, "/nonexistent/srt"), ErrorCode::srt_unavailable, {"/nonexistent/srt", install_srt});
    never_runs(with(&bailey::Tools::srt, "/usr"), ErrorCode::srt_unavailable, {"/usr", "Tools::srt"});

    const Package closed{unsandboxed};
    fs::permissions(closed.path() + "/dist/cli.js", fs::perms{0644});
    never_runs(with(&bailey::Tools::srt, closed.path() + "/dist/cli.js"), ErrorCode::srt_unavailable, {"not executable", install_srt});

    TempDir bin{"bailey-bin"};
    script(bin / "srt", "exec bash -c \"$3\"\n");
    never_runs(with(&bailey::Tools::srt, bin / "srt"), ErrorCode::srt_unavailable, {bin / "srt", "shim", "Tools::srt"});
    fs::copy_file("/bin/true", bin / "srt", fs::copy_options::overwrite_existing);
    never_runs(with(&bailey::Tools::srt, bin / "srt"), ErrorCode::srt_unavailable, {"Tools::srt"});
    fs::create_symlink("nothing", bin / "dangling");
    never_runs(with(&bailey::Tools::srt, bin / "dangling"), ErrorCode::srt_unavailable, {"dangling", install_srt});

    const Package renamed{unsandboxed, "9.9.9", ">=18.0.0", "@somebody/sandbox-runtime"};
    never_runs(renamed.tools(), ErrorCode::srt_unavailable, {"Tools::srt"});
    const Package empty{unsandboxed};
    fs::remove_all(empty.path() + "/dist");
    never_runs(empty.tools(), ErrorCode::srt_unavailable, {"dist/cli.js", install_srt});
}

TEST_CASE("C03 srt on no PATH") {
    REQUIRE_FALSE(fs::exists("/usr/local/bin/srt"));
    REQUIRE_FALSE(fs::exists("/usr/bin/srt"));
    const std::string before = std::getenv("PATH");
    ::setenv("PATH", "/nonexistent:bin:", 1);
    never_runs({}, ErrorCode::srt_unavailable, {"PATH", install_srt});
    ::setenv("PATH", before.c_str(), 1);
}

TEST_CASE("srt too old, by its package.json") {
    for (const std::string version : {"0.0.82", "0.0.9", "0.0.75-beta.99", "", "latest"}) {
        const Package old{unsandboxed, version};
        CAPTURE(version);
        never_runs(old.tools(), ErrorCode::srt_unavailable, {"too old", "0.0.83", install_srt});
    }
}

TEST_CASE("node missing, too old, a shim, no node at all") {
    never_runs(with(&bailey::Tools::node, "/nonexistent/node"), ErrorCode::srt_unavailable, {"/nonexistent/node", "Tools::node"});
    never_runs(with(&bailey::Tools::node, "/usr"), ErrorCode::srt_unavailable, {"node"});
    const Package demanding{unsandboxed, "9.9.9", ">=99.1.0"};  // the node that is here is too old for it
    never_runs(demanding.tools(), ErrorCode::srt_unavailable, {"node 2", "too old", "99.1.0", "Tools::node"});

    TempDir bin{"bailey-bin"};
    script(bin / "node", "exec bash -c \"$8\"\n");
    never_runs(with(&bailey::Tools::node, bin / "node"), ErrorCode::srt_unavailable, {"shim", "Tools::node"});
    fs::copy_file("/bin/bash", bin / "volta");
    fs::create_symlink("volta", bin / "node2");
    never_runs(with(&bailey::Tools::node, bin / "node2"), ErrorCode::srt_unavailable, {"shim", "Tools::node"});
    fs::copy_file("/bin/true", bin / "nodejs");
    never_runs(with(&bailey::Tools::node, bin / "nodejs"), ErrorCode::sandbox_start, {"did not start"});
}

TEST_CASE("T03 (b) bwrap, socat or rg missing: which one, and how to install it") {
    never_runs(with(&bailey::Tools::bwrap, "/nonexistent/bwrap"), ErrorCode::srt_unavailable, {"/nonexistent/bwrap", "apt-get install bubblewrap"});
    never_runs(with(&bailey::Tools::socat, "/nonexistent/socat"), ErrorCode::srt_unavailable, {"/nonexistent/socat", "apt-get install socat"});
    never_runs(with(&bailey::Tools::rg, "/nonexistent/rg"), ErrorCode::srt_unavailable, {"/nonexistent/rg", "apt-get install ripgrep"});
    never_runs(with(&bailey::Tools::rg, "/etc/passwd"), ErrorCode::srt_unavailable, {"/etc/passwd", "not an executable file"});
}

TEST_CASE("a bwrap that fails, does nothing, or sandboxes nothing") {
    TempDir bin{"bailey-bin"};
    script(bin / "fails", "echo 'bwrap: words of its own' >&2; exit 1\n");
    never_runs(with(&bailey::Tools::bwrap, bin / "fails"), ErrorCode::sandbox_start, {"words of its own", "never ran"});
    script(bin / "nothing", "exit 0\n");
    never_runs(with(&bailey::Tools::bwrap, bin / "nothing"), ErrorCode::sandbox_start, {"never ran"});
    script(bin / "open", "while [ $# -gt 0 ] && [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n");
    never_runs(with(&bailey::Tools::bwrap, bin / "open"), ErrorCode::sandbox_start, {"never ran"});
}

TEST_CASE("E11 a tool that the sandbox, or anybody, could rewrite") {
    using Member = std::string bailey::Tools::*;
    const std::pair<Member, std::string> programs[] = {
        {&bailey::Tools::node, "node"}, {&bailey::Tools::bwrap, "bwrap"}, {&bailey::Tools::socat, "socat"}, {&bailey::Tools::rg, "rg"}};
    for (const auto& program : programs) {
        const auto member = program.first;
        const auto& name = program.second;
        CAPTURE(name);
        TempDir granted{"bailey-granted"};
        fs::create_directory(granted / "bin");
        fs::copy_file("/bin/true", granted / "bin/" + name);
        never_runs(with(member, granted / "bin/" + name), ErrorCode::srt_unavailable, {name, "could be rewritten by the sandbox", granted.path()}, bailey::runtime::AllowWrite{granted.path()});
        // A link from outside to it is no better.
        TempDir bin{"bailey-bin"};
        fs::create_symlink(granted / "bin/" + name, bin / name);
        never_runs(with(member, bin / name), ErrorCode::srt_unavailable, {"could be rewritten by the sandbox"}, bailey::runtime::AllowWrite{granted.path()});
        // Nobody has granted it, but all may write there.
        fs::permissions(granted / "bin", fs::perms{0777});
        never_runs(with(member, granted / "bin/" + name), ErrorCode::srt_unavailable, {"any user of this machine", granted / "bin", "chmod o-w"});
    }
    TempDir root;
    fs::copy_file("/bin/true", root / "rg");
    auto space = workspace(root.path());
    const auto result = space.use(with(&bailey::Tools::rg, root / "rg")).try_run("touch made");
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code() == ErrorCode::srt_unavailable);
    CHECK_FALSE(fs::exists(root / "made"));

    const std::string in_tmp = "/tmp/bailey-rg-" + std::to_string(::getpid());
    fs::copy_file("/bin/true", in_tmp);
    never_runs(with(&bailey::Tools::rg, in_tmp), ErrorCode::srt_unavailable, {in_tmp, "could be rewritten by the sandbox"});
    fs::remove(in_tmp);
}

TEST_CASE("E11 srt inside a write grant, or with its modules there") {
    const Package package{unsandboxed};
    never_runs(package.tools(), ErrorCode::srt_unavailable, {"could be rewritten by the sandbox", "install it elsewhere"}, bailey::runtime::AllowWrite{package.place()});
    fs::create_directory(package.place() + "/node_modules/zod");
    never_runs(package.tools(), ErrorCode::srt_unavailable, {"could be rewritten", install_srt}, bailey::runtime::AllowWrite{package.place() + "/node_modules/zod"});
    fs::create_directories(package.path() + "/vendor");
    never_runs(package.tools(), ErrorCode::srt_unavailable, {"could be rewritten", install_srt}, bailey::runtime::AllowWrite{package.path() + "/vendor"});

    // As `npm install` in the workspace makes it, found by the link in .bin.
    TempDir root;
    fs::create_directories(root / "node_modules/.bin");
    fs::create_directories(root / "node_modules/@anthropic-ai");
    fs::copy(environment("BAILEY_SRT"), root / "node_modules/@anthropic-ai/sandbox-runtime", fs::copy_options::recursive);
    fs::create_symlink("../@anthropic-ai/sandbox-runtime/dist/cli.js", root / "node_modules/.bin/srt");
    for (const std::string srt : {"node_modules/.bin/srt", "node_modules/@anthropic-ai/sandbox-runtime"}) {
        const auto result = workspace(root.path()).use({.srt = root / srt, .node = environment("BAILEY_NODE")}).try_run("touch made");
        REQUIRE_FALSE(result.has_value());
        INFO(result.error().what());
        CHECK(result.error().code() == ErrorCode::srt_unavailable);
        CHECK(std::string_view{result.error().what()}.find("could be rewritten by the sandbox") != std::string_view::npos);
        CHECK_FALSE(fs::exists(root / "made"));
    }
}

TEST_CASE("C03 an srt that exits 0 without running anything, or fails in words, or dies, or hangs") {
    const Package silent{"process.exit(0);\n"};
    never_runs(silent.tools(), ErrorCode::sandbox_start, {"did not start", "never ran", "ended with 0"});
    const Package talking{"console.error('Error: words of its own'); process.exit(1);\n"};
    never_runs(talking.tools(), ErrorCode::sandbox_start, {"did not start", "never ran", "Error: words of its own"});
    const Package dying{"process.kill(process.pid, 'SIGKILL'); setTimeout(() => {}, 10000);\n"};
    never_runs(dying.tools(), ErrorCode::sandbox_start, {"did not start", "137"});
    const Package broken{"this is no JavaScript\n"};
    never_runs(broken.tools(), ErrorCode::sandbox_start, {"did not start", "SyntaxError"});
    const Package flooding{"import fs from 'node:fs'; const b = Buffer.alloc(65536, 'e'); for (let i = 0; i < 300; i++) fs.writeSync(2, b); fs.writeSync(2, '\\nthe last words\\n'); process.exit(1);\n"};
    never_runs(flooding.tools(), ErrorCode::sandbox_start, {"the last words"});

    const Package hanging{"setInterval(() => {}, 1000);\n"};
    TempDir root;
    const auto result = workspace(root.path()).use(hanging.tools()).run("touch made", {.timeout = 1s});
    CHECK(result.outcome == bailey::Outcome::timed_out);
    CHECK_FALSE(fs::exists(root / "made"));
}

TEST_CASE("C03 an srt that runs the command unsandboxed, or in a sandbox that is not ours") {
    const Package open{unsandboxed};
    never_runs(open.tools(), ErrorCode::sandbox_start, {"this is no sandbox", "never ran"});
    // The real one, but with settings that allow all.
    TempDir place{"bailey-settings"};
    write(place / "all.json", R"({"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["/"],"denyWrite":[]}})");
    const Package lenient{real_srt("process.argv[process.argv.indexOf('--settings') + 1] = '" + (place / "all.json") + "';")};
    never_runs(lenient.tools(), ErrorCode::sandbox_start, {"this is no sandbox", "never ran"});
}

TEST_CASE("T03 (a) settings that srt refuses") {
    TempDir place{"bailey-settings"};
    write(place / "bad.json", R"({"network": {}})");
    write(place / "broken.json", "{");
    for (const std::string name : {"bad.json", "broken.json", "missing.json"}) {
        const Package confused{real_srt("process.argv[process.argv.indexOf('--settings') + 1] = '" + (place / name) + "';")};
        CAPTURE(name);
        never_runs(confused.tools(), ErrorCode::sandbox_start, {"did not start", "Refusing to run", "never ran"});
    }
}

#if defined(__linux__)
bool into(const char* file, const std::string& text) {
    const bailey::process::Fd fd{::open(file, O_WRONLY | O_CLOEXEC)};
    return ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// In a process with namespaces of its own, where `prepare` has changed them: no sandbox starts, and the error has both texts.
template <class Prepare>
void never_starts(int namespaces, Prepare&& prepare, std::string_view words, std::string_view remedy) {
    TempDir root;
    const auto tools = support::tools();
    const auto uid = std::to_string(::getuid()), gid = std::to_string(::getgid());
    // Not fork and unshare: a process with threads, such as a sanitizer's own, may not leave its user namespace.
    const auto host_process = static_cast<pid_t>(::syscall(SYS_clone, CLONE_NEWUSER | namespaces | SIGCHLD, nullptr, nullptr, nullptr, 0));
    REQUIRE(host_process >= 0);
    if (host_process == 0) {
        if (!into("/proc/self/setgroups", "deny") || !into("/proc/self/uid_map", uid + " " + uid + " 1") ||
            !into("/proc/self/gid_map", gid + " " + gid + " 1") || !prepare())
            ::_exit(90);
        try {
            bailey::Workspace<> space{root.path(), tools};
            (void)space.run("touch made");
            ::_exit(91);
        } catch (const bailey::SandboxStartError& error) {
            const std::string_view text = error.what();
            std::fprintf(stderr, "%s\n", error.what());
            ::_exit(text.find(words) != text.npos && text.find(remedy) != text.npos ? 0 : 92);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            ::_exit(93);
        }
    }
    int status = -1;
    ::waitpid(host_process, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK_FALSE(fs::exists(root / "made"));
}

TEST_CASE("user namespaces off: bwrap's words and the remedy come out, and the command never ran") {
    never_starts(0, [] { return into("/proc/sys/user/max_user_namespaces", "0"); }, "Creating new namespace failed", "sysctl -w user.max_user_namespaces");
}

TEST_CASE("a /proc that is covered in part, as in containers: the remedy is another") {
    const auto cover = [] { return ::mount("none", "/proc/bus", "tmpfs", MS_RDONLY, nullptr) == 0; };
    never_starts(CLONE_NEWNS, cover, "Can't mount proc", "mount -t proc proc /proc");
}
#endif

TEST_CASE("each failure is thrown as the type that its code names") {
    TempDir root;
    CHECK_THROWS_AS(workspace(root.path()).use(with(&bailey::Tools::srt, "/nonexistent")).run("true"), bailey::SrtUnavailableError);
    const Package silent{"process.exit(0);\n"};
    CHECK_THROWS_AS(workspace(root.path()).use(silent.tools()).run("true"), bailey::SandboxStartError);
    CHECK_THROWS_AS(workspace(root.path()).use(silent.tools()).spawn("true").wait(), bailey::SandboxStartError);
    CHECK_THROWS_AS(workspace(root.path()).run("true", {.cwd = "missing"}), bailey::PolicyError);
    CHECK_THROWS_AS(bailey::Workspace<>{root / "missing"}, bailey::PolicyError);
}

TEST_CASE("doctor says what is missing, and what works") {
    const auto broken = bailey::doctor(with(&bailey::Tools::socat, "/nonexistent/socat"));
    REQUIRE(broken.size() == 1);
    CHECK_FALSE(broken[0].ok);
    CHECK(broken[0].detail.find("apt-get install socat") != std::string::npos);
    const auto nothing = bailey::doctor({.srt = "/nonexistent/srt", .node = "/nonexistent/node", .bwrap = "/nonexistent/bwrap", .socat = "/nonexistent/socat", .rg = "/nonexistent/rg"});
    REQUIRE(nothing.size() == 1);
    const auto& all = nothing[0].detail;  // a line for each
    CHECK(std::count(all.begin(), all.end(), '\n') == 4);
    for (const std::string_view tool : {"bailey: srt ", "\nbailey: node ", "\nbailey: bwrap ", "\nbailey: socat ", "\nbailey: rg "}) CHECK(all.find(tool) != all.npos);
    const Package silent{"process.exit(0);\n"};
    const auto mute = bailey::doctor(silent.tools());
    REQUIRE(mute.size() == 2);
    CHECK(mute[0].ok);
    CHECK_FALSE(mute[1].ok);
    for (const auto& check : bailey::doctor(tools())) CHECK_MESSAGE(check.ok, check.detail);
}
