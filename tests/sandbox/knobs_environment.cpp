// What a command is given: variables, byte for byte and for it alone, and limits. None of it steers what runs on the host.
#include "inside.hpp"

#include <deque>
#include <thread>

#include <sys/stat.h>

using namespace support;
using namespace bailey;
using namespace std::string_literals;

namespace {

std::string value_of(const CommandResult& result, const std::string& name) {
    std::string_view rest = result.out;
    while (!rest.empty()) {
        const auto entry = rest.substr(0, rest.find('\0'));
        rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
        if (entry.substr(0, entry.find('=')) == name) return std::string{entry.substr(name.size() + 1)};
    }
    return "(not set)";
}

const std::vector<std::string> nasty_values{
    "", " ", "a b", "line\nfeed\n", "\n", "'", "\"", "it's \"quoted\"", "$HOME `id` $(id) \\", "\\", "\\n", "!history!", "\t\r\x01\x1b[31m\x7f", "\xff\xfe\x80 not UTF-8",
    "日本", "=a=b", "-n", "'; touch injected; '", "a\\'b", "%s%n", std::string(100 * 1024, 'x'), std::string(60 * 1024, '\'')};

void plant(const std::string& path, const std::string& script) {
    fs::create_directories(fs::path{path}.parent_path());
    write(path, script);
    ::chmod(path.c_str(), 0755);
}

}  // namespace

TEST_CASE("EnvAllowlist: a name of the host's is passed through when it is allowed and set") {
    TempDir root;
    const HostVariable sha{"GITHUB_SHA", "0123abcd"}, ci{"BUILD_ID", "7"}, unset{"NOT_SET_HERE", nullptr};
    CHECK(value_of(workspace(root.path()).run("env -0"), "GITHUB_SHA") == "(not set)");
    const auto check = [](const CommandResult& result) {
        CHECK(value_of(result, "GITHUB_SHA") == "0123abcd");
        CHECK(value_of(result, "BUILD_ID") == "(not set)");
        CHECK(value_of(result, "NOT_SET_HERE") == "(not set)");
    };
    check(workspace(root.path(), EnvAllowlist<"GITHUB_SHA", "NOT_SET_HERE">{}).run("env -0"));
    check(workspace(root.path(), runtime::EnvAllowlist{"GITHUB_SHA", "NOT_SET_HERE"}).run("env -0"));

    const HostVariable term{"TERM", "xterm-256color"}, tmpdir{"TMPDIR", nullptr};
    const auto own = workspace(root.path(), EnvAllowlist<"TERM", "TMPDIR">{}).run("env -0");
    CHECK(value_of(own, "TERM") == "xterm-256color");  // the host's in the place of bailey's
    CHECK(value_of(own, "TMPDIR").starts_with("/"));   // which stays where the host has none
}

TEST_CASE("EnvCredential: a secret passes only by its own word") {
    TempDir root;
    const HostVariable token{"GH_TOKEN", "t0ken"};
    CHECK(value_of(workspace(root.path()).run("env -0"), "GH_TOKEN") == "(not set)");
    CHECK(holds(refusal(root.path(), runtime::EnvAllowlist{"GH_TOKEN"}), "EnvCredential"));
    const auto granted = workspace(root.path(), EnvCredential<"GH_TOKEN">{});
    CHECK(value_of(granted.run("env -0"), "GH_TOKEN") == "t0ken");
    CHECK(noted(granted.boundary(), "credential GH_TOKEN is passed through"));
    CHECK(value_of(workspace(root.path(), runtime::EnvCredential{"GH_TOKEN"}).run("env -0"), "GH_TOKEN") == "t0ken");
}

TEST_CASE("EnvValue, runtime::Env and RunOptions::env: the later wins, over the baseline and srt's own as well") {
    TempDir root;
    const HostVariable host{"A", "host"};
    const auto opened = workspace(root.path(), EnvAllowlist<"A">{}, EnvValue<"B", "policy">{}, EnvValue<"C", "policy">{}, EnvValue<"TERM", "xterm">{},
                                  EnvValue<"JAVA_TOOL_OPTIONS", "">{}, runtime::Env{{"C", "runtime"}, {"D", "runtime"}, {"HOME", "/tmp"}, {"D", "later"}});
    const auto result = opened.run("env -0", {.env = {{"D", "run"}, {"E", "run"}, {"E", "again"}, {"LANG", "C"}, {"PATH", "/usr/bin:/bin:/nowhere"}}});
    const std::map<std::string, std::string> expected{{"A", "host"}, {"B", "policy"}, {"C", "runtime"}, {"D", "run"}, {"E", "again"}, {"TERM", "xterm"},
                                                      {"HOME", "/tmp"}, {"LANG", "C"}, {"PATH", "/usr/bin:/bin:/nowhere"}, {"JAVA_TOOL_OPTIONS", ""}};
    for (const auto& variable : expected) {
        CAPTURE(variable.first);
        CHECK(value_of(result, variable.first) == variable.second);
    }
    const auto next = opened.run("env -0");
    CHECK(value_of(next, "D") == "later");
    CHECK(value_of(next, "E") == "(not set)");
}

