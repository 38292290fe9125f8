// Guarantee 11: the command arrives byte for byte, and behaves as `bash -c` on the host would.
#include "inside.hpp"
#include "support.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include <fcntl.h>

using namespace support;

namespace {

struct Said {
    int exit_code = 0;  // as a shell reports it
    std::string out, err;
};

/// `bash -c -- COMMAND` on the host, in that directory and with the environment of a default workspace.
Said bash_on_host(const std::string& command, const std::string& directory) {
    TempDir streams;
    const std::string out = streams / "out", err = streams / "err";
    const pid_t child = ::fork();
    if (child == 0) {
        const auto open_as = [](int fd, const char* path, int flags) { ::dup2(::open(path, flags, 0600), fd); };
        open_as(0, "/dev/null", O_RDONLY);
        open_as(1, out.c_str(), O_WRONLY | O_CREAT);
        open_as(2, err.c_str(), O_WRONLY | O_CREAT);
        if (::chdir(directory.c_str()) != 0) ::_exit(99);
        const std::string home = "HOME=" + directory, path = "PATH=" + std::string{bailey::defaults::path};
        const char* variables[] = {path.c_str(), home.c_str(), "TMPDIR=/tmp", "TERM=dumb", nullptr};
        const char* words[] = {"bash", "-c", "--", command.c_str(), nullptr};
        ::execve("/usr/bin/bash", const_cast<char**>(words), const_cast<char**>(variables));
        ::_exit(98);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(out), read(err)};
}

/// No variable of the test's own may tell host and sandbox apart.
void without_locale() {
    for (const auto name : bailey::defaults::locale_names) ::unsetenv(std::string{name}.c_str());
}

const std::vector<std::string> table{
    "true", "false", "exit 42", "", " ", "\n", "# only a comment", "echo hi # a comment at the end",
    "echo a\\", "echo 'a'\\\n", "echo a\\\nb",
    R"(printf '%s|' 'a b' "c'd" "e\"f" 'g$h' 'i\j' '' '日本' $'tab\t' $'nl\nx')",
    "cat <<EOF\nline $HOME\nEOF", "cat <<EOF\nline\nEOF\n", "cat <<'X'\n$a `b` \\c 'd\nX\n", "cat <<EOF\nno end",
    "cat <<<'here string'", "cat <<-EOF\n\tindented\n\tEOF\necho after",
    "-n", "-c echo hi", "--version", "--", "- x", "+x",
    "echo \"no end", "if then fi", "echo a; )", "echo before\nif", "nosuchcmd_x arg", "/etc/passwd", "./nowhere",
    "echo $0 \"$@\" $#", "echo ${BASH_SOURCE-none} $LINENO\necho $LINENO", "echo $-; shopt -p; set -o",
    "set -e; false; echo no", "set -u; echo $nothing; echo no", "trap 'echo bye' EXIT; exit 3", "trap -p; trap",
    "echo out; echo err >&2; exit 9", "for i in 1 2 3; do echo $i; done | tac", "printf 'a\\0b' | od -c",
    "printf '%s' '\xff\xfe \x80' | od -c", "printf '%s' '\x01\x02\x1e\x7f\x1b[0m' | od -c", "echo *; echo .*; printf '%s\\n' \"-\"*",
    "echo $(", "x=$(echo", "echo $(ls", "echo <(", "echo \"$(", "echo `ls", "echo ${", "echo $((", "( echo", "echo $(echo a; echo b) <(:)x >(:) | wc -l", "echo $(echo $(", "echo $_; echo x y; echo $_",
    "builtin() { :; }; false", "enable -n builtin; false", "readonly BAILEY_STATUS=9; (exit 4)", ". ./traces; echo hi", "shopt -so xtrace; echo hi",
    ". ./traps; echo a", "if true; then . ./none; fi; echo $?", "ulimit -n 0; echo a", "declare -p BAILEY_WORD BAILEY_STATUS 2>&1 | wc -l; compgen -v BAILEY", "echo ${BAILEY_WORD-none}",
    "cd d.x; cd .. && ls -d . .. && cat ./traces",
    "cd /; pwd; echo $OLDPWD $PWD", "umask; ulimit -c", "echo ~; echo ~root; echo $HOME $TERM $PATH",
    "read x; echo \"[$x]\" $?", "! false; echo $? !! !x \"!y\"", "alias x=echo; x hi", "function f { echo \"$FUNCNAME $1\"; }; f a",
    "[[ -t 0 || -t 1 || -t 2 ]]; echo $?", "sleep 0.01 & wait $!; echo $?", "echo a\r\necho b\r\n", "echo \\\\ \"\\\" '\\'", "echo `echo a` $(echo b)",
    "echo \"$IFS\" | od -c; echo \"$PS4\"", "exec nosuch_y; echo no", "exec true; echo no", "return 5; echo on", "bash -c 'echo $SHLVL'; echo $SHLVL",
    "kill -TERM $$", "kill -KILL $$", "exec sh -c 'kill -9 $$'", "{ bash -c 'kill -SEGV $$'; } 2>/dev/null; echo $?", "jobs -l; echo ${#BASH_ARGV[@]} $BASH_SUBSHELL",
    "echo >&3", "echo x > /dev/stdout; echo y > /dev/stderr", "echo 'it'\"'\"'s' '\"' '$(' '`'", "declare -p | grep -c BAILEY; compgen -v | grep -i bailey",
    "x='a  b'; echo $x \"$x\"; echo ${x/a/c}", "select", "(exit 7)", "echo \xe2\x80\xa8 | od -c", std::string(5000, ' ') + "echo padded",
    // What is evaluated by the shell that waits, and what is not.
    "true", "false", "exit 300", "set -x; echo traced", "esac", "echo a; esac; echo b; case x in y) :", "echo a;; echo b", "y) echo b", "case a in a) echo in;; esac", "for", "{ echo a; }",
    "echo $((", "echo $(echo )", "f() { return 4; }; f", "echo \"$BASH_EXECUTION_STRING\" $SECONDS", ". ./ends; echo in", ". ./ends; exit 6", "cat <<EOF", "# nothing", "   ", "echo a # b",
    "declare -F; echo ${!bailey*}", "exec 2> /dev/null > /dev/null; echo gone", "echo kept; exec > /dev/null", "echo $BASHPID $$ | awk '{print $1 == $2}'", "wait", "sleep 0 &", "{ sleep 0.01; echo late; } & wait",
};

}  // namespace

