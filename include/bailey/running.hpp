// A command that is running: a live handle for an event loop, or to wait for. run() is spawn() and wait().
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <version>
#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif

#include <bailey/base/error.hpp>
#include <bailey/base/text.hpp>
#include <bailey/process/own_delete.hpp>
#include <bailey/process/process.hpp>
#include <bailey/run.hpp>
#include <bailey/srt/guard.hpp>
#include <bailey/srt/launch.hpp>
#include <bailey/srt/start_marker.hpp>
#include <bailey/srt/start_remedy.hpp>

namespace bailey {

/// Move-only. One thread at a time drives it; stop() may be called from any. Its destructor stops the command and reaps it: within
/// half a second as a rule, 12 s at most where the kernel is slow to end a process. A moved-from one can only be destroyed or assigned
/// to. A child that the host forks may run commands of its own in a workspace; those that run already are its parent's, and their
/// handles are only good for being destroyed there.
class Running {
public:
    Running(Running&&) noexcept = default;
    Running& operator=(Running&&) noexcept = default;

    [[nodiscard]] static Result<Running> start(std::shared_ptr<srt::Source> source, srt::Request request, RunOptions options) {
        StatePointer state{new State{std::move(source), std::move(request), std::move(options)}};
        if (auto begun = state->begin(); !begun) return begun.error();
        return Running{std::move(state)};
    }

    /// Readable when step() has something to do: for poll, epoll or kqueue. Stays the same and valid while this lives.
    [[nodiscard]] int fd() const { return state_->readiness.fd(); }

    /// Does what can be done now and never blocks, but for the callbacks. True when the command has ended.
    bool step() { return state_->step(); }

    /// From any thread: ends the command with Outcome::cancelled, unless it has ended before.
    void stop() { state_->stop.request(); }

    /// Input::pipe() only, and nothing after close_input(). Queued without a bound; bytes that the command does not read are dropped
    /// when it ends.
    void write(std::string_view bytes) { state_->write(bytes); }
    void close_input() { state_->close_input(); }

    /// Waits at most that long; true when the command has ended.
    bool wait_for(std::chrono::milliseconds at_most) {
        const auto until = process::later(process::Clock::now(), at_most);
        while (!step()) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - process::Clock::now());
            if (left.count() <= 0) return false;
            state_->wait(left);
        }
        return true;
    }

    /// Waits for the end. The result is handed out once; ErrorCode::process when it is asked for again.
    [[nodiscard]] Result<CommandResult> try_wait() {
        while (!step()) state_->wait(std::nullopt);
        return state_->take_result();
    }
#if defined(__cpp_exceptions)
    CommandResult wait() { return try_wait().value(); }
#endif

