// A session's heart: its broker, the sandboxes that wait, and the thread that keeps them. Used from many threads.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <bailey/base/error.hpp>
#include <bailey/base/text.hpp>
#include <bailey/process/descendants.hpp>
#include <bailey/process/own_delete.hpp>
#include <bailey/process/sweep.hpp>
#include <bailey/process/wakeup.hpp>
#include <bailey/srt/broker.hpp>
#include <bailey/srt/network_violation.hpp>
#include <bailey/srt/prepared_sandbox.hpp>
#include <bailey/srt/process_tree.hpp>
#include <bailey/srt/sandbox.hpp>
#include <bailey/srt/session_options.hpp>

namespace bailey::srt {

/// What becomes of a sandbox that the broker was asked to wrap. Guarded by the session's lock.
struct Ticket {
    enum class State { waiting, wrapped, started, failed, lost, refused };  ///< lost: another broker has to be asked
    State state = State::waiting;
    std::string line;               ///< when it is wrapped
    std::optional<Error> failure;   ///< when it has failed
    PreparedSandbox* sandbox = nullptr;
    process::Wakeup* wakeup = nullptr;
};

class SessionCore {
public:
    [[nodiscard]] static Result<std::shared_ptr<SessionCore>> open(std::shared_ptr<const Sandbox> sandbox, SessionOptions options) {
        const auto refused = [](std::string_view why) { return Error{ErrorCode::policy, text::concat({"bailey: SessionOptions::", why})}; };
        if (options.prepared > most_prepared) return refused(text::concat({"prepared is ", std::to_string(options.prepared), ": each sandbox that waits has ten processes; write at most ", std::to_string(most_prepared)}));
        if (options.time_to_live.count() <= 0) return refused("time_to_live is not more than 0; write prepared = 0 for a session in which no sandbox waits");
        if (options.answer_within.count() <= 0) return refused("answer_within is not more than 0; leave on_network_request out for a session that asks nobody");
        if (auto tools = sandbox->tools(); !tools) return tools.error();
        if (auto same = sandbox->check_pins(); !same) return same.error();
        auto directories = sandbox->directory().make_run();
        if (!directories) return directories.error();
        auto readiness = process::Readiness::open();
        if (!readiness) return readiness.error();
        std::shared_ptr<SessionCore> core{new SessionCore{std::move(sandbox), std::move(options), std::move(*directories), std::move(*readiness)}, process::OwnDelete{}};
        if (auto attached = core->wakeup_.attach(core->readiness_); !attached) return attached.error();
        core->start_broker();
        if (auto started = core->start_threads(); !started) return started.error();
        return core;
    }

    ~SessionCore() {
        {
            const std::lock_guard lock{mutex_};
            closing_ = true;
        }
        changed_.notify_all();
        wakeup_.ring();
        if (keeper_.joinable()) keeper_.join();
        if (asker_.joinable()) asker_.join();
        if (broker_) broker_->end(readiness_);
        remove_tree(directories_.top);
    }
    SessionCore(const SessionCore&) = delete;
    SessionCore& operator=(const SessionCore&) = delete;

    [[nodiscard]] const std::shared_ptr<const Sandbox>& sandbox() const { return sandbox_; }
    /// A fork of this process has none of the session's threads, and its sandboxes are its parent's.
    [[nodiscard]] bool is_forked() const { return !maker_.is_maker(); }

    /// The workspace's, with the domains as they are now.
    [[nodiscard]] Boundary boundary() const {
        const std::lock_guard lock{mutex_};
        return boundary_;
    }
    /// Why the session is over, if it is.
    [[nodiscard]] std::optional<Error> broken() const {
        const std::lock_guard lock{mutex_};
        return broken_;
    }

    /// Change: void(Boundary&). In force for connections that begin after this has returned; those that are open stay open.
    template <class Change>
    [[nodiscard]] Result<void> change_domains(Change&& change) {
        std::unique_lock lock{mutex_};
        change(boundary_);
        const auto number = send_domains();
        const bool done = changed_.wait_for(lock, std::chrono::seconds{10}, [&] { return domains_done_ >= number || !broker_ || broken_ || closing_; });
        if (broken_) return *broken_;
        if (!done) return Error{ErrorCode::process, "bailey: the session's broker has not taken over the domains within 10 s; the new ones hold for the next broker"};
        return {};
    }

