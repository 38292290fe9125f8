// The life of one child: its streams, its deadline, its end and the end of everything in its group. Knows nothing of policies or srt.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <bailey/base/error.hpp>
#include <bailey/process/child.hpp>
#include <bailey/process/descendants.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/process/input.hpp>
#include <bailey/process/outcome.hpp>
#include <bailey/process/readiness.hpp>
#include <bailey/process/sweep.hpp>
#include <bailey/process/wakeup.hpp>

namespace bailey::process {

enum class Stream { out, err };

/// What a child is to be driven by.
struct DrivePlan {
    std::size_t namespaces = 0;               ///< how many pid namespaces deep its command runs: its end waits until that one is empty
    std::string mark;                         ///< in the command line of whatever a kill of the group could miss; empty: nothing
    Input input;
    std::optional<Clock::time_point> deadline;
    std::chrono::milliseconds grace{300};     ///< between SIGTERM and SIGKILL
};

/// A child that is driven from its start.
struct ProcessPlan : ChildPlan, DrivePlan {};

/// A request to stop that any thread may make, and that wakes whoever waits on the Readiness it was attached to.
class StopSignal {
public:
    [[nodiscard]] Result<void> attach(Readiness& readiness) { return wakeup_.attach(readiness); }
    void request() {
        requested_.store(true, std::memory_order_release);
        wakeup_.ring();
    }
    [[nodiscard]] bool requested() const { return requested_.load(std::memory_order_acquire); }

    /// The wake-up has been heard; the request stays.
    void quiet() const { wakeup_.quiet(); }

private:
    Wakeup wakeup_;
    std::atomic<bool> requested_{false};
};

struct Ending {
    Outcome outcome = Outcome::exited;
    bool status_known = false;  ///< false when somebody else reaped the child (SIGCHLD ignored, a waitpid(-1) elsewhere)
    int exit_code = 0;          ///< 128 + n when it was killed by signal n
    bool lingers = false;       ///< something of it could not be seen to end: SIGKILL waits for a system call that hangs
};

/// Driven by whoever owns it: step() does what can be done now and never blocks; wait() until there is something to do.
/// One thread at a time; the StopSignal is for the others. Both it and the Readiness must outlive the process.
class Process {
public:
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    [[nodiscard]] static Result<std::unique_ptr<Process>> start(ProcessPlan plan, Readiness& readiness, StopSignal& stop) {
        plan.input_pipe = plan.input.kind() != Input::Kind::null;
        auto child = start_child(std::move(static_cast<ChildPlan&>(plan)));
        if (!child) return child.error();
        return drive(std::move(*child), plan, readiness, stop);
    }
    [[nodiscard]] static std::unique_ptr<Process> drive(Child child, const DrivePlan& plan, Readiness& readiness, StopSignal& stop) {
        std::unique_ptr<Process> process{new Process{std::move(child), plan, readiness, stop}};
        process->begin(plan.input);
        return process;
    }

    /// Stops and reaps, in bounded time.
    ~Process() {
        if (phase_ == Phase::done) return;
        stop_.request();
        while (phase_ != Phase::done) {
            step([](Stream, std::string_view) {});
            if (phase_ != Phase::done) wait(std::nullopt);
        }
    }

    [[nodiscard]] bool done() const { return phase_ == Phase::done; }
    [[nodiscard]] const Ending& ending() const { return ending_; }
    [[nodiscard]] const std::string& notes() const { return notes_; }  ///< what the child wrote to its lifeline
    [[nodiscard]] pid_t pid() const { return pid_; }

    void wait(std::optional<std::chrono::milliseconds> at_most) const {
        // Without a descriptor for the child's end (before Linux 5.2) look now and then.
        if (!exit_watch_ && pid_ > 0) at_most = std::min(at_most.value_or(poll_interval), poll_interval);
        readiness_.wait(at_most);
    }

