// A sandbox of a session: laid out, wrapped by the broker, started, and then waiting for its one command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <bailey/base/error.hpp>
#include <bailey/base/text.hpp>
#include <bailey/process/child.hpp>
#include <bailey/process/readiness.hpp>
#include <bailey/srt/fingerprint.hpp>
#include <bailey/srt/sandbox.hpp>

namespace bailey::srt {

struct PreparedSandbox {
    std::string id;            ///< by which the broker and what it reports name it; the command can see it
    std::uint64_t broker = 0;  ///< which one wraps it
    std::string script;        ///< its directory, and its mark: what it starts from
    Fingerprint fingerprint{};
    std::vector<Placeholder> placeholders{};
    process::Child child{};    ///< once it has been wrapped
    process::Fd control{};     ///< a line tells it to go; its end, that nobody will
    process::Fd ended{};       ///< on which it says how the command ended
    timespec begun{};          ///< when it was laid out (CLOCK_REALTIME)
    process::Clock::time_point made{};  ///< when it was ready

    [[nodiscard]] std::string mark() const { return script + "/"; }
    /// A command that comes to its end says how, so that nobody has to wait until all around it has come to theirs; with a word that its
    /// shell was given and keeps from what it starts. Where it has set a trap for the end, or started something that it did not wait
    /// for, it says that too, and ends as it likes.
    [[nodiscard]] std::string boot() const {
        return text::concat({boot_line(script + "/prelude"), "; BAILEY_STATUS=$?; { builtin trap -p EXIT; builtin printf 'X%s%s %s\\n' \"$BAILEY_STATUS\" \"${!:+ &}\" \"$BAILEY_WORD\"; } 2> /dev/null > ", shell_quoted(script + "/ended"),
                             " || builtin :; builtin exit \"$BAILEY_STATUS\""});
    }
};

/// What a sandbox says on stderr when all is mounted and it waits.
inline constexpr std::string_view ready_word = "\x1e" "ready\n";

/// Everything but srt's line. `directories`: the session's. `announce`: it is to say when it is ready.
[[nodiscard]] inline Result<void> lay_out(PreparedSandbox& prepared, const Sandbox& sandbox, const RunDirectories& directories, bool announce) {
    ::clock_gettime(CLOCK_REALTIME, &prepared.begun);
    if (::mkdir(prepared.script.c_str(), 0700) != 0) return process::system_error("mkdir " + prepared.script);
    // By name and not as a descriptor, which would stay open in srt's own processes all the way in. Ours is open for both: nobody waits.
    const auto make_pipe = [&](const char* name, process::Fd& ours) -> Result<std::string> {
        auto path = text::concat({prepared.script, "/", name});
        if (::mkfifo(path.c_str(), 0600) != 0) return process::system_error("mkfifo " + path);
        ours.reset(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
        if (!ours) return process::system_error("open " + path);
        return path;
    };
    const auto control = make_pipe("control", prepared.control);
    if (!control) return control.error();
    if (auto ended = make_pipe("ended", prepared.ended); !ended) return ended.error();
    // What it will do with a command it does once before, so that the memory for it is there.
    constexpr std::string_view practice = ". /dev/null; BAILEY_WORD=; eval -- :; { builtin trap -p EXIT; builtin printf '%s' \"$?\"; } > /dev/null 2>&1\n";
    const auto boot = text::concat({sandbox.proof(directories.cwd, prepared.script), announce ? practice : "", announce ? "printf '\\036ready\\n' >&2\n" : "", "IFS= read -r BAILEY_WORD < ", shell_quoted(*control), " || exit 125\n. ", shell_quoted(prepared.script + "/go"), "\n"});
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

/// bubblewrap asks to be killed when the thread that started it ends, so that one has to stay as long as the session does.
[[nodiscard]] inline Result<void> start_sandbox(PreparedSandbox& prepared, const Sandbox& sandbox, const RunDirectories& directories, const std::string& line) {
    const process::Fd cwd{::open(directories.cwd.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!cwd) return process::system_error("open " + directories.cwd);
    process::ChildPlan plan;
    plan.spawn.argv = {"/bin/sh", "-c", "exec " + line};  // as srt has it run
    plan.spawn.environment = sandbox.launcher_environment(directories.sockets);
    plan.spawn.directory = cwd.get();
    plan.spawn.dies_with_thread = true;
    plan.input_pipe = true;
    auto child = process::start_child(std::move(plan));
    if (!child) return child.error();
    prepared.child = std::move(*child);
    prepared.child.ended = std::move(prepared.ended);
    prepared.child.word = random_hex(16);
    return {};
}

/// The end of one, used or not.
inline void end_sandbox(PreparedSandbox& prepared) {
    process::end_child(std::exchange(prepared.child, {}), prepared.mark());
    prepared.placeholders.clear();
    remove_tree(prepared.script);
}

}  // namespace bailey::srt
