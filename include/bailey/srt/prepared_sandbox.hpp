// A sandbox of a session: laid out, wrapped by the broker, started, and then waiting for its one command.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <bailey/base/error.hpp>
#include <bailey/process/child.hpp>
#include <bailey/process/readiness.hpp>
#include <bailey/srt/fingerprint.hpp>
#include <bailey/srt/guard.hpp>
#include <bailey/srt/sandbox.hpp>
#include <bailey/srt/scripts.hpp>

namespace bailey::srt {

struct PreparedSandbox {
    std::string id;            ///< by which the broker and what it reports name it; the command can see it
    std::uint64_t broker = 0;  ///< which one wraps it
    std::string script;        ///< its directory, and its mark: what it starts from
    Fingerprint fingerprint{};
    std::vector<Placeholder> placeholders{};
    process::Child child{};    ///< once it has been wrapped
    process::Fd control{};     ///< a line tells it to go; its end, that nobody will
    timespec begun{};          ///< when it was laid out (CLOCK_REALTIME)
    process::Clock::time_point made{};  ///< when it was ready

    [[nodiscard]] std::string mark() const { return script + "/"; }
    /// For srt, which hands the beginning of this text to the sandbox as a proxy user's name: nothing of a command is in it.
    [[nodiscard]] std::string boot() const { return ". " + shell_quoted(script + "/prelude"); }
};

/// Of the leader (scripts/leader.sh), by number; the placeholders' locks follow.
inline constexpr int leader_lifeline_fd = 3;

/// What a sandbox says on stderr when all is mounted and it waits.
inline constexpr std::string_view ready_word = "\x1e" "ready\n";

/// Everything but srt's line. `directories`: the session's. `announce`: it is to say when it is ready.
[[nodiscard]] inline Result<void> lay_out(PreparedSandbox& prepared, const Sandbox& sandbox, const RunDirectories& directories, bool announce) {
    ::clock_gettime(CLOCK_REALTIME, &prepared.begun);
    if (::mkdir(prepared.script.c_str(), 0700) != 0) return process::system_error("mkdir " + prepared.script);
    // By name and not as a descriptor, which would stay open in srt's own processes all the way in. Ours is open for both: nobody waits.
    const auto control = prepared.script + "/control";
    if (::mkfifo(control.c_str(), 0400) != 0) return process::system_error("mkfifo " + control);
    prepared.control.reset(::open(control.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (!prepared.control) return process::system_error("open " + control);
    const auto boot = text::concat({sandbox.proof(directories.cwd, prepared.script), announce ? "printf '\\036ready\\n' >&2\n" : "", "IFS= read -r bailey_word < ", shell_quoted(control), " || exit 125\n. ", shell_quoted(prepared.script + "/go"), "\n"});
    return Sandbox::write_script(prepared.script + "/prelude", boot);
}

/// For the broker, which takes them away when the host has died: [[path, device, inode], …].
[[nodiscard]] inline std::string places_json(const PreparedSandbox& prepared) {
    std::string places = "[";
    for (const auto& placeholder : prepared.placeholders) {
        struct stat status {};
        if (::fstat(placeholder.fd(), &status) != 0) continue;
        places += text::concat({places.size() == 1 ? "[" : ",[", settings::json_string(placeholder.path()), ",", std::to_string(status.st_dev), ",", std::to_string(status.st_ino), "]"});
    }
    return places + "]";
}

[[nodiscard]] inline Result<void> start_sandbox(PreparedSandbox& prepared, const Sandbox& sandbox, const RunDirectories& directories, const std::string& line) {
    const process::Fd cwd{::open(directories.cwd.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!cwd) return process::system_error("open " + directories.cwd);
    process::ChildPlan plan;
    std::string close = text::concat({" ", std::to_string(leader_lifeline_fd), ">&-"});
    for (const auto& placeholder : prepared.placeholders) {
        plan.spawn.fds.push_back(placeholder.fd());
        close += text::concat({" ", std::to_string(static_cast<std::size_t>(leader_lifeline_fd) + plan.spawn.fds.size()), ">&-"});
    }
    plan.spawn.argv = {paths::exists("/bin/bash") ? "/bin/bash" : "/usr/bin/bash", "-c", std::string{leader_script}, "bailey", line + close};
    plan.spawn.environment = sandbox.launcher_environment(directories.sockets);
    plan.spawn.directory = cwd.get();
    plan.lifeline = leader_lifeline_fd;
    plan.input_pipe = true;
    auto child = process::start_child(std::move(plan));
    if (!child) return child.error();
    prepared.child = std::move(*child);
    return {};
}

/// The end of one, used or not.
inline void end_sandbox(PreparedSandbox& prepared) {
    process::end_child(std::exchange(prepared.child, {}), prepared.mark());
    prepared.placeholders.clear();
    remove_tree(prepared.script);
}

}  // namespace bailey::srt