TEST_CASE("names that cannot be set are refused by name, and the command never runs") {
    TempDir root;
    const auto opened = workspace(root.path());
    for (const auto& name : {"UID"s, "EUID"s, "PPID"s, "SHELLOPTS"s, "BASHOPTS"s, "IFS"s, "PWD"s, "BAILEY_X"s, "A=B"s, "1A"s, "A B"s, ""s, "A\nB"s, "A-B"s,
                             "BASH_FUNC_ls%%"s, "A\0B"s, "é"s}) {
        CAPTURE(name);
        const auto refused = opened.try_run("touch ran", {.env = {{name, "v4lue"}}});
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code() == ErrorCode::policy);
        CHECK_FALSE(holds(refused.error().what(), "v4lue"));
        CHECK(holds(refused.error().what(), "RunOptions::env"));
        CHECK(holds(refusal(root.path(), runtime::Env{{name, "v4lue"}}), "runtime::Env"));
    }
    const auto nul = opened.try_run("touch ran", {.env = {{"TOKEN_X", "v4lue\0more"s}}});
    REQUIRE_FALSE(nul);
    CHECK(holds(nul.error().what(), "TOKEN_X"));
    CHECK_FALSE(holds(nul.error().what(), "v4lue"));
    // The kernel passes on no string of more than 128 KiB: the command would not start, and look as if it had failed.
    const auto longest = std::string(128'000, 'x'), longer = longest + "x";
    CHECK(opened.run("echo ${#TOKEN_X}", {.env = {{"TOKEN_X", longest}}}).out == "128000\n");
    const auto too_long = opened.try_run("touch ran", {.env = {{"TOKEN_X", longer}}});
    REQUIRE_FALSE(too_long);
    CHECK(holds(too_long.error().what(), "TOKEN_X"));
    CHECK(holds(refusal(root.path(), runtime::Env{{"TOKEN_X", longer}}), "128 000"));
    CHECK_FALSE(fs::exists(root / "ran"));
}

TEST_CASE("Q05 values arrive byte for byte, by every way in") {
    TempDir root;
    std::vector<EnvironmentEntry> policy, run;
    for (std::size_t i = 0; i < nasty_values.size(); ++i) {
        policy.emplace_back("P" + std::to_string(i), nasty_values[i]);
        run.emplace_back("R" + std::to_string(i), nasty_values[i]);
    }
    const auto opened = workspace(root.path(), runtime::Env{policy}, EnvValue<"V", "it's $HOME\n\"`'\\">{});
    for (const auto& result : {opened.run("env -0", {.env = run}), opened.run_argv({"env", "-0"}, {.env = run})}) {
        CHECK(result.ok());
        for (std::size_t i = 0; i < nasty_values.size(); ++i) {
            CAPTURE(i);
            CHECK(value_of(result, "P" + std::to_string(i)) == nasty_values[i]);
            CHECK(value_of(result, "R" + std::to_string(i)) == nasty_values[i]);
        }
        CHECK(value_of(result, "V") == "it's $HOME\n\"`'\\");
    }
    CHECK_FALSE(fs::exists(root / "injected"));
}

