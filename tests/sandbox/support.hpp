// What the tests against the real srt share: the tools, throw-away directories outside every default grant, an ordinary user.
#pragma once

#include "subject.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace support {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

template <class Condition>
bool comes_true(Condition&& condition, std::chrono::milliseconds within = 30s) {
    for (const auto until = std::chrono::steady_clock::now() + within; std::chrono::steady_clock::now() < until; ::usleep(10'000)) {
        if (condition()) return true;
    }
    return condition();
}

inline std::string environment(const char* name) {
    const char* value = std::getenv(name);
    REQUIRE_MESSAGE(value != nullptr, std::string{name}, " is not set; run the tests by tools/test, or see tools/setup --print-env");
    return value;
}

/// As tools/setup installed them.
inline bailey::Tools tools() { return {.srt = environment("BAILEY_SRT"), .node = environment("BAILEY_NODE")}; }

/// A fresh directory in /var/tmp: hidden from every sandbox unless granted.
class TempDir {
public:
    explicit TempDir(std::string_view name = "bailey-test") {
        std::string path = "/var/tmp/" + std::string{name} + "-XXXXXX";
        REQUIRE(::mkdtemp(path.data()) != nullptr);
        path_ = path;
    }
    ~TempDir() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    [[nodiscard]] std::string path() const { return path_.string(); }
    [[nodiscard]] std::string operator/(std::string_view name) const { return (path_ / name).string(); }

private:
    fs::path path_;
};

inline void write(const std::string& path, std::string_view content) {
    std::ofstream file{path, std::ios::binary};
    file << content;
    REQUIRE(file.good());
}

inline std::string read(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

/// Runs a command of the test's own on the host; its exit status.
inline int host(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// What a command of the test's own prints on the host.
inline std::string host_output(const std::string& command) {
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string output;
    char bytes[4096];
    for (std::size_t size; (size = std::fread(bytes, 1, sizeof bytes, pipe)) > 0;) output.append(bytes, size);
    ::pclose(pipe);
    return output;
}

/// The names in a directory, hidden ones included, sorted, with type, mode, size, mtime and inode: two equal listings are one state.
inline std::string listing(const std::string& directory) {
    return host_output("cd '" + directory + "' && find . -mindepth 1 -printf '%p %y %m %s %T@ %i\\n' | sort");
}

template <class... Ps>
Subject<Ps...> workspace(const std::string& root, Ps... policies) {
    auto opened = bailey::Workspace<Ps...>::open(root, std::move(policies)...);
    REQUIRE_MESSAGE(opened.has_value(), std::string{opened ? "" : opened.error().what()});
    Subject<Ps...> subject{std::move(*opened)};
    subject.use(tools());
    return subject;
}

/// A time limit that leaves a command at least a second once it runs: how long a start takes depends on the machine, and on what else it does.
template <class W>
std::chrono::milliseconds ample(const W& workspace) {
    const auto start = workspace.run("true", {.timeout = 300s}).elapsed;
    return 1s + std::max<std::chrono::milliseconds>(1s, 3 * start);
}

/// Runs and shows what came out when a check after it fails: `INFO(shown(result))`.
inline std::string shown(const bailey::CommandResult& result) {
    std::string text = fmt::format("{} {}\nstdout: {}\nstderr: {}\n", result.outcome, result.exit_code, result.out.substr(0, 4000), result.err.substr(0, 4000));
    for (const auto& v : result.violations) text += fmt::format("violation: {} {} ({}) {}\n", v.kind, v.subject, v.rule, v.remedy);
    return text;
}

/// An ordinary user: whoever runs the tests, or, when that is root, one that is made for them.
inline passwd ordinary_user() {
    if (::geteuid() != 0) {
        const passwd* self = ::getpwuid(::geteuid());
        REQUIRE(self != nullptr);
        return *self;
    }
    if (::getpwnam("bailey-test") == nullptr) host("useradd --create-home --shell /bin/bash bailey-test >/dev/null 2>&1");
    const passwd* user = ::getpwnam("bailey-test");
    REQUIRE(user != nullptr);
    return *user;
}

/// Runs `body` in a child process as that user; it returns an exit status (0 = as it should be). No doctest macro inside.
template <class Body>
int as_ordinary_user(Body&& body) {
    const passwd user = ordinary_user();
    const pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(user.pw_gid) != 0 || ::setuid(user.pw_uid) != 0)) ::_exit(99);
        ::setenv("HOME", user.pw_dir, 1);
        int status = 98;
        try {
            status = body();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "as_ordinary_user: %s\n", error.what());
        }
        ::_exit(status);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Sanitizers keep what was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr long memory_slack_kib = 64 * 1024;
#elif defined(__has_feature)
inline constexpr long memory_slack_kib = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? 64 * 1024 : 0;
#else
inline constexpr long memory_slack_kib = 0;
#endif

}  // namespace support