TEST_CASE("Q01 Q03 a table of commands gives what bash -c gives on the host") {
    without_locale();
    TempDir root;
    for (const auto* name : {"a b", ".hidden", "-rf", "日本", "new\nline"}) write(root / name, "");
    write(root / "ends", "trap 'echo bye' EXIT\n");
    write(root / "traces", "set -x\n");
    write(root / "traps", "trap 'echo D' DEBUG\n");
    fs::create_directory(root / "d.x");
    const auto space = workspace(root.path());
    const auto before = listing(root.path());

    std::vector<Said> inside(table.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {  // no doctest in here: REQUIRE in a thread would end the program
        for (std::size_t i; (i = next++) < table.size();) {
            if (const auto result = space.try_run(table[i], {.timeout = 120s})) {
                inside[i] = {result->outcome == bailey::Outcome::exited ? result->exit_code : 1000, result->out, result->err};
            } else {
                inside[i] = {2000, "", result.error().what()};
            }
        }
    };
    std::thread second{work};
    work();
    second.join();

    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto outside = bash_on_host(table[i], root.path());
        INFO("command: ", table[i]);
        CHECK(inside[i].exit_code == outside.exit_code);
        CHECK(inside[i].out == outside.out);
        CHECK(inside[i].err == outside.err);
    }
    CHECK(listing(root.path()) == before);
}

