// What a started program inherits from its host: what it was given, and nothing else.
#include "support.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

using namespace process_support;

namespace {

/// A thousand descriptors that a careless host left inheritable.
std::vector<process::Fd> thousand_inheritable() {
    std::vector<process::Fd> fds;
    for (int i = 0; i < 1000; ++i) fds.emplace_back(::open("/dev/null", O_RDWR));
    return fds;
}

void raise_open_file_limit() {
    for (const rlim_t wanted : {rlim_t{1'000'000}, rlim_t{20'000}, rlim_t{4096}}) {
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        limit = {wanted, std::max(wanted, limit.rlim_max)};
        if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
    }
}

std::string list_fds(std::vector<int> given = {}) {
    auto listing = plan({"list-fds"});
    listing.spawn.fds = std::move(given);
    return run(std::move(listing)).out;
}

}  // namespace

TEST_CASE("spawn: every exit code from 0 to 255 comes back") {
    for (int code = 0; code <= 255; ++code) {
        const auto finished = run(plan({"exit", std::to_string(code)}));
        CAPTURE(code);
        REQUIRE(finished.ending.outcome == Outcome::exited);
        REQUIRE(finished.ending.status_known);
        REQUIRE(finished.ending.exit_code == code);
    }
}

TEST_CASE("spawn: a program that cannot be started is an error with errno and the call, and leaves no process") {
    const auto failure = [](process::ProcessPlan what) {
        auto readiness = process::Readiness::open().value();
        process::StopSignal stop;
        stop.attach(readiness).value();
        const auto fds = open_fds();
        const auto started = process::Process::start(std::move(what), readiness, stop);
        REQUIRE_FALSE(started.has_value());
        CHECK(started.error().code() == bailey::ErrorCode::process);
        CHECK_FALSE(has_children());
        CHECK(open_fds() == fds);
        return started.error();
    };
    auto missing = plan({});
    missing.spawn.argv = {"/nonexistent/program"};
    auto error = failure(std::move(missing));
    CHECK(error.error_number() == ENOENT);
    CHECK(std::string_view{error.what()}.find("starting /nonexistent/program: execve failed: No such file") != std::string_view::npos);

    auto directory = plan({});
    directory.spawn.argv = {"/usr"};
    CHECK(failure(std::move(directory)).error_number() == EACCES);

    char no_program[] = "/tmp/bailey-spawn-XXXXXX";
    const process::Fd file{::mkstemp(no_program)};
    REQUIRE(::write(file.get(), "not a program", 13) == 13);
    REQUIRE(::fchmod(file.get(), 0755) == 0);
    auto format = plan({});
    format.spawn.argv = {no_program};
    CHECK(failure(std::move(format)).error_number() == ETXTBSY);  // we still hold it open for writing
    ::unlink(no_program);

    auto long_argument = plan({std::string(200'000, 'x')});
    CHECK(failure(std::move(long_argument)).error_number() == E2BIG);

    auto nowhere = plan({"exit", "0"});
    nowhere.spawn.directory = -1;
    error = failure(std::move(nowhere));
    CHECK(error.error_number() == EBADF);
    CHECK(std::string_view{error.what()}.find("fchdir") != std::string_view::npos);

    auto closed_fd = plan({"exit", "0"});
    closed_fd.spawn.fds = {999'999};
    error = failure(std::move(closed_fd));
    CHECK(error.error_number() == EBADF);
    CHECK(std::string_view{error.what()}.find("fcntl(F_DUPFD_CLOEXEC)") != std::string_view::npos);

    auto too_many = plan({"exit", "0"});
    too_many.spawn.fds.assign(100, 0);
    CHECK(failure(std::move(too_many)).error_number() == EMFILE);
}

TEST_CASE("spawn: only 0, 1, 2 cross from a host with 1000 inheritable descriptors and a limit as high as may be") {
    CHECK(as_host([] {
        raise_open_file_limit();
        const auto inheritable = thousand_inheritable();
        if (!inheritable.back()) return 1;
        const auto began = Clock::now();
        if (list_fds() != "0 1 2 \n") return 2;
        return Clock::now() - began < 2s ? 0 : 3;  // closing a million one by one would take longer
    }) == 0);
}

TEST_CASE("spawn: listed descriptors get their numbers, whatever numbers they have in the host") {
    CHECK(as_host([] {
        const auto inheritable = thousand_inheritable();
        auto ends = process::make_pipe().value();
        if (::write(ends.write.get(), "through the pipe", 16) != 16) return 1;
        if (list_fds({ends.read.get(), ends.write.get()}) != "0 1 2 3 4 \n") return 2;
        auto reading = plan({"read-fd", "4"});
        reading.spawn.fds = {inheritable.front().get(), ends.read.get()};
        if (run(std::move(reading)).out != "through the pipe") return 3;
        // The host's own 0, 1 and 2 are closed: what it opens next gets these numbers, and must not be mixed up.
        for (const int fd : {0, 1, 2}) ::close(fd);
        auto low = process::make_pipe().value();
        if (low.read.get() > 2 || ::write(low.write.get(), "low", 3) != 3) return 4;
        auto swapped = plan({"read-fd", "4"});
        swapped.spawn.fds = {low.write.get(), low.read.get()};
        return run(std::move(swapped)).out == "low" ? 0 : 5;
    }) == 0);
}

#if defined(__linux__)
TEST_CASE("spawn: on a kernel without close_range the descriptors are closed all the same") {
    CHECK(as_host([] {
        raise_open_file_limit();
        const auto inheritable = thousand_inheritable();
        std::array<sock_filter, 4> program{{
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, nr))),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        }};
        const sock_fprog filter{program.size(), program.data()};
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 1;
        if (::syscall(SYS_close_range, 900'000, 900'001, 0) == 0 || errno != ENOSYS) return 2;
        return list_fds({inheritable.back().get()}) == "0 1 2 3 \n" ? 0 : 3;
    }) == 0);
}

TEST_CASE("spawn: the host's session keyring stays behind") {
    CHECK(as_host([] {
        // A session keyring of this test's own, so that nothing is left in the user's.
        if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr, 0, 0, 0) < 0) return 1;
        if (::syscall(SYS_add_key, "user", "bailey-secret", "hunter2", 7, KEY_SPEC_SESSION_KEYRING) < 0) return 2;
        if (::syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", "bailey-secret", 0) < 0) return 3;
        const pid_t plain = ::fork();  // what every other child would see
        if (plain == 0) ::_exit(::syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", "bailey-secret", 0) < 0 ? 1 : 0);
        int status = -1;
        ::waitpid(plain, &status, 0);
        if (status != 0) return 4;
        if (run(plan({"keyring", "bailey-secret"})).out != "absent\n") return 5;
        // The host keeps its own.
        return ::syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", "bailey-secret", 0) < 0 ? 6 : 0;
    }) == 0);
}
#endif

TEST_CASE("spawn: blocked and ignored signals of the host are reset, and the host keeps them") {
    CHECK(as_host([] {
        sigset_t all, before, after;
        ::sigfillset(&all);
        ::sigdelset(&all, SIGALRM);
        ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
        ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
        for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGTSTP, SIGTTOU, SIGWINCH, SIGRTMIN + 3}) ::signal(signal, SIG_IGN);
        const auto finished = run(plan({"signals"}));
        if (finished.ending.exit_code != 0 || !finished.out.empty()) return 1;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
        for (int signal = 1; signal < NSIG; ++signal) {
            if (::sigismember(&before, signal) != ::sigismember(&after, signal)) return 2;
        }
        struct sigaction action {};
        ::sigaction(SIGUSR1, nullptr, &action);
        return action.sa_handler == SIG_IGN ? 0 : 3;
    }) == 0);
}

TEST_CASE("spawn: arguments arrive one by one and byte for byte") {
    std::vector<std::string> arguments{"", "a b", "it's", "q\"q", "$HOME", "back\\slash", "new\nline", "-rf", "--", "*", "日本", "\xFF\xC3\x80", "\x01\x7F", ""};
    for (int i = 0; i < 2000; ++i) arguments.push_back(std::to_string(i));
    auto printing = plan(arguments);
    printing.spawn.argv.insert(printing.spawn.argv.begin() + 1, "print-args");
    CHECK(split(run(std::move(printing)).out) == arguments);
}

TEST_CASE("spawn: the environment is what was given, in that order, and nothing of the host's") {
    ::setenv("BAILEY_HOST_SECRET", "hunter2", 1);
    auto bare = plan({"print-env"});
    CHECK(run(std::move(bare)).out.empty());
    const std::vector<std::string> wanted{"B=2", "A=", "PATH=/x y", "EQUALS=a=b", "BYTES=\xFF\n'\""};
    auto given = plan({"print-env"});
    given.spawn.environment = wanted;
    CHECK(split(run(std::move(given)).out) == wanted);
    ::unsetenv("BAILEY_HOST_SECRET");
}

TEST_CASE("spawn: the child leads a session and a group of its own, in the directory it was given") {
    auto ids = plan({"ids"});
    const process::Fd usr{::open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    ids.spawn.directory = usr.get();
    const auto out = run(std::move(ids)).out;
    int pid = 0, group = 0, session = 0;
    char directory[100]{};
    REQUIRE(std::sscanf(out.c_str(), "%d %d %d %99s", &pid, &group, &session, directory) == 4);
    CHECK(pid == group);
    CHECK(pid == session);
    CHECK(pid != ::getpid());
    CHECK(std::string_view{directory} == "/usr");
}

TEST_CASE("spawn: a program ends with the thread that started it, where that is asked for") {
    for (const bool asked : {false, true}) {
        CAPTURE(asked);
        auto sleeping = plan({"sleep", "60000"});
        sleeping.spawn.dies_with_thread = asked;
        process::Child child;
        std::thread{[&] { child = process::start_child(std::move(sleeping)).value(); }}.join();
        ::usleep(asked ? 0 : 200'000);
        for (int i = 0; asked && i < 1000 && !process::has_ended(child); ++i) ::usleep(10'000);
        CHECK(process::has_ended(child) == (asked && bailey::on_linux));
        process::end_child(std::move(child), "");
    }
}
