// One run of a command, and where its sandbox comes from: started for it alone, or kept by a session.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bailey/base/error.hpp>
#include <bailey/base/violation.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/process/input.hpp>
#include <bailey/process/process.hpp>
#include <bailey/srt/tools.hpp>

namespace bailey::srt {

/// What one run is asked to do.
struct Request {
    std::string command{};            ///< for bash -c, unless there is an
    std::vector<std::string> argv{};  ///< run without a shell
    std::string cwd{};                ///< inside the workspace; empty: its root
    std::vector<EnvironmentEntry> environment{};
    bool merge_stderr = false;
    std::optional<process::Clock::time_point> deadline{};
};

/// What a command said on stderr (or on both, merged), and how it ended.
struct Said {
    std::string_view text{};
    int exit_code = 0;
};

/// A sandbox that one command is about to run in; its directories, placeholders and settings live as long as it does.
class Launch {
public:
    Launch() = default;
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;
    virtual ~Launch() = default;

    /// What the sandbox prints last before it becomes the command.
    [[nodiscard]] virtual const std::string& nonce() const = 0;
    [[nodiscard]] virtual Result<std::unique_ptr<process::Process>> start(Input input, process::Readiness& readiness, process::StopSignal& stop) = 0;
    /// After the end: what was refused, as far as it is known or can be guessed, and what the command planted for the host, which is
    /// moved away.
    [[nodiscard]] virtual std::vector<Violation> look_around(const Said& said) = 0;
};

/// A sandbox that was asked for.
class Awaited {
public:
    virtual ~Awaited() = default;
    /// The launch, why there is none, or nothing yet: then the readiness wakes when there is.
    [[nodiscard]] virtual std::optional<Result<std::unique_ptr<Launch>>> take(process::Readiness& readiness) = 0;
};

/// Where sandboxes come from. Used from many threads.
class Source {
public:
    virtual ~Source() = default;
    [[nodiscard]] virtual std::unique_ptr<Awaited> ask(Request request) = 0;
    [[nodiscard]] virtual Result<FoundTools> tools() const = 0;
};

}  // namespace bailey::srt