TEST_CASE("guarantee 11: 200 KiB scripts, with 30000 quotes and bytes that are no UTF-8") {
    without_locale();
    TempDir root;
    const auto space = workspace(root.path());
    std::string noise;
    for (int i = 0; i < 200 * 1024; ++i) noise += static_cast<char>(i % 7 == 0 ? '\'' : i % 11 == 0 ? "\"\\$`!\n\t\r"[i % 8] : 1 + (i * 31) % 255);
    REQUIRE(std::count(noise.begin(), noise.end(), '\'') >= 29'000);
    const auto here_document = [&](std::size_t size) { return "cat <<'END OF NOISE'; echo \"$?\" >&2; exit 5\n" + noise.substr(0, size) + "\nEND OF NOISE\n"; };
    // Around the longest argument that the kernel takes, whatever way the library chooses on either side of it.
    for (const std::size_t size : {100U, 119U * 1024, 120U * 1024, 128U * 1024, 200U * 1024}) {
        const auto result = space.run(here_document(size), {.output_limit = 1 << 22});
        CAPTURE(size);
        CHECK(result.exit_code == 5);
        CHECK(result.err == "0\n");
        CHECK((result.out == noise.substr(0, size) + "\n"));
    }
    const std::string big = "x='" + std::string(1 << 20, 'y') + "'\necho ${#x}; read line; echo \"[$line]\"; exit 6";
    const auto result = space.run(big, {.input = "typed\n"});  // standard input stays free
    CHECK(result.exit_code == 6);
    CHECK(result.out == "1048576\n[typed]\n");
}

TEST_CASE("guarantee 11: a long script ends, fails and names itself as a short one does") {
    without_locale();
    TempDir root;
    const auto space = workspace(root.path());
    const std::string padding = ": '" + std::string(150 * 1024, 'x') + "'\n";
    for (const std::string command : {"echo $0 $# $- $LINENO ${BASH_SOURCE-none}; declare -p | grep -c BAILEY; exit 7", "set -e; false; echo no", "nosuchcmd_x",
                                      "if then fi", "echo a\\", "echo a\\\n", "cat <<EOF\nno end", "cat <<EOF\nno end\n\n\n", "trap 'echo bye' EXIT; kill -TERM $$",
                                      "return 5; echo on", "echo \"no end", "# nothing", "echo '\x7f\xff'; exec true", "f() { echo $LINENO $FUNCNAME $#; }\nf a b"}) {
        const auto result = space.run(padding + command);
        auto short_command = bash_on_host(": x\n" + command, root.path());
        // The one difference: who complains about the syntax.
        for (std::size_t at; (at = short_command.err.find("bash: -c:")) != std::string::npos;) short_command.err.replace(at, 9, "bash: eval:");
        INFO("command: ", command);
        CHECK(result.exit_code == short_command.exit_code);
        CHECK(result.out == short_command.out);
        CHECK(result.err == short_command.err);
    }
}

TEST_CASE("Q02 the argv form keeps boundaries, and needs no quoting") {
    TempDir root;
    const auto space = workspace(root.path());
    const auto result = space.run_argv({"/usr/bin/python3", "-c", "import sys;print(sys.argv[1:])", "a b", "$HOME", "x'y", "", "--debug", "-s", "x"});
    INFO(shown(result));
    CHECK(result.exit_code == 0);
    CHECK(result.out == "['a b', '$HOME', \"x'y\", '', '--debug', '-s', 'x']\n");

    std::vector<std::string> words{"printf", "%s\\0", "", " ", "\n", "a\nb", "it's", "''", "q\"q", "`id`", "$(id)", "\\", "\\'", "*", "~", "日本", "\xff\xc3", "\x1e", "-n", "--", "", "!", "#x", "a\\\nb"};
    for (int i = 0; i < 300; ++i) words.push_back("word " + std::to_string(i));
    const std::vector<std::string_view> views{words.begin(), words.end()};
    std::string wanted;
    for (std::size_t i = 2; i < words.size(); ++i) wanted += words[i] + '\0';
    CHECK(space.run_argv(views).out == wanted);
}

TEST_CASE("Q03 the argv form: a program is a program, however it is named") {
    TempDir root;
    fs::create_directory(root / "sub");
    write(root / "sub/-p", "#!/bin/sh\necho \"ran $0 $*\"\n");
    fs::permissions(root / "sub/-p", fs::perms::owner_all);
    const auto space = workspace(root.path());
    CHECK(space.run_argv({"--help"}).exit_code == 127);
    CHECK(space.run_argv({"-c", "echo hi"}).exit_code == 127);
    CHECK(space.run_argv({"--"}).exit_code == 127);
    CHECK(space.run_argv({""}).exit_code == 127);
    CHECK(space.run_argv({"cd", "/"}).out == "");  // a builtin is no program: cd exists as one on some systems only
    CHECK(space.run_argv({"./-p", "a"}, {.cwd = "sub"}).out == "ran " + (root / "sub/-p") + " a\n");  // bash makes it absolute
    CHECK(space.run_argv({"-p", "a"}, {.cwd = "sub", .env = {{"PATH", root / "sub"}}}).out == "ran " + (root / "sub/-p") + " a\n");
    CHECK(space.run_argv({"/etc/passwd"}).exit_code == 126);
    CHECK(space.run_argv({"pwd"}, {.cwd = "sub"}).out == (root / "sub") + "\n");
    const auto refused = space.try_run_argv({});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code() == bailey::ErrorCode::policy);
}

TEST_CASE("Q05 a NUL, or a name that is none, is refused by name before anything starts") {
    TempDir root;
    const auto space = workspace(root.path());
    const std::string nul{"touch made; echo a\0b", 20};
    const auto refused = [&](bailey::Result<bailey::CommandResult> result, std::initializer_list<std::string_view> words) {
        REQUIRE_FALSE(result.has_value());
        CHECK(result.error().code() == bailey::ErrorCode::policy);
        const std::string_view text = result.error().what();
        for (const auto word : words) CHECK_MESSAGE(holds(text, word), text);
        CHECK_FALSE(holds(text, "hunter2"));  // values may be secrets
    };
    refused(space.try_run(nul), {"command", "NUL", "18"});
    refused(space.try_run_argv({"echo", "a", std::string_view{"b\0c", 3}}), {"argument 2", "NUL"});
    refused(space.try_run_argv({std::string_view{"ec\0ho", 5}}), {"argument 0", "NUL"});
    refused(space.try_run("touch made", {.env = {{"GOOD", "x"}, {"VALUE", std::string{"hunter2\0x", 9}}}}), {"VALUE", "NUL"});
    refused(space.try_run("touch made", {.env = {{"A=B", "hunter2"}}}), {"A=B"});
    refused(space.try_run("touch made", {.env = {{"", "hunter2"}}}), {"env"});
    refused(space.try_run("touch made", {.env = {{std::string{"A\0B", 3}, "hunter2"}}}), {"env"});
    refused(space.try_run("touch made", {.env = {{"A B", "hunter2"}}}), {"A B"});
    refused(space.try_run("touch made", {.env = {{"UID", "hunter2"}}}), {"UID"});
    refused(space.try_run("touch made", {.cwd = std::string{"a\0b", 3}}), {"working directory", "NUL"});
    CHECK_FALSE(fs::exists(root / "made"));
    CHECK_THROWS_AS(space.run(nul), bailey::PolicyError);
}