    /// Of the proxy that filters for this session.
    [[nodiscard]] Result<std::string> proxy_url() {
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, std::chrono::seconds{30}, [&] { return (broker_ && broker_->ready) || unavailable_ || broken_ || closing_; });
        if (broken_) return *broken_;
        if (!broker_ || !broker_->ready) return Error{ErrorCode::sandbox_start, text::concat({"bailey: the session has no broker, and so no proxy: ", last_words_.empty() ? "it did not start" : last_words_})};
        return text::concat({"http://bailey:", broker_->token, "@127.0.0.1:", std::to_string(broker_->port)});
    }

    [[nodiscard]] SessionStats stats() const {
        const std::lock_guard lock{mutex_};
        SessionStats stats = counts_;
        ProcessTree tree;
        if (broker_) tree.add(broker_->pid());
        for (const auto& waiting : pool_) tree.add(waiting.child.pid);
        stats.waiting = pool_.size();
        stats.processes = tree.processes();
        stats.memory = tree.memory();
        return stats;
    }
    void count(std::uint64_t SessionStats::*how) {
        const std::lock_guard lock{mutex_};
        ++counts_.commands;
        ++(counts_.*how);
    }
    /// A command that found its sandbox has ended.
    void release(PreparedSandbox& prepared) {
        // The workspace is as it was when the command's result is there; what is in bailey's own directory has time.
        const bool at_once = !prepared.placeholders.empty();
        if (at_once) discard(prepared);
        const std::lock_guard lock{mutex_};
        limits_.erase(prepared.id);
        if (!at_once) unwanted_.push_back(std::move(prepared));
        last_ended_ = process::Clock::now();
        watch_due_ = true;
        wakeup_.ring();
    }

    /// A sandbox that waits and is what would be made now.
    [[nodiscard]] std::optional<PreparedSandbox> take_waiting(const Memory& memory) {
        for (;;) {
            std::optional<PreparedSandbox> waiting;
            bool usable = false;
            {
                const std::lock_guard lock{mutex_};
                last_used_ = process::Clock::now();
                refused_since_used_ = false;
                unstill_ = 0;
                pump();
                if (pool_.empty()) {
                    wakeup_.ring();
                    return std::nullopt;
                }
                waiting.emplace(std::move(pool_.front()));
                pool_.pop_front();
                usable = broker_ && !broker_->frames.ended() && waiting->broker == broker_number_ && !broken_;
            }
            usable = usable && !process::has_ended(waiting->child) && sandbox_->missing_denials().empty();
            usable = usable && fingerprint(memory, waiting->script) == waiting->fingerprint;
            const std::lock_guard lock{mutex_};
            if (usable) {
                readiness_.wake_at(next_wakeup());  // the keeper has nothing to do now
                return waiting;
            }
            ++counts_.stale;
            unwanted_.push_back(std::move(*waiting));
            wakeup_.ring();
        }
    }

    /// One for a command that is there already. The ticket's wakeup rings when something has become of it; cancel() it before it goes.
    [[nodiscard]] Result<void> ask_for(const Memory& memory, Ticket& ticket, std::optional<PreparedSandbox>& prepared) {
        auto laid_out = lay_out(memory, false);
        if (!laid_out) return laid_out.error();
        prepared.emplace(std::move(*laid_out));
        ticket.sandbox = &*prepared;
        auto placeholders = sandbox_->ready_placeholders();
        if (!placeholders) return placeholders.error();
        prepared->placeholders = std::move(*placeholders);
        const auto settings = wrap_settings(*prepared);
        const std::lock_guard lock{mutex_};
        // It would be started by the keeper, with what that thread may and may not; a cold one is started by this one.
        const bool alike = prepared->fingerprint.is_inherited_by(keeper_id_);
        tickets_[prepared->id] = &ticket;
        ticket.state = unavailable_ || broken_ || !alike ? Ticket::State::refused : broker_ && prepared->broker != broker_number_ ? Ticket::State::lost : Ticket::State::waiting;
        if (ticket.state != Ticket::State::waiting) ticket.wakeup->ring();
        if (ticket.state != Ticket::State::waiting || !broker_) return {};  // without a broker: it is lost to the next one
        // The broker is told first: whatever becomes of this process then, somebody takes the placeholders away.
        broker_->frames.send('P', {prepared->id, places_json(*prepared)});
        for (auto& placeholder : prepared->placeholders) {
            if (auto settled = placeholder.settle(); !settled) {
                tickets_.erase(prepared->id);
                broker_->frames.send('C', {prepared->id});
                return settled.error();
            }
        }
        send_wrap(*prepared, settings);
        return {};
    }
    void cancel(const PreparedSandbox& prepared) {
        const std::lock_guard lock{mutex_};
        tickets_.erase(prepared.id);
    }
    [[nodiscard]] Ticket::State state_of(const Ticket& ticket) {
        const std::lock_guard lock{mutex_};
        pump();
        return ticket.state;
    }
    /// At that moment it is ended, whatever its host does, and "T" noted.
    [[nodiscard]] Result<void> keep_time(PreparedSandbox& prepared, process::Clock::time_point until) {
        auto notes = process::make_pipe();
        if (!notes) return notes.error();
        process::set_nonblocking(notes->read);
        prepared.child.lifeline = std::move(notes->read);
        process::Fd process{::fcntl(prepared.child.exit_watch.get(), F_DUPFD_CLOEXEC, 3)};
        const std::lock_guard lock{mutex_};
        limits_[prepared.id] = {until, std::move(process), std::move(notes->write)};
        readiness_.wake_at(next_wakeup());
        return {};
    }

