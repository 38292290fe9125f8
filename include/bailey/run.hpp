// What one run is told and what it answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>
#include <version>
#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif

#include <bailey/base/callback.hpp>
#include <bailey/base/violation.hpp>
#include <bailey/process/capture.hpp>
#include <bailey/process/input.hpp>
#include <bailey/process/limiter.hpp>
#include <bailey/process/outcome.hpp>

namespace bailey {

struct RunOptions {
    std::chrono::milliseconds timeout{30'000};  ///< from the call until the command is stopped; 0 = no limit; below 0 = time is up
    std::size_t output_limit{1 << 20};          ///< bytes kept of each stream; the rest is read and counted
    Keep keep{Keep::head_and_tail};
    Input input{};                              ///< default: /dev/null; never the host's own stdin
    std::string cwd{};                          ///< inside the workspace; default: its root
    std::vector<std::pair<std::string, std::string>> env{};  ///< for this command only; wins over the policies' values
#if defined(__cpp_lib_jthread)
    std::stop_token stop{};                     ///< cancels from another thread; Running::stop() is the portable way
#endif
    OutputCallback on_stdout{};                 ///< live bytes, in order; what it throws stops the command and comes out of run()
    OutputCallback on_stderr{};
    Limiter* limiter{};                         ///< how many sandboxes start at once; shared by whom the caller likes
    bool merge_stderr{false};                   ///< what the command writes to stderr comes in `out`, in the order it was written
};

struct CommandResult {
    Outcome outcome{};
    int exit_code = 0;      ///< 0–255 when outcome is exited; after a stop it says nothing
    int likely_signal = 0;  ///< exit_code 129…192 is how a shell reports a signal, and what `exit 137` gives as well
    std::string out, err;   ///< the bytes kept; cut only between UTF-8 characters
    bool out_truncated = false, err_truncated = false;
    std::uint64_t out_bytes = 0, err_bytes = 0;  ///< bytes produced, kept or not
    std::chrono::milliseconds elapsed{};
    std::vector<Violation> violations;
    std::size_t out_gap = 0, err_gap = 0;  ///< where in out and err something is left out; their size when nothing is

    [[nodiscard]] bool ok() const { return outcome == Outcome::exited && exit_code == 0; }
};

}  // namespace bailey