private:
    struct State {
        State(std::shared_ptr<srt::Source> from, srt::Request what, RunOptions how)
            : source{std::move(from)},
              request{std::move(what)},
              options{std::move(how)},
              out{options.output_limit, options.keep},
              err{options.output_limit, options.keep} {}

        State(const State&) = delete;
        State& operator=(const State&) = delete;

        /// Nobody waited for the end: the host is protected all the same.
        ~State() {
            const bool has_run = child != nullptr;
            child.reset();
            if (has_run && launched) (void)launched->look_around({});
        }

        Result<void> begin() {
            if (options.timeout.count() != 0) deadline = process::later(began, options.timeout);
            auto opened = process::Readiness::open();
            if (!opened) return opened.error();
            readiness = std::move(*opened);
            if (auto attached = stop.attach(readiness); !attached) return attached;
#if defined(__cpp_lib_jthread)
            if (options.stop.stop_possible()) on_stop.emplace(options.stop, StopRequest{&stop});
#endif
            if (options.limiter != nullptr) {
                if (!options.limiter->fd())
                    return Error{ErrorCode::process, "bailey: the Limiter has no pipe, because the process was out of descriptors when it was made; make it anew"};
                readiness.watch_readable(options.limiter->fd());
            }
            readiness.wake_at(deadline);
            return options.limiter == nullptr ? ask() : ask_when_allowed();
        }

        Result<void> ask_when_allowed() {
            slot = options.limiter->try_acquire();
            if (!slot) return {};
            readiness.forget(options.limiter->fd());
            return ask();
        }

        /// Only now the workspace is looked at: what stood there while we waited for a slot does not count.
        Result<void> ask() {
            if (ended_early()) return {};
            request.merge_stderr = options.merge_stderr;
            request.deadline = deadline;
            awaited = source->ask(std::move(request));
            return start_when_there();
        }

        Result<void> start_when_there() {
            auto there = awaited->take(readiness);
            if (!there) return {};
            awaited.reset();
            if (!*there) return there->error();
            launched = std::move(**there);
            marker.emplace(launched->nonce());
            auto started = launched->start(std::exchange(options.input, {}), readiness, stop);
            if (!started) return started.error();
            child = std::move(*started);
            if (!early_input.empty()) child->write(std::exchange(early_input, {}));
            if (input_closed) child->close_input();
            return {};
        }

        bool step() {
            const bool over = failure || result_ready() || advance();
            if (over) slot.release();
            return over;
        }

        bool advance() {
            if (!child) {
                stop.quiet();
                if (!ended_early()) {
                    if (auto begun = awaited ? start_when_there() : ask_when_allowed(); !begun) failure = begun.error();
                }
                if (failure || finished_early) awaited.reset();
                return failure || result_ready();
            }
#if defined(__cpp_exceptions)
            try {
                child->step([this](process::Stream stream, std::string_view bytes) { receive(stream, bytes); });
            } catch (...) {
                if (!thrown) thrown = std::current_exception();
                stop.request();
            }
#else
            child->step([this](process::Stream stream, std::string_view bytes) { receive(stream, bytes); });
#endif
            return result_ready();
        }

        void receive(process::Stream stream, std::string_view bytes) {
            if (options.merge_stderr && stream == process::Stream::err) return marker->aside(bytes);
            if (stream == (options.merge_stderr ? process::Stream::out : process::Stream::err)) {
                bytes = marker->feed(bytes);
                if (marker->seen()) slot.release();
            }
            if (bytes.empty()) return;
            auto& capture = stream == process::Stream::out ? out : err;
            capture.append(bytes);
            const auto& callback = stream == process::Stream::out ? options.on_stdout : options.on_stderr;
            if (callback && !thrown) callback(bytes);
        }

        /// Stopped, or out of time, before it began: it never begins.
        [[nodiscard]] bool ended_early() {
            if (stop.requested()) {
                finished_early = Outcome::cancelled;
            } else if (deadline && process::Clock::now() >= *deadline) {
                finished_early = Outcome::timed_out;
            }
            return finished_early.has_value();
        }
        [[nodiscard]] bool result_ready() const { return finished_early || (child && child->done()); }

        void wait(std::optional<std::chrono::milliseconds> at_most) const {
            if (child) {
                child->wait(at_most);
            } else {
                readiness.wait(at_most);
            }
        }

        void write(std::string_view bytes) {
            if (input_closed) return;
            if (child) {
                child->write(bytes);
            } else {
                early_input += bytes;
            }
        }
        void close_input() {
            input_closed = true;
            if (child) child->close_input();
        }

        Result<CommandResult> take_result() {
            if (std::exchange(taken, true)) return Error{ErrorCode::process, "bailey: the result of this command has been handed out already; keep what the first wait() returned"};
            if (failure) return *failure;
            CommandResult result;
            result.outcome = finished_early.value_or(child ? child->ending().outcome : Outcome::cancelled);
            const auto decided = child ? decide(result) : Result<void>{};
            result.out_bytes = out.total();
            result.err_bytes = err.total();
            auto kept_out = out.take();
            auto kept_err = err.take();
            result.out = std::move(kept_out.bytes);
            result.err = std::move(kept_err.bytes);
            result.out_truncated = kept_out.truncated;
            result.err_truncated = kept_err.truncated;
            result.out_gap = kept_out.gap;
            result.err_gap = kept_err.gap;
            // Also when the outcome is lost: what stands in the workspace is the host's concern.
            if (child && marker->seen()) result.violations = launched->look_around({options.merge_stderr ? result.out : result.err, result.exit_code});
            launched.reset();
            source.reset();  // a session that is closed ends with its last command, not with the last handle
            if (thrown) return Error{ErrorCode::callback, text::concat({"bailey: a callback threw; the command was stopped", decided ? "" : "\n", decided ? "" : decided.error().what()}), thrown};
            if (!decided) return decided.error();
            result.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(process::Clock::now() - began);
            return result;
        }

        /// By evidence: the marker, our own clock and signals, and only then srt's status.
        Result<void> decide(CommandResult& result) {
            const auto& ending = child->ending();
            if (ending.lingers)
                return Error{ErrorCode::process, "bailey: the command has been killed, but a process of it hangs in the kernel and can still change the workspace; trust nothing there before it is gone "
                                                 "(a file system that does not answer, or very large files: see `ps -eo pid,stat,args` for D)"};
            // While a callback kept us from the clock, the guard kept to it.
            if (result.outcome == Outcome::exited && srt::guard_note(child->notes(), 'T')) result.outcome = Outcome::timed_out;
            if (result.outcome != Outcome::exited) return {};
            if (!marker->seen()) return start_failure();
            if (!ending.status_known) {
                const auto noted = srt::noted_number(child->notes(), 'X');
                if (!noted)
                    return Error{ErrorCode::process, "bailey: the command's exit status is lost: somebody else in this process reaped the child "
                                                     "(a waitpid(-1), or SIGCHLD ignored)", ECHILD};
                result.exit_code = *noted;
            } else {
                result.exit_code = ending.exit_code;
            }
            // For srt, a sandbox that somebody ended by SIGTERM or SIGINT has succeeded.
            if (const auto signal = srt::noted_number(child->notes(), 'K')) result.exit_code = 128 + *signal;
            if (result.exit_code > 128 && result.exit_code <= 192) result.likely_signal = result.exit_code - 128;
            return {};
        }

        [[nodiscard]] Error start_failure() const {
            if (const auto version = srt::guard_note(child->notes(), 'N')) {
                const auto tools = source->tools();
                return {ErrorCode::srt_unavailable, text::concat({"bailey: node ", *version, " is too old: srt needs ", tools ? tools->node_floor : "a newer one", " or newer; install it, or name another in Tools::node"})};
            }
            std::string words = marker->before();
            while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
            if (words.empty()) words = "it said nothing";
            if (const auto remedy = srt::start_remedy(words); !remedy.empty()) words += text::concat({"\n", remedy});
            return {ErrorCode::sandbox_start, text::concat({"bailey: the sandbox did not start, the command never ran (srt ended with ", std::to_string(child->ending().exit_code), "): ", words})};
        }

        std::shared_ptr<srt::Source> source;
        srt::Request request;
        RunOptions options;
        process::Clock::time_point began = process::Clock::now();
        std::optional<process::Clock::time_point> deadline;
        process::Capture out, err;
        process::Readiness readiness;
        process::StopSignal stop;
#if defined(__cpp_lib_jthread)
        struct StopRequest {
            process::StopSignal* signal;
            void operator()() const { signal->request(); }
        };
        std::optional<std::stop_callback<StopRequest>> on_stop;
#endif
        Limiter::Slot slot;
        std::unique_ptr<srt::Awaited> awaited;
        std::unique_ptr<srt::Launch> launched;
        std::optional<srt::StartMarker> marker;
        std::exception_ptr thrown;
        std::string early_input;
        bool input_closed = false;
        bool taken = false;
        std::optional<Outcome> finished_early;
        std::optional<Error> failure;
        std::unique_ptr<process::Process> child;  // last: ends before what it uses
    };

    using StatePointer = std::unique_ptr<State, process::OwnDelete>;
    explicit Running(StatePointer state) : state_{std::move(state)} {}

    StatePointer state_;
};

}  // namespace bailey