TEST_CASE("E03 variables for the command never reach the launcher, whoever sets them") {
    TempDir root, outside;
    const auto pwn = outside / "pwn";
    write(root / "evil.js", "require('fs').writeFileSync('" + pwn + "', '')\n");
    write(root / "evil.sh", "touch '" + pwn + "' 2>/dev/null; echo sourced >>'" + (root / "log") + "'\n");
    write(root / "evil.c", "#include <fcntl.h>\n__attribute__((constructor)) static void loaded(void) { open(\"" + pwn + "\", O_CREAT | O_WRONLY, 0644); }\n"
                           "unsigned la_version(unsigned v) { return v; }\n");
    REQUIRE(host("gcc -shared -fPIC -o " + (root / "evil.so") + " " + (root / "evil.c")) == 0);
    const std::vector<EnvironmentEntry> hostile{
        {"NODE_OPTIONS", "--require " + (root / "evil.js")}, {"BASH_ENV", root / "evil.sh"}, {"ENV", root / "evil.sh"}, {"LD_PRELOAD", root / "evil.so"},
        {"LD_AUDIT", root / "evil.so"}, {"LD_LIBRARY_PATH", root.path()}, {"NODE_PATH", root.path()}, {"NODE_REPL_EXTERNAL_MODULE", root / "evil.js"},
        {"GCONV_PATH", root.path()}, {"PYTHONSTARTUP", root / "evil.py"}, {"PROMPT_COMMAND", "touch " + pwn}, {"PS4", "$(touch " + pwn + ")"},
        {"GIT_SSH_COMMAND", "touch " + pwn}, {"GIT_EXTERNAL_DIFF", root / "evil.sh"}, {"GIT_CONFIG_GLOBAL", root / "evil.sh"}, {"SHELL", root / "evil.sh"},
        {"TMPDIR", root.path()}, {"XDG_CONFIG_HOME", root.path()}, {"SRT_DEBUG", "1"}, {"CLAUDE_CODE_TMPDIR", outside.path()}, {"CLAUDE_TMPDIR", outside.path()},
        {"SRT_ALLOW_NESTED_USERNS", "1"}, {"NODE_EXTRA_CA_CERTS", root / "evil.js"}, {"NODE_V8_COVERAGE", outside / "coverage"}};
    // Each of the first four is a way in where it does reach a program on the host.
    for (const auto& way : {"NODE_OPTIONS='--require " + (root / "evil.js") + "' " + environment("BAILEY_NODE") + " -e 0", "BASH_ENV=" + (root / "evil.sh") + " bash -c true",
                            "LD_PRELOAD=" + (root / "evil.so") + " /bin/true"}) {
        host(way);
        REQUIRE_MESSAGE(fs::remove(pwn), way);
    }
    fs::remove(root / "log");

    const auto check = [&](const CommandResult& result, const std::string& how) {
        INFO(how, shown(result));
        CHECK(result.ok());
        CHECK(holds(result.out, "--require " + (root / "evil.js")));
        CHECK_FALSE(fs::exists(pwn));
        CHECK_FALSE(fs::exists(outside / "coverage"));
        // The command's own shell is the only one that reads it: after every filter is in place.
        CHECK(read(root / "log") == "sourced\n");
        fs::remove(root / "log");
    };
    const std::string command = "echo $NODE_OPTIONS";
    auto to_run = hostile;
    check(workspace(root.path()).run(command, {.env = to_run}), "RunOptions::env ");
    check(workspace(root.path(), runtime::Env{hostile}).run(command), "runtime::Env ");
    const auto literal = workspace(root.path(), EnvValue<"NODE_OPTIONS", "--require ./evil.js">{}, EnvValue<"BASH_ENV", "./evil.sh">{}, EnvValue<"LD_PRELOAD", "./evil.so">{}).run(command);
    CHECK(literal.out == "--require ./evil.js\n");
    CHECK_FALSE(fs::exists(pwn));
    fs::remove(root / "log");

    // The host program's own environment steers nothing either, and does not get in.
    std::deque<HostVariable> own;
    for (const auto& [name, value] : hostile) {
        if (name != "TMPDIR") own.emplace_back(name, value.c_str());
    }
    const auto opened = workspace(root.path());
    const auto result = opened.run("echo \"[$NODE_OPTIONS$BASH_ENV$LD_PRELOAD$SRT_DEBUG$CLAUDE_TMPDIR]\"");
    INFO(shown(result));
    CHECK(result.out == "[]\n");
    CHECK(result.err == "");
    CHECK_FALSE(fs::exists(pwn));
    CHECK_FALSE(fs::exists(root / "log"));
}

