// A place for the protect_* tests: a workspace, a directory outside it that commands can write too, and one they cannot.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <bailey/srt/planted.hpp>

namespace protect {

struct Place {
    std::string base, workspace, outside, host, quarantine, canary;

    Place() {
        const char* temporary = std::getenv("TMPDIR");
        std::string pattern = std::string{temporary != nullptr ? temporary : "/tmp"} + "/bailey-protect-XXXXXX";
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        char resolved[PATH_MAX];
        REQUIRE(::realpath(pattern.c_str(), resolved) != nullptr);
        base = resolved;
        workspace = base + "/W";
        outside = base + "/outside";
        host = base + "/host";
        quarantine = base + "/quarantine";
        canary = base + "/canary";
        for (const std::string& directory : {workspace, outside, host}) REQUIRE(::mkdir(directory.c_str(), 0700) == 0);
        write(outside + "/evil.sh", "#!/bin/sh\ntouch '" + canary + "'\nexit 1\n");
        ::chmod((outside + "/evil.sh").c_str(), 0755);
    }
    ~Place() { static_cast<void>(std::system(("chmod -R u+rwX '" + base + "'; rm -rf '" + base + "'").c_str())); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Runs a script in the workspace, with $W, $E (outside), $EVIL (a program that leaves the canary) and a plain git.
    [[nodiscard]] int sh(const std::string& script) const {
        const std::string file = base + "/script", log = base + "/log";
        write(file, "export W='" + workspace + "' E='" + outside + "' EVIL='" + outside + "/evil.sh' HOME='" + host + "'\n" +
                        "export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c\n"
                        "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always GIT_PAGER=cat\n"
                        "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE\n"
                        "evil() { git config -f \"$1\" core.fsmonitor \"$EVIL\"; }\n"
                        "cd \"$W\" || exit 99\n" + script);
        return std::system(("sh '" + file + "' >'" + log + "' 2>&1 </dev/null").c_str());
    }
    [[nodiscard]] std::string log() const { return read(base + "/log"); }
    /// As sh, and it must succeed.
    void make(const std::string& script) const {
        const int status = sh("set -e\n" + script);
        INFO(log());
        REQUIRE(status == 0);
    }

    [[nodiscard]] bool fired() const { return exists(canary); }
    [[nodiscard]] bailey::srt::ProtectedSnapshot snapshot(std::vector<std::string> writable = {}) const {
        auto result = bailey::srt::protected_snapshot(workspace, std::move(writable));
        if (!result) FAIL(result.error().what());
        return std::move(*result);
    }

    static void write(const std::string& path, const std::string& text) { std::ofstream{path} << text; }
    [[nodiscard]] static std::string read(const std::string& path) {
        std::ifstream file{path};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    [[nodiscard]] static bool exists(const std::string& path) {
        struct stat status {};
        return ::lstat(path.c_str(), &status) == 0;
    }
};

inline std::string told(const std::vector<bailey::Violation>& violations) {
    std::string text;
    for (const bailey::Violation& violation : violations) text += violation.subject + ": " + violation.rule + "; " + violation.remedy + "\n";
    return text;
}

}  // namespace protect
