// A command's way through a session: a sandbox that waits, else one that the broker wraps, else srt alone. Slower, never weaker.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bailey/srt/cold.hpp>
#include <bailey/srt/guess.hpp>
#include <bailey/srt/launch.hpp>
#include <bailey/srt/session_core.hpp>

namespace bailey::srt {

class SessionLaunch final : public Launch {
public:
    SessionLaunch(std::shared_ptr<SessionCore> core, PreparedSandbox prepared, Memory memory, Entry entry, std::optional<process::Clock::time_point> deadline)
        : core_{std::move(core)}, prepared_{std::move(prepared)}, memory_{std::move(memory)}, entry_{std::move(entry)}, deadline_{deadline} {}
    ~SessionLaunch() override { core_->release(prepared_); }

    [[nodiscard]] const std::string& nonce() const override { return entry_.nonce; }

    [[nodiscard]] Result<std::unique_ptr<process::Process>> start(Input input, process::Readiness& readiness, process::StopSignal& stop) override {
        entry_.null_input = input.kind() == Input::Kind::null;
        if (auto written = Sandbox::write_script(prepared_.script + "/go", entry_script(entry_)); !written) return written.error();
        // A little more than there is: the clock is the host's, the session's is for a host that is busy in a callback.
        if (deadline_) {
            if (auto kept = core_->keep_time(prepared_, *deadline_ + std::chrono::milliseconds{500}); !kept) return kept.error();
        }
        // Cannot block, there is room; and when nobody reads any more, the process that is driven now has ended.
        (void)process::write_without_sigpipe(prepared_.control, prepared_.child.word + "\n");
        process::DrivePlan plan;
        plan.namespaces = core_->sandbox()->pid_namespaces();
        plan.mark = prepared_.mark();
        plan.input = std::move(input);
        plan.deadline = deadline_;
        return process::Process::drive(std::exchange(prepared_.child, {}), plan, readiness, stop);
    }

    [[nodiscard]] std::vector<Violation> look_around(const Said& said) override {
        auto violations = core_->take_network_violations(prepared_);
        for (auto& violation : memory_.look_around()) violations.push_back(std::move(violation));
        for (auto& guess : Guesses{core_->boundary(), entry_.cwd}.of(said)) {
            const auto known = [&](const Violation& violation) { return violation.kind == guess.kind && violation.subject == guess.subject; };
            if (std::none_of(violations.begin(), violations.end(), known)) violations.push_back(std::move(guess));
        }
        return violations;
    }

private:
    std::shared_ptr<SessionCore> core_;
    PreparedSandbox prepared_;
    Memory memory_;
    Entry entry_;
    std::optional<process::Clock::time_point> deadline_;
};

class SessionSource final : public Source {
public:
    explicit SessionSource(std::shared_ptr<SessionCore> core) : core_{std::move(core)} {}

    [[nodiscard]] std::unique_ptr<Awaited> ask(Request request) override { return std::make_unique<Waiting>(core_, std::move(request)); }
    [[nodiscard]] Result<FoundTools> tools() const override { return core_->sandbox()->tools(); }

private:
    using Taken = std::optional<Result<std::unique_ptr<Launch>>>;

    class Waiting final : public Awaited {
    public:
        Waiting(std::shared_ptr<SessionCore> core, Request request) : core_{std::move(core)}, request_{std::move(request)} {}
        ~Waiting() override { give_back(); }

        [[nodiscard]] Taken take(process::Readiness& readiness) override {
            if (!memory_) {
                if (auto attached = wakeup_.attach(readiness); !attached) return attached.error();
                if (loses_children() || core_->is_forked()) return cold();
                auto cwd = core_->sandbox()->check(request_);
                if (!cwd) return cwd.error();
                cwd_ = std::move(*cwd);
                auto memory = core_->sandbox()->remember();
                if (!memory) return memory.error();
                memory_.emplace(std::move(*memory));
                if (auto waiting = core_->take_waiting(*memory_)) return launch(std::move(*waiting), &SessionStats::prepared);
                if (auto asked = ask_broker(); !asked) return asked.error();
            }
            wakeup_.quiet();
            switch (core_->state_of(ticket_)) {
                case Ticket::State::waiting:
                case Ticket::State::wrapped: return std::nullopt;
                case Ticket::State::failed: return *ticket_.failure;
                case Ticket::State::started: {
                    auto prepared = std::move(*prepared_);
                    prepared_.reset();
                    return launch(std::move(prepared), &SessionStats::wrapped);
                }
                case Ticket::State::lost:
                    give_back();
                    if (++asked_again_ > 3) return cold();
                    if (auto asked = ask_broker(); !asked) return asked.error();
                    return std::nullopt;
                case Ticket::State::refused: break;
            }
            return cold();
        }

    private:
        [[nodiscard]] Result<void> ask_broker() {
            ticket_ = {};
            ticket_.wakeup = &wakeup_;
            return core_->ask_for(*memory_, ticket_, prepared_);
        }

        /// Where the kernel reaps what ends, only the guard of a cold run can tell how it ended.
        [[nodiscard]] static bool loses_children() {
            struct sigaction action {};
            return ::sigaction(SIGCHLD, nullptr, &action) == 0 && (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0);
        }

        void give_back() {
            if (!prepared_) return;
            core_->cancel(*prepared_);
            core_->discard(*prepared_);
            prepared_.reset();
        }

        [[nodiscard]] Taken launch(PreparedSandbox prepared, std::uint64_t SessionStats::*how) {
            auto entry = core_->sandbox()->entry(request_, random_hex(16), cwd_, prepared.script);
            if (!entry) {
                core_->discard(prepared);
                return entry.error();
            }
            entry->merge_stderr = request_.merge_stderr;
            core_->count(how);
            return std::unique_ptr<Launch>{new SessionLaunch{core_, std::move(prepared), std::move(*memory_), std::move(*entry), request_.deadline}};
        }

        [[nodiscard]] Taken cold() {
            give_back();
            if (auto broken = core_->broken()) return *broken;
            core_->count(&SessionStats::cold);
            memory_.reset();
            return ColdLaunch::prepare(core_->sandbox(), core_->boundary(), request_);
        }

        std::shared_ptr<SessionCore> core_;
        Request request_;
        process::Wakeup wakeup_;
        std::string cwd_;
        std::optional<Memory> memory_;
        Ticket ticket_;
        std::optional<PreparedSandbox> prepared_;
        int asked_again_ = 0;
    };

    std::shared_ptr<SessionCore> core_;
};

}  // namespace bailey::srt