TEST_CASE("E04 E05 E11 planted tools never run on the host") {
    TempDir root, outside;
    const auto pwn = outside / "pwn";
    const std::vector<std::string> names{"bwrap", "which", "srt", "node", "socat", "rg", "bash", "sh", "env", "stat", "git", "cat"};
    const auto command = [&] {
        std::string text = "mkdir -p bin\n";
        for (const auto& name : names) text += "printf '#!/bin/sh\\ntouch " + pwn + "; touch " + (root / "ran-") + name + "; echo planted\\n' >bin/" + name + "\n";
        return text + "chmod +x bin/*\n";
    }();
    const auto path = (root / "bin") + ":/usr/bin:/bin";
    const auto opened = workspace(root.path(), runtime::Env{{"PATH", path}});
    CHECK(workspace(root.path()).run(command).ok());
    REQUIRE(host((root / "bin/bwrap") + " >/dev/null") == 0);
    REQUIRE(fs::remove(pwn));
    REQUIRE(fs::remove(root / "ran-bwrap"));

    for (const auto& result : {opened.run("echo fine; bwrap"), workspace(root.path()).run("echo fine; bwrap", {.env = {{"PATH", path}}})}) {
        INFO(shown(result));
        CHECK(result.out == "fine\nplanted\n");  // the command's own PATH finds them, inside
        CHECK_FALSE(fs::exists(pwn));
        CHECK(host_output("ls " + root.path() + " | grep ran-") == "ran-bwrap\n");
    }
    CHECK(fs::remove(root / "ran-bwrap"));

    // E11: found first on the host's PATH, they are refused by name.
    const HostVariable host_path{"PATH", path.c_str()};
    Subject<> unnamed{root.path()};
    const auto refused = unnamed.try_run("touch here");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ErrorCode::srt_unavailable);
    CHECK(holds(refused.error().what(), "srt"));
    for (const auto& tools : {Tools{.srt = root / "bin/srt"}, Tools{.srt = environment("BAILEY_SRT"), .node = root / "bin/node"},
                              Tools{.srt = environment("BAILEY_SRT"), .node = environment("BAILEY_NODE"), .bwrap = root / "bin/bwrap"},
                              Tools{.srt = environment("BAILEY_SRT"), .node = environment("BAILEY_NODE")}}) {
        unnamed.use(tools);
        const auto again = unnamed.try_run("touch here");
        REQUIRE_FALSE(again);
        CHECK(again.error().code() == ErrorCode::srt_unavailable);
    }
    CHECK_FALSE(fs::exists(root / "here"));
    CHECK_FALSE(fs::exists(pwn));
    CHECK(host_output("/bin/ls " + root.path() + " | /bin/grep ran-") == "");
}

TEST_CASE("E06 the command's PATH finds the user's own tools, also in a home that is hidden otherwise") {
    TempDir root, home;
    plant(home / ".nvm/versions/v/bin/node", "#!/bin/sh\necho the user\\'s node\n");
    write(home / "secret", "secret\n");
    const HostVariable variable{"HOME", home.path().c_str()};
    const auto opened = workspace(root.path(), ReadPolicy<Allow<"~/.nvm">>{}, runtime::Env{{"PATH", (home / ".nvm/versions/v/bin") + ":/usr/bin:/bin"}});
    const auto result = opened.run("command -v node; node; cat " + (home / "secret"));
    INFO(shown(result));
    CHECK(result.out == (home / ".nvm/versions/v/bin/node") + "\nthe user's node\n");
    CHECK(result.exit_code == 1);
}

TEST_CASE("E08 neither values nor the command stand in any argument list, nor in the launcher's environment, nor in what bailey says") {
    TempDir root;
    const auto opened = workspace(root.path(), runtime::Env{{"TOKEN", "s3cr3t-policy-value"}});
    auto running = opened.spawn(": s3cr3t-command-text; echo up; exec sleep 20", {.env = {{"OTHER", "s3cr3t-run-value"}}});
    std::string arguments, environments;
    bool seen = false;
    for (int i = 0; i < 400 && !running.wait_for(25ms); ++i) {
        arguments += host_output("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '");
        if (!holds(arguments, "sleep 20")) continue;
        // In whose environment does it stand?
        environments = host_output("for p in /proc/[0-9]*; do grep -qsa s3cr3t-run $p/environ && cat $p/comm; done");
        seen = true;
        break;
    }
    running.stop();
    CHECK(running.wait().outcome == Outcome::cancelled);
    REQUIRE(seen);
    CHECK(holds(arguments, "apply-seccomp"));
    // srt hands the beginning of what it runs to its proxy as a user name, in base64.
    CHECK_FALSE(holds(arguments, "czNjcjN0"));
    CHECK_FALSE(holds(arguments, "s3cr3t-policy-value"));
    CHECK_FALSE(holds(arguments, "s3cr3t-run-value"));
    CHECK(environments == "sleep\n");

    const auto said = opened.settings_json() + opened.explain() + [&] {
        std::string notes;
        for (const auto& note : opened.boundary().notes) notes += note;
        return notes;
    }();
    CHECK(holds(said, "TOKEN"));
    CHECK_FALSE(holds(said, "s3cr3t"));
}