    /// The end of one, wherever it has got to. The broker undoes a wrap that it is still busy with when it is done.
    void discard(PreparedSandbox& prepared) {
        end_sandbox(prepared);
        const std::lock_guard lock{mutex_};
        lines_.erase(prepared.id);
        if (broker_ && prepared.broker == broker_number_) broker_->frames.send('C', {prepared.id});
    }

    [[nodiscard]] std::vector<Violation> take_network_violations(const PreparedSandbox& prepared) {
        std::vector<std::string> lines;
        Boundary boundary;
        {
            const std::lock_guard lock{mutex_};
            pump();  // srt tells before it refuses, so what a command that has ended was refused has come
            const auto of = lines_.find(prepared.id);
            if (of == lines_.end() || of->second.empty()) return {};
            lines = std::exchange(of->second, {});
            boundary = boundary_;
        }
        return network_violations(lines, boundary);
    }

private:
    static constexpr std::size_t most_prepared = 64;
    static constexpr std::size_t most_lines = 1000;  // that are kept of what one command was refused
    static constexpr std::size_t most_questions = 1000;
    static constexpr int most_unstill = 3;
    static constexpr std::chrono::seconds start_limit{20};  // of a sandbox that is to wait
    static constexpr int most_failures = 2;          // of brokers in a row, before there is none

    struct Question {
        std::string number;
        std::uint64_t broker;
        NetworkRequest request;
    };

    SessionCore(std::shared_ptr<const Sandbox> sandbox, SessionOptions options, RunDirectories directories, process::Readiness readiness)
        : sandbox_{std::move(sandbox)}, options_{std::move(options)}, directories_{std::move(directories)}, readiness_{std::move(readiness)},
          boundary_{sandbox_->boundary()} {}