    /// Queues bytes for the child's standard input (Input::pipe()).
    void write(std::string_view bytes) {
        if (!input_ || close_input_when_empty_) return;
        pending_input_.append(bytes);
        pump_input();
    }
    void close_input() {
        close_input_when_empty_ = true;
        pump_input();
    }

    /// Sink: void(Stream, std::string_view), called for what was read. It may throw: the process is then stopped by the next steps.
    template <class Sink>
    void step(Sink&& sink) {
        stop_.quiet();
        pump_input();
        read_some(out_, Stream::out, sink);
        read_some(err_, Stream::err, sink);
        read_notes();
        read_ended();
        notice_exit();  // before the clock and the stop: an end that came first is the outcome
        const auto now = Clock::now();
        if (phase_ == Phase::running) {
            if (stop_.requested()) {
                begin_stop(Outcome::cancelled, now);
            } else if (deadline_ && now >= *deadline_) {
                begin_stop(Outcome::timed_out, now);
            }
        }
        if (phase_ == Phase::terminating && now >= next_) {
            know_sandbox();
            hold_marked();
            signal_group(SIGKILL);
            phase_ = Phase::killed;
            next_ = now + reap_limit;
        }
        if (phase_ == Phase::killed && now >= next_) give_up_on_exit(now);
        if (phase_ == Phase::draining && ((!out_ && !err_) || now >= next_)) begin_leaving(now);
        if (phase_ == Phase::leaving && (is_left() || now >= next_)) finish();
        readiness_.wake_at(next_wakeup());
    }

private:
    enum class Phase { running, terminating, killed, draining, leaving, done };

    static constexpr std::chrono::milliseconds poll_interval{20};
    static constexpr std::chrono::seconds drain_limit{2};  // measured: 1.9 s until the last of 3000 children was gone
    static constexpr std::chrono::seconds reap_limit{5};   // SIGKILL is not death: a process may hang in the kernel, for long by a file system's will
    static constexpr std::size_t chunk_size = 64 * 1024;
    static constexpr int chunks_per_step = 16;  // so that a flood cannot keep step() from looking at the clock
    static constexpr std::size_t notes_limit = 4096;
    static constexpr int most_searches = 16;     // where nothing can be found, a flood must not make us look at every turn

    Process(Child child, const DrivePlan& plan, Readiness& readiness, StopSignal& stop)
        : readiness_{readiness}, stop_{stop}, deadline_{plan.deadline}, grace_{plan.grace}, namespaces_{plan.namespaces}, mark_{plan.mark},
          pid_{child.pid}, exit_watch_{std::move(child.exit_watch)}, out_{std::move(child.out)}, err_{std::move(child.err)},
          input_{std::move(child.input)}, lifeline_{std::move(child.lifeline)}, ended_{std::move(child.ended)}, holders_{std::move(child.holders)}, word_{std::move(child.word)} {
        if (inherits_) group_ = pid_;
        if (child.sandbox) hold(std::move(child.sandbox));
    }

    void begin(const Input& input) {
        for (const Fd* fd : {&out_, &err_, &lifeline_, &ended_, &exit_watch_}) {
            if (*fd) readiness_.watch_readable(*fd);
        }
        pending_input_ = input.bytes();
        close_input_when_empty_ = input.kind() != Input::Kind::pipe;
        pump_input();
        readiness_.wake_at(next_wakeup());
    }

    void pump_input() {
        while (input_ && input_written_ < pending_input_.size()) {
            const auto written = write_without_sigpipe(input_, std::string_view{pending_input_}.substr(input_written_));
            if (written > 0) {
                input_written_ += static_cast<std::size_t>(written);
            } else if (errno == EAGAIN) {
                if (!input_watched_) readiness_.watch_writable(input_);
                input_watched_ = true;
                return;
            } else if (errno != EINTR) {  // EPIPE: the child does not read, which is its right
                close_input_when_empty_ = true;
                break;
            }
        }
        pending_input_.clear();
        input_written_ = 0;
        if (input_watched_) readiness_.forget(input_);
        input_watched_ = false;
        if (close_input_when_empty_) input_.reset();
    }