// ---- limits ----

TEST_CASE("CpuTimeLimit: a process that used more is killed") {
    TempDir root;
    const auto spin = "ulimit -t; ulimit -Ht 100 2>/dev/null && echo raised; while :; do :; done"s;
    const auto check = [](const CommandResult& result) {
        INFO(shown(result));
        CHECK(result.out == "1\n");
        CHECK(result.outcome == Outcome::exited);
        CHECK(result.exit_code == 137);
        CHECK(result.likely_signal == 9);
    };
    check(workspace(root.path(), CpuTimeLimit<1>{}).run(spin));
    check(workspace(root.path(), runtime::Limits{.cpu_seconds = 1}).run(spin));
    CHECK(workspace(root.path()).run("ulimit -t; ulimit -v; ulimit -f").out == "unlimited\nunlimited\nunlimited\n");
}

TEST_CASE("MemoryLimit, FileSizeLimit, OpenFileLimit: what is more fails, and cannot be raised, by root neither") {
    TempDir root;
    const auto text = R"sh(
try memory 'python3 -c "bytearray(300 << 20)"'
try little-memory 'python3 -c "bytearray(20 << 20)"'
try file 'head -c 200000 /dev/zero >big'
say size $(stat -c %s big)
try small-file 'head -c 90000 /dev/zero >small'
try files 'python3 -c "import os; [os.open(\"/dev/null\", 0) for i in range(60)]"'
try few-files 'python3 -c "import os; [os.open(\"/dev/null\", 0) for i in range(20)]"'
try raise 'ulimit -Hv unlimited || ulimit -Hf unlimited || ulimit -Hn 100000'
rm -f big small
)sh";
    const auto by_default = answers(workspace(root.path()), text);
    for (const auto* label : {"memory", "file", "files"}) CHECK(by_default[label] == "yes");
    const auto check = [&](const auto& opened) {
        const auto in = answers(opened, text);
        for (const auto* label : {"memory", "file", "files", "raise"}) {
            CAPTURE(label);
            CHECK(in[label] == "no");
        }
        for (const auto* label : {"little-memory", "small-file", "few-files"}) CHECK(in[label] == "yes");
        CHECK(in["size"] == "102400");
    };
    check(workspace(root.path(), MemoryLimit<256_MiB>{}, FileSizeLimit<100_KiB>{}, OpenFileLimit<40>{}, OpenFileLimit<50>{}));
    check(workspace(root.path(), runtime::Limits{.memory_bytes = 256_MiB, .file_size_bytes = 100_KiB, .open_files = 40}, FileSizeLimit<200_KiB>{}));
}

TEST_CASE("T17 ProcessLimit: a fork storm is bounded for an ordinary user, and explain() says that root is exempt") {
    TempDir root;
    CHECK(noted(workspace(root.path(), ProcessLimit<64>{}).boundary(), "no effect for root"));
    const passwd user = ordinary_user();
    REQUIRE(::chown(root.path().c_str(), user.pw_uid, user.pw_gid) == 0);
    CHECK(as_ordinary_user([&] {
        const std::string storm = "import subprocess\ncount = 0\ntry:\n    for i in range(200):\n        subprocess.Popen(['sleep', '30'])\n        count += 1\n"
                                  "except OSError:\n    pass\nprint(count)\n";
        const Tools tools{.srt = std::getenv("BAILEY_SRT"), .node = std::getenv("BAILEY_NODE")};
        const auto free = Subject<>{root.path(), tools}.run_argv({"python3", "-c", storm});
        const auto bounded = Subject<ProcessLimit<64>>{root.path(), tools}.run_argv({"python3", "-c", storm});
        const auto started = std::atoi(bounded.out.c_str());
        if (free.out == "200\n" && started > 10 && started < 64) return 0;
        std::fputs((shown(free) + shown(bounded)).c_str(), stderr);
        return 1;
    }) == 0);
}