    Result<void> start_threads() {
        // No signal of the host is handled in a thread of ours.
        sigset_t all, before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, &before);
        const auto begin = [&] {
            keeper_ = std::thread{[this] { keep(); }};
            if (options_.on_network_request) asker_ = std::thread{[this] { put_questions(); }};
        };
        Result<void> started;
#if defined(__cpp_exceptions)
        try {
            begin();
        } catch (const std::exception&) {
            started = process::system_error("starting a thread", EAGAIN);
        }
#else
        begin();
#endif
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        if (!started) return started;
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return keeper_id_ != 0; });
        return started;
    }

    // ---- making sandboxes ----

    [[nodiscard]] std::string mark(std::uint64_t broker) const { return text::concat({directories_.script, "/", std::to_string(broker), "."}); }

    [[nodiscard]] Fingerprint fingerprint(const Memory& memory, const std::string& script) const {
        const auto tools = sandbox_->tools();
        if (!tools) return {};
        return {settings::filesystem_rules(sandbox_->boundary(), sandbox_->context(*tools, memory, directories_.sockets, script)), sandbox_->pinned(), sandbox_->directory().base()};
    }

    [[nodiscard]] Result<PreparedSandbox> lay_out(const Memory& memory, bool announce) {
        PreparedSandbox prepared;
        prepared.id = random_hex(16);
        {
            const std::lock_guard lock{mutex_};
            prepared.broker = broker_number_;
            prepared.script = mark(broker_number_) + std::to_string(++sandboxes_);
        }
        if (auto laid_out = srt::lay_out(prepared, *sandbox_, directories_, announce); !laid_out) return laid_out.error();
        prepared.fingerprint = fingerprint(memory, prepared.script);
        return prepared;
    }

    /// What is the same for all sandboxes of the session, and the rules of one. Without rules: nothing may be read or written.
    [[nodiscard]] std::string settings_json(const settings::FilesystemRules& rules) const {
        settings::RunContext context;
        if (const auto tools = sandbox_->tools()) {
            context.bwrap = tools->bwrap;
            context.socat = tools->socat;
            context.rg = tools->rg;
        }
        context.asks = static_cast<bool>(options_.on_network_request);
        return settings::to_json(boundary_, context, rules);
    }
    [[nodiscard]] std::string wrap_settings(const PreparedSandbox& prepared) const {
        const std::lock_guard lock{mutex_};
        return settings_json(prepared.fingerprint.rules());
    }

    void send_wrap(const PreparedSandbox& prepared, const std::string& settings) {
        lines_[prepared.id];
        broker_->frames.send('W', {prepared.id, settings, prepared.boot()});
        wakeup_.ring();
    }

    // ---- what the broker says: with the lock, by whichever thread has a use for it ----

    void pump() {
        if (!broker_ || broken_) return;
        auto& frames = broker_->frames;
        frames.flush();
        while (auto frame = broken_ ? std::nullopt : frames.receive()) take(*frame);
        if (frames.malformed()) broken_.emplace(ErrorCode::process, "bailey: the session's broker sent what is no frame; the session is over, open a new one");
        if (broken_) give_up();
        if (broken_ || frames.ended()) wakeup_.ring();
    }

    void take(const Frame& frame) {
        const auto& fields = frame.fields;
        const auto number = [](const std::string& digits) { return static_cast<std::uint16_t>(std::strtoul(digits.c_str(), nullptr, 10)); };
        if (frame.letter == 'R' && fields.size() == 2 && !broker_->ready) {
            broker_->ready = true;
            broker_->port = number(fields[0]);
            broker_->token = fields[1];
            changed_.notify_all();
            wakeup_.ring();
        } else if ((frame.letter == 'w' || frame.letter == 'e') && fields.size() == 2) {
            broker_->has_served |= frame.letter == 'w';
            settle(fields[0], frame.letter == 'w' ? &fields[1] : nullptr);
        } else if (frame.letter == 'n' && fields.empty()) {
            ++domains_done_;
            changed_.notify_all();
        } else if (frame.letter == 'V' && fields.size() == 2) {
            if (const auto of = lines_.find(fields[0]); of != lines_.end() && of->second.size() < most_lines) of->second.push_back(fields[1]);
        } else if (frame.letter == 'A' && fields.size() == 3) {
            if (questions_.size() >= most_questions) {
                broker_->frames.send('A', {fields[0], "no", "too many questions wait for an answer"});
                return;
            }
            questions_.push_back({fields[0], broker_number_, {fields[2], number(fields[1])}});
            changed_.notify_all();
        } else if (frame.letter == 'F' && fields.size() == 1) {
            last_words_ = fields[0];
            if (broker_->ready) broken_.emplace(ErrorCode::process, text::concat({"bailey: the session is over, open a new one: ", fields[0]}));
        } else {
            broken_.emplace(ErrorCode::process, text::concat({"bailey: the session's broker sent the frame \"", std::string_view{&frame.letter, 1}, "\" with ", std::to_string(fields.size()),
                                                              " fields, which nobody understands here; the session is over, open a new one"}));
        }
    }

    void settle(const std::string& id, const std::string* line) {
        if (const auto found = tickets_.find(id); found != tickets_.end()) {
            Ticket& ticket = *found->second;
            if (line != nullptr) {
                ticket.state = Ticket::State::wrapped;
                ticket.line = *line;
                wakeup_.ring();
            } else {
                conclude(found, Ticket::State::refused);
            }
        } else if (wrapping_ && wrapping_->id == id) {
            if (line != nullptr) {
                wrapped_ = *line;
            } else {
                refused_since_used_ = true;
                unwanted_.push_back(std::move(*wrapping_));
                wrapping_.reset();
            }
            wakeup_.ring();
        }
    }

    std::map<std::string, Ticket*>::iterator conclude(std::map<std::string, Ticket*>::iterator ticket, Ticket::State state) {
        ticket->second->state = state;
        ticket->second->wakeup->ring();
        return tickets_.erase(ticket);
    }
    void give_up() {
        settle_all(Ticket::State::refused);
        questions_.clear();
        changed_.notify_all();
    }
    void settle_all(Ticket::State state) {
        for (auto ticket = tickets_.begin(); ticket != tickets_.end();) ticket = conclude(ticket, state);
    }

    /// The number of the change: done when as many have been.
    std::uint64_t send_domains() {
        if (!broker_) return domains_done_;  // the next broker begins with them
        broker_->frames.send('N', {settings::json_strings(boundary_.allowed_domains), settings::json_strings(boundary_.denied_domains)});
        wakeup_.ring();
        return ++domains_sent_;
    }

    // ---- the keeper: drives the brokers, and starts all that is to live as long as it does ----

    void keep() {
        {
            const std::lock_guard lock{mutex_};
            keeper_id_ = Fingerprint::this_thread();
        }
        changed_.notify_all();
        for (;;) {
            std::deque<PreparedSandbox> unwanted;
            std::unique_ptr<Broker> lost;
            {
                const std::lock_guard lock{mutex_};
                if (closing_) break;
                wakeup_.quiet();
                pump();
                start_wrapped();
                if (broker_ && (broker_->step() || broken_ || broker_->frames.ended())) lost = lose_broker();
                if (!broker_ && !broken_ && !unavailable_) start_broker();
                expire();
                unwanted.swap(unwanted_);
            }
            if (lost) lost->end(readiness_);
            for (auto& prepared : unwanted) discard(prepared);
            prepare();
            {
                const std::lock_guard lock{mutex_};
                if (!unwanted_.empty() || wrapped_ || (!broker_ && !broken_ && !unavailable_)) continue;
                readiness_.wake_at(next_wakeup());
            }
            readiness_.wait(std::nullopt);
        }
        // Here and not by whoever closes the session: with this thread they die, and the dead cannot be told any more.
        for (auto* waiting : {&pool_, &unwanted_}) {
            for (auto& prepared : *waiting) end_sandbox(prepared);
        }
        for (auto* one : {&wrapping_, &settling_}) {
            if (*one) end_sandbox(**one);
        }
    }

    [[nodiscard]] Result<void> start(PreparedSandbox& prepared, const std::string& line) const { return start_sandbox(prepared, *sandbox_, directories_, line); }

    /// With the lock: who waits for one may give it up at any time.
    void start_wrapped() {
        for (auto ticket = tickets_.begin(); ticket != tickets_.end();) {
            if (ticket->second->state != Ticket::State::wrapped) {
                ++ticket;
                continue;
            }
            auto started = start(*ticket->second->sandbox, ticket->second->line);
            if (!started) ticket->second->failure = started.error();
            ticket = conclude(ticket, started ? Ticket::State::started : Ticket::State::failed);
        }
    }

    /// With the lock, or before there are threads.
    void start_broker() {
        const auto tools = sandbox_->tools();
        const auto patience = options_.on_network_request ? options_.answer_within : std::chrono::milliseconds{0};
        auto started = tools ? Broker::start(*sandbox_, *tools, directories_, mark(broker_number_ + 1), patience, readiness_) : tools.error();
        ++broker_number_;
        ++counts_.brokers;
        if (!started) {
            last_words_ = started.error().what();
            return count_failure();
        }
        broker_ = std::move(*started);
        broker_->frames.send('I', {settings_json({{"/"}, {}, {}, {}})});
        settle_all(Ticket::State::lost);  // those that waited for a broker
    }
    void count_failure() {
        if (++failures_ < most_failures) return;
        unavailable_ = true;
        settle_all(Ticket::State::refused);
        changed_.notify_all();
    }
    [[nodiscard]] std::unique_ptr<Broker> lose_broker() {
        if (auto said = broker_->said(); last_words_.empty()) last_words_ = std::move(said);
        // One that ends again and again, whatever the reason, is not started for ever.
        if (broker_->has_served || process::Clock::now() > broker_->started + std::chrono::seconds{10}) {
            failures_ = 0;
        } else {
            count_failure();
        }
        domains_done_ = domains_sent_;
        settle_all(Ticket::State::lost);
        questions_.clear();
        for (auto& waiting : pool_) unwanted_.push_back(std::move(waiting));
        pool_.clear();
        if (wrapping_) unwanted_.push_back(*std::exchange(wrapping_, std::nullopt));
        wrapped_.reset();
        changed_.notify_all();
        return std::move(broker_);
    }

    void expire() {
        while (!pool_.empty() && process::later(pool_.front().made, options_.time_to_live) <= process::Clock::now()) {
            unwanted_.push_back(std::move(pool_.front()));
            pool_.pop_front();
        }
        for (auto limit = limits_.begin(); limit != limits_.end();) {
            if (limit->second.until > process::Clock::now()) {
                ++limit;
                continue;
            }
            // What has ended in time stays so, however late its host looks.
            if (!process::has_ended(limit->second.process)) (void)process::write_without_sigpipe(limit->second.notes, "T\n");
            process::kill_held(limit->second.process);
            limit = limits_.erase(limit);
        }
    }
    [[nodiscard]] std::optional<process::Clock::time_point> next_wakeup() const {
        std::optional<process::Clock::time_point> next;
        const auto at = [&](process::Clock::time_point moment) { next = std::min(next.value_or(moment), moment); };
        if (settling_) at(settling_->made + start_limit);
        if (!pool_.empty()) at(process::later(pool_.front().made, options_.time_to_live));
        for (const auto& [id, limit] : limits_) at(limit.until);
        if (broker_ && broker_->frames.wants_to_write()) at(process::Clock::now() + std::chrono::milliseconds{2});
        if (may_prepare() || (has_time() && watch_due_)) at(next_preparation());
        return next;
    }

    /// One step towards the sandboxes that are to wait. Those that a command waits for come first.
    void prepare() {
        std::optional<std::string> line;
        std::optional<PreparedSandbox> wrapped;
        bool another = false, watch = false;
        {
            const std::lock_guard lock{mutex_};
            line = std::exchange(wrapped_, std::nullopt);
            if (line) wrapped = std::exchange(wrapping_, std::nullopt);
            if (!line && has_time() && process::Clock::now() >= next_preparation()) {
                another = may_prepare();
                watch = another || std::exchange(watch_due_, false);
            }
        }
        if (wrapped) {
            const auto started = start(*wrapped, *line);
            const std::lock_guard lock{mutex_};
            if (started) {
                settling_.emplace(std::move(*wrapped));
                settling_->made = process::Clock::now();
                readiness_.watch_readable(settling_->child.err);
            } else {
                refused_since_used_ = true;
                unwanted_.push_back(std::move(*wrapped));
            }
        }
        if (settling_) see_ready();
        if (watch) sandbox_->watch();
        if (!another) return;
        const auto memory = sandbox_->remember();
        // A place that is denied and does not exist would have to be held: a file in the workspace with no command running.
        auto prepared = memory && sandbox_->missing_denials().empty() ? lay_out(*memory, true) : Error{ErrorCode::process, "bailey: nothing can be prepared"};
        const auto settings = prepared ? wrap_settings(*prepared) : std::string{};
        const std::lock_guard lock{mutex_};
        if (!prepared) {
            refused_since_used_ = true;
        } else if (!broker_ || prepared->broker != broker_number_) {
            unwanted_.push_back(std::move(*prepared));
        } else {
            wrapping_.emplace(std::move(*prepared));
            send_wrap(*wrapping_, settings);
        }
    }

    [[nodiscard]] bool has_time() const { return broker_ && broker_->ready && tickets_.empty() && !wrapping_ && !settling_; }
    [[nodiscard]] bool may_prepare() const {
        return has_time() && !refused_since_used_ && pool_.size() < options_.prepared &&
               process::Clock::now() < process::later(last_used_, options_.time_to_live);
    }
    /// Not while a short command runs, which has better use for the processor, and could change what is being looked at.
    [[nodiscard]] process::Clock::time_point next_preparation() const {
        return last_ended_ >= last_used_ ? last_ended_ + std::chrono::milliseconds{25} : last_used_ + std::chrono::milliseconds{300};
    }

    /// It may wait in the pool when all is mounted, and nothing has moved since it was laid out: a command that runs meanwhile could
    /// have something mounted that it takes away again.
    void see_ready() {
        char bytes[4096];
        const auto size = ::read(settling_->child.err.get(), bytes, sizeof bytes);
        if (size < 0 && (errno == EAGAIN || errno == EINTR) && process::Clock::now() < settling_->made + start_limit) return;
        readiness_.forget(settling_->child.err);
        const auto memory = sandbox_->remember();
        const bool good = size > 0 && std::string_view{bytes, static_cast<std::size_t>(size)} == ready_word && memory && settling_->fingerprint.still_since(settling_->begun) &&
                          fingerprint(*memory, settling_->script) == settling_->fingerprint;
        // Not bubblewrap itself and the first process inside, with which srt's relays end: they take longer.
        if (good) {
            settling_->child.holders = process::holders_of(settling_->child.out, settling_->child.pid, 2);
            settling_->child.sandbox = process::first_in_namespace(settling_->child.pid, sandbox_->pid_namespaces());
        }
        const std::lock_guard lock{mutex_};
        settling_->made = process::Clock::now();
        if (!good) {
            ++counts_.stale;
            // One that does not start would not start again; and where a command changes names all the time, none is ever ready.
            refused_since_used_ = size <= 0 || ++unstill_ >= most_unstill;
            last_ended_ = last_used_ = std::max(last_used_, last_ended_);
        }
        if (good) unstill_ = 0;
        (good ? pool_ : unwanted_).push_back(std::move(*settling_));
        settling_.reset();
        wakeup_.ring();
    }

    // ---- the asker: puts the broker's questions to the host, one at a time ----

    void put_questions() {
        std::unique_lock lock{mutex_};
        for (;;) {
            changed_.wait(lock, [&] { return closing_ || !questions_.empty(); });
            if (closing_) return;
            const auto request = questions_.front().request;
            // What has been allowed since needs no second question.
            auto answer = boundary_.permits_host(request.host, request.port).allowed ? NetworkAnswer::allow_once() : [&] {
                lock.unlock();
                auto given = answer_to(request);
                lock.lock();
                return given;
            }();
            if (answer.kind() == NetworkAnswer::Kind::session) {
                boundary_.allowed_domains.push_back(request.entry());
                send_domains();
            }
            // A program that opens several connections at once is asked about once.
            for (auto question = questions_.begin(); question != questions_.end();) {
                if (question->request.host != request.host || question->request.port != request.port) {
                    ++question;
                    continue;
                }
                if (broker_ && question->broker == broker_number_)
                    broker_->frames.send('A', {question->number, answer.kind() == NetworkAnswer::Kind::denied ? "no" : "yes", std::string{answer.reason().c_str()}});  // up to a NUL, which ends a field
                question = questions_.erase(question);
            }
            wakeup_.ring();
        }
    }

    [[nodiscard]] NetworkAnswer answer_to(const NetworkRequest& request) const {
#if defined(__cpp_exceptions)
        try {
            return options_.on_network_request(request);
        } catch (...) {
            return NetworkAnswer::deny("the question could not be answered");
        }
#else
        return options_.on_network_request(request);
#endif
    }

    const process::OwnDelete maker_;
    const std::shared_ptr<const Sandbox> sandbox_;
    const SessionOptions options_;
    const RunDirectories directories_;
    process::Readiness readiness_;
    process::Wakeup wakeup_;  // of the keeper

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool closing_ = false;
    std::optional<Error> broken_;
    Boundary boundary_;
    std::unique_ptr<Broker> broker_;
    std::uint64_t broker_number_ = 0;
    int failures_ = 0;
    bool unavailable_ = false;
    std::string last_words_;
    std::uint64_t sandboxes_ = 0;
    struct Limit {
        process::Clock::time_point until;
        process::Fd process, notes;
    };
    std::map<std::string, Ticket*> tickets_;
    std::map<std::string, Limit> limits_;  // of what runs, by sandbox
    std::map<std::string, std::vector<std::string>> lines_;  // what commands were refused, by sandbox
    std::uint64_t domains_sent_ = 0, domains_done_ = 0;
    std::deque<Question> questions_;
    std::deque<PreparedSandbox> pool_, unwanted_;
    std::optional<PreparedSandbox> wrapping_;
    std::optional<std::string> wrapped_;  // its line
    std::optional<PreparedSandbox> settling_;  // started, and not ready yet; changed by the keeper alone
    bool refused_since_used_ = false;
    int unstill_ = 0;  // sandboxes in a row that were made while something moved
    bool watch_due_ = true;  // a command may have made directories since
    process::Clock::time_point last_used_ = process::Clock::now(), last_ended_ = last_used_;
    SessionStats counts_;

    std::thread keeper_, asker_;
    int keeper_id_ = 0;
};

}  // namespace bailey::srt
