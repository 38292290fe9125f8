// The ways to run a command: the same in a workspace and in a session of it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bailey/base/error.hpp>
#include <bailey/base/text.hpp>
#include <bailey/grammar/environment.hpp>
#include <bailey/run.hpp>
#include <bailey/running.hpp>
#include <bailey/srt/launch.hpp>

namespace bailey {

class Commands {
public:
    [[nodiscard]] Result<Running> try_spawn(std::string_view command, RunOptions options = {}) const {
        return start({.command = std::string{command}, .cwd = options.cwd, .environment = options.env}, std::move(options));
    }
    [[nodiscard]] Result<CommandResult> try_run(std::string_view command, RunOptions options = {}) const {
        if (auto writable = check_input(options); !writable) return writable.error();
        return finish(try_spawn(command, std::move(options)));
    }
    /// No shell: argv[0] is looked up on the command's PATH, and every argument arrives as it is.
    [[nodiscard]] Result<CommandResult> try_run_argv(std::span<const std::string_view> argv, RunOptions options = {}) const {
        if (argv.empty()) return Error{ErrorCode::policy, "bailey: run_argv was given no program; the first word is its name"};
        if (auto writable = check_input(options); !writable) return writable.error();
        return finish(start({.argv = {argv.begin(), argv.end()}, .cwd = options.cwd, .environment = options.env}, std::move(options)));
    }
    [[nodiscard]] Result<CommandResult> try_run_argv(std::span<const std::string> argv, RunOptions options = {}) const {
        const std::vector<std::string_view> views{argv.begin(), argv.end()};
        return try_run_argv(std::span{views}, std::move(options));
    }
    [[nodiscard]] Result<CommandResult> try_run_argv(std::initializer_list<std::string_view> argv, RunOptions options = {}) const {
        return try_run_argv(std::span{argv.begin(), argv.size()}, std::move(options));
    }

#if defined(__cpp_exceptions)
    /// Runs a command line with bash and waits. A command that fails, is stopped or times out is a result; what throws is everything
    /// that kept it from being run: PolicyError, SrtUnavailableError, SandboxStartError, ProcessError, and what a callback threw.
    CommandResult run(std::string_view command, RunOptions options = {}) const { return try_run(command, std::move(options)).value(); }
    CommandResult run_argv(std::span<const std::string_view> argv, RunOptions options = {}) const {
        return try_run_argv(argv, std::move(options)).value();
    }
    CommandResult run_argv(std::span<const std::string> argv, RunOptions options = {}) const { return try_run_argv(argv, std::move(options)).value(); }
    CommandResult run_argv(std::initializer_list<std::string_view> argv, RunOptions options = {}) const {
        return try_run_argv(argv, std::move(options)).value();
    }
    /// Starts a command and returns its live handle.
    [[nodiscard]] Running spawn(std::string_view command, RunOptions options = {}) const { return try_spawn(command, std::move(options)).value(); }
#endif

protected:
    Commands() = default;
    explicit Commands(std::shared_ptr<srt::Source> source) : source_{std::move(source)} {}
    ~Commands() = default;
    Commands(const Commands&) = default;
    Commands(Commands&&) = default;
    Commands& operator=(const Commands&) = default;
    Commands& operator=(Commands&&) = default;

private:
    [[nodiscard]] Result<Running> start(srt::Request request, RunOptions&& options) const {
        if (auto checked = check(request); !checked) return checked.error();
        return Running::start(source_, std::move(request), std::move(options));
    }
    [[nodiscard]] static Result<CommandResult> finish(Result<Running> running) {
        if (!running) return running.error();
        return running->try_wait();
    }

    /// Nobody could write into it, and a command that reads it would wait for ever.
    [[nodiscard]] static Result<void> check_input(const RunOptions& options) {
        if (options.input.kind() != Input::Kind::pipe) return {};
        return Error{ErrorCode::policy, "bailey: Input::pipe() is written through the Running that spawn() returns; give run() the bytes themselves, as Input"};
    }

    /// Refused by name, before anything starts; values are never repeated, they may be secrets.
    [[nodiscard]] static Result<void> check(const srt::Request& request) {
        const auto nul = [](std::string_view text) { return text.find('\0'); };
        if (const auto at = nul(request.command); at != std::string::npos)
            return Error{ErrorCode::policy, text::concat({"bailey: the command contains a NUL byte at ", std::to_string(at), "; a shell cannot be given one"})};
        for (std::size_t i = 0; i < request.argv.size(); ++i) {
            if (const auto at = nul(request.argv[i]); at != std::string::npos)
                return Error{ErrorCode::policy, text::concat({"bailey: argument ", std::to_string(i), " contains a NUL byte at ", std::to_string(at), "; a program cannot be given one"})};
        }
        for (const auto& [name, value] : request.environment) {
            if (const auto fault = grammar::env_name_fault(name, grammar::EnvUse::value))
                return Error{ErrorCode::policy, grammar::refusal(grammar::sentence(fault.kind), "RunOptions::env", name, fault.position)};
            if (const auto fault = grammar::env_value_fault(value))
                return Error{ErrorCode::policy, grammar::refusal(grammar::sentence(fault.kind), "RunOptions::env, the value of", name, fault.position)};
        }
        return {};
    }

    std::shared_ptr<srt::Source> source_;
};

}  // namespace bailey