    template <class Sink>
    void read_some(Fd& fd, Stream stream, Sink& sink) {
        for (int chunk = 0; fd && chunk < chunks_per_step; ++chunk) {
            const auto size = ::read(fd.get(), buffer_.get(), chunk_size);
            if (size > 0) {
                know_sandbox();  // what is said comes from in there
                sink(stream, std::string_view{buffer_.get(), static_cast<std::size_t>(size)});
                // a slow sink must not keep us from the clock
                if (phase_ == Phase::running && deadline_ && Clock::now() >= *deadline_) return;
            } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
                readiness_.forget(fd);
                fd.reset();
            } else if (errno == EAGAIN) {
                return;
            }
        }
    }

    void read_notes() {
        char bytes[512];
        while (lifeline_) {
            const auto size = ::read(lifeline_.get(), bytes, sizeof bytes);
            if (size > 0) {
                if (notes_.size() < notes_limit) notes_.append(bytes, static_cast<std::size_t>(size));
            } else if (size < 0 && errno == EAGAIN) {
                return;
            } else if (size == 0 || errno != EINTR) {
                readiness_.forget(lifeline_);
                lifeline_.reset();
            }
        }
    }

    /// The child's own word, and no more: what it says it could have made true.
    void read_ended() {
        if (!ended_ || heard_) return;
        char bytes[64];
        const auto size = ::read(ended_.get(), bytes, sizeof bytes);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
        readiness_.forget(ended_);
        heard_ = true;  // and kept open: what else the child says must not end it
        const std::string_view said{bytes, size > 0 ? static_cast<std::size_t>(size) : 0};
        int code = -1;
        const auto digits = said.substr(std::min<std::size_t>(said.size(), 1));
        const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), code).ptr;
        const bool plain = said.starts_with('X') && code >= 0 && code <= 255 && said.substr(static_cast<std::size_t>(end - said.data())) == " " + word_ + "\n";
        if (!plain || (namespaces_ != 0 && sandbox_.empty()) || phase_ != Phase::running) return;
        said_code_ = code;
        for (const auto& holder : holders_) kill_held(holder);  // first, so that its output ends before all around it has
        signal_group(SIGKILL);
        phase_ = Phase::killed;
        next_ = Clock::now() + reap_limit;
    }

    void notice_exit() {
        if (pid_ <= 0) return;
        siginfo_t info{};
        // WNOWAIT leaves the zombie, which keeps the id of the group ours until it has been swept.
        const int waited = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG);
        if (waited == 0 && info.si_pid == 0) return;
        const bool ours = waited == 0;
        if (waited != 0 && errno != ECHILD) return;
        const bool may_have_escaped = !mark_.empty() && !said_code_ && (phase_ != Phase::running || !ours || info.si_code != CLD_EXITED);
        if (ours) {
            if (may_have_escaped) hold_marked();
            signal_group(SIGKILL);
            int ignored = 0;
            while (::waitpid(pid_, &ignored, 0) < 0 && errno == EINTR) {
            }
            ending_.status_known = true;
            ending_.exit_code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
        } else {
            // Somebody else reaped it. The id may be reused once its group is empty, so signal the group only while it
            // has members that are ours: it does as long as somebody holds our pipes.
            if (out_ || err_) signal_group(SIGKILL);
        }
        if (said_code_) {
            ending_.status_known = true;
            ending_.exit_code = *said_code_;
        }
        if (may_have_escaped) end_marked();
        if (exit_watch_) readiness_.forget(exit_watch_);
        exit_watch_.reset();
        pid_ = -1;
        phase_ = Phase::draining;
        next_ = Clock::now() + drain_limit;
        read_notes();
    }

    void begin_stop(Outcome outcome, Clock::time_point now) {
        ending_.outcome = outcome;
        know_sandbox();
        hold_marked();
        signal_group(SIGTERM);
        phase_ = Phase::terminating;
        next_ = now + grace_;
    }

    void give_up_on_exit(Clock::time_point now) {
        pid_ = -1;
        ending_.lingers = true;
        phase_ = Phase::draining;
        next_ = now;
    }

    /// Output is over as soon as a process has let go of it, which is before the kernel has ended all that run beside it.
    void begin_leaving(Clock::time_point now) {
        if (said_code_ && (out_ || err_)) end_marked();
        for (const auto& process : sandbox_) {
            kill_held(process);
            readiness_.watch_readable(process);
        }
        phase_ = Phase::leaving;
        next_ = now + (ending_.lingers ? std::chrono::seconds{0} : reap_limit);
    }
    [[nodiscard]] bool is_left() {
        std::erase_if(sandbox_, [this](const Fd& process) {
            if (!has_ended(process)) return false;
            if (inherits_) reap_held(process);
            return true;
        });
        if (group_ > 0 && reap_group(group_)) group_ = -1;
        return sandbox_.empty() && group_ <= 0;
    }

    /// While it can be told: a process that ends has no descendants any more, and no words.
    void know_sandbox() {
        if (namespaces_ == 0 || !sandbox_.empty() || pid_ <= 0 || searches_++ > most_searches) return;
        if (auto first = first_in_namespace(pid_, namespaces_)) hold(std::move(first));
    }
    void hold(Fd first) {
        sandbox_.push_back(std::move(first));
        if (!inherits_) return;
        // The first of the outer namespace has a group of its own, too.
        if (auto outer = first_in_namespace(pid_, 1)) sandbox_.push_back(std::move(outer));
    }
    /// Before they are signalled: whom we inherit dead is to be reaped, and has no words then.
    void hold_marked() {
        if (!inherits_ || mark_.empty()) return;
        for (auto& process : find_marked(mark_)) sandbox_.push_back(std::move(process));
    }
    void end_marked() {
        for (auto& process : kill_marked(mark_)) sandbox_.push_back(std::move(process));
    }

    void finish() {
        if (!is_left()) ending_.lingers = true;
        sandbox_.clear();
        out_.reset();
        err_.reset();
        input_.reset();
        lifeline_.reset();
        ended_.reset();
        phase_ = Phase::done;
    }

    void signal_group(int signal) const {
        if (pid_ > 0) ::kill(-pid_, signal);
    }

    [[nodiscard]] std::optional<Clock::time_point> next_wakeup() const {
        switch (phase_) {
            case Phase::running: return deadline_;
            case Phase::terminating:
            case Phase::killed:
            case Phase::draining: return next_;
            case Phase::leaving: return group_ > 0 ? std::min(next_, Clock::now() + std::chrono::milliseconds{2}) : next_;
            case Phase::done: break;
        }
        return Clock::time_point{} + std::chrono::nanoseconds{1};  // in the past: stays readable
    }

    Readiness& readiness_;
    StopSignal& stop_;
    Phase phase_ = Phase::running;
    std::optional<Clock::time_point> deadline_;
    std::chrono::milliseconds grace_;
    std::size_t namespaces_;
    std::string mark_;
    Clock::time_point next_{};

    pid_t pid_ = -1;
    const bool inherits_ = inherits_orphans();
    pid_t group_ = -1;  // whose orphans we inherit, while there are any
    Fd exit_watch_, out_, err_, input_, lifeline_, ended_;
    std::vector<Fd> holders_, sandbox_;
    std::string word_;
    std::optional<int> said_code_;
    std::string pending_input_;
    std::size_t input_written_ = 0;
    bool input_watched_ = false, heard_ = false;
    int searches_ = 0;
    bool close_input_when_empty_ = false;
    std::string notes_;
    Ending ending_;
    std::unique_ptr<char[]> buffer_{new char[chunk_size]};
};

}  // namespace bailey::process
