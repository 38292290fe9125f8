// The child of the process tests: one program, one mode a behaviour. It knows nothing of bailey.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/keyctl.h>
#include <sys/syscall.h>
#endif

extern char** environ;

namespace {

int argument_count;
char** arguments;

[[nodiscard]] long number(int index, long otherwise = 0) {
    return index < argument_count ? std::strtol(arguments[index], nullptr, 10) : otherwise;
}

void say(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(fd, text.data(), text.size());
        if (written < 0) _exit(90);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void sleep_for(long milliseconds) { ::usleep(static_cast<useconds_t>(milliseconds) * 1000); }

/// The same bytes for everyone who asks: what is lost, repeated or swapped changes the sum.
void flood(int fd, long bytes) {
    std::string block(64 * 1024, '\0');
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>('a' + i % 23);
    for (; bytes > 0; bytes -= static_cast<long>(block.size()))
        say(fd, std::string_view{block}.substr(0, static_cast<std::size_t>(std::min<long>(bytes, static_cast<long>(block.size())))));
}

int read_stdin() {
    std::uint64_t sum = 1469598103934665603ULL, size = 0;  // FNV-1a
    std::vector<char> buffer(64 * 1024);
    for (ssize_t got; (got = ::read(0, buffer.data(), buffer.size())) > 0; size += static_cast<std::uint64_t>(got)) {
        for (ssize_t i = 0; i < got; ++i) sum = (sum ^ static_cast<unsigned char>(buffer[static_cast<std::size_t>(i)])) * 1099511628211ULL;
    }
    std::printf("%llu %llu\n", static_cast<unsigned long long>(size), static_cast<unsigned long long>(sum));
    return 0;
}

int list_fds() {
    DIR* directory = ::opendir("/dev/fd");
    std::vector<int> fds;
    while (const dirent* entry = directory != nullptr ? ::readdir(directory) : nullptr) {
        if (entry->d_name[0] != '.' && std::atoi(entry->d_name) != ::dirfd(directory)) fds.push_back(std::atoi(entry->d_name));
    }
    std::sort(fds.begin(), fds.end());
    for (const int fd : fds) std::printf("%d ", fd);
    std::printf("\n");
    return 0;
}

int signals() {
    sigset_t mask;
    ::sigprocmask(SIG_BLOCK, nullptr, &mask);
    for (int signal = 1; signal < NSIG; ++signal) {
        struct sigaction action {};
        if (::sigismember(&mask, signal) == 1) std::printf("blocked %d\n", signal);
        if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) std::printf("ignored %d\n", signal);
    }
    return 0;
}

int double_fork(long milliseconds) {
    if (::fork() == 0) {
        ::setsid();
        if (::fork() == 0) {
            sleep_for(milliseconds);
            _exit(0);
        }
        _exit(0);
    }
    sleep_for(30);
    return 0;
}

int keyring(const char* name) {
#if defined(__linux__)
    const long key = ::syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", name, 0);
    std::printf("%s\n", key < 0 ? "absent" : "PRESENT");
#else
    std::printf("%s\n", name == nullptr ? "" : "absent");
#endif
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    argument_count = argc;
    arguments = argv;
    const std::string_view mode = argc > 1 ? argv[1] : "";
    if (mode == "exit") return static_cast<int>(number(2));
    if (mode == "sleep") return sleep_for(number(2)), 0;
    if (mode == "say-and-sleep") return say(1, "early\n"), say(2, "warned\n"), sleep_for(number(2)), 0;
    if (mode == "flood") return flood(1, number(2)), static_cast<int>(number(3));
    if (mode == "flood-both") {
        for (long left = number(2); left > 0; left -= 256 * 1024) flood(1, 256 * 1024), flood(2, 256 * 1024);
        return 0;
    }
    if (mode == "kill") return ::kill(::getpid(), static_cast<int>(number(2))), 91;
    if (mode == "stop-itself") return ::kill(::getpid(), SIGSTOP), 0;
    if (mode == "ignore-term") {
        for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::signal(signal, SIG_IGN);
        return say(1, "ready\n"), sleep_for(number(2)), 0;
    }
    if (mode == "exit-on-term") {
        static int status;
        status = static_cast<int>(number(2));
        ::signal(SIGTERM, [](int) { say(1, "got TERM\n"), _exit(status); });
        return say(1, "ready\n"), sleep_for(number(3)), 0;
    }
    if (mode == "background") {  // in our group, holds both pipes
        if (const int child = ::fork(); child == 0) return sleep_for(number(2)), 0;
        return say(1, "done\n"), static_cast<int>(number(3));
    }
    if (mode == "double-fork") return double_fork(number(2));
    if (mode == "chatty-daemon") {  // out of our group, and never silent
        if (::fork() == 0) {
            ::setsid();
            ::signal(SIGPIPE, SIG_DFL);
            for (long i = 0; i < number(2); i += 10) say(1, "x\n"), sleep_for(10);
            _exit(0);
        }
        return say(1, "done\n"), 0;
    }
    if (mode == "close-output") return ::close(1), ::close(2), sleep_for(number(2)), static_cast<int>(number(3));
    if (mode == "never-read") return sleep_for(number(2)), 0;
    if (mode == "close-input") return ::close(0), say(1, "closed\n"), sleep_for(number(2)), 0;
    if (mode == "read-stdin") return read_stdin();
    if (mode == "cat") {
        char bytes[65536];
        for (ssize_t got; (got = ::read(0, bytes, sizeof bytes)) > 0;) say(1, {bytes, static_cast<std::size_t>(got)});
        return 0;
    }
    if (mode == "print-args") {
        for (int i = 2; i < argc; ++i) say(1, {argv[i], std::strlen(argv[i]) + 1});
        return 0;
    }
    if (mode == "print-env") {
        for (char** entry = environ; *entry != nullptr; ++entry) say(1, {*entry, std::strlen(*entry) + 1});
        return 0;
    }
    if (mode == "list-fds") return list_fds();
    if (mode == "read-fd") {
        char bytes[4096];
        const auto got = ::read(static_cast<int>(number(2)), bytes, sizeof bytes);
        return say(1, {bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0))}), got < 0 ? 92 : 0;
    }
    if (mode == "note") return say(static_cast<int>(number(2)), argv[3]), 0;
    if (mode == "await-end") {  // of the descriptor: as the guard awaits the end of the lifeline
        char byte;
        while (::read(static_cast<int>(number(2)), &byte, 1) > 0) {
        }
        return 33;
    }
    if (mode == "signals") return signals();
    if (mode == "keyring") return keyring(argc > 2 ? argv[2] : "");
    if (mode == "ids") {
        char directory[4096];
        if (::getcwd(directory, sizeof directory) == nullptr) return 93;
        std::printf("%d %d %d %s\n", ::getpid(), ::getpgrp(), ::getsid(0), directory);
        return 0;
    }
    std::fprintf(stderr, "child: no mode \"%s\"\n", argc > 1 ? argv[1] : "");
    return 94;
}
