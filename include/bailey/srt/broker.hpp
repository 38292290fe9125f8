// One broker: srt's library in a node process that wraps sandboxes for a session, and filters their network.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>

#include <bailey/base/error.hpp>
#include <bailey/process/capture.hpp>
#include <bailey/process/process.hpp>
#include <bailey/srt/frames.hpp>
#include <bailey/srt/sandbox.hpp>
#include <bailey/srt/scripts.hpp>

namespace bailey::srt {

class Broker {
public:
    /// `mark`: in the command line of every sandbox that this broker wraps.
    [[nodiscard]] static Result<std::unique_ptr<Broker>> start(const Sandbox& sandbox, const FoundTools& tools, const RunDirectories& directories, const std::string& mark,
                                                               std::chrono::milliseconds patience, process::Readiness& readiness) {
        auto pair = process::make_socket_pair();
        if (!pair) return pair.error();
        const process::Fd cwd{::open(directories.cwd.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (!cwd) return process::system_error("open " + directories.cwd);
        std::unique_ptr<Broker> broker{new Broker{std::move(pair->read)}};
        if (auto attached = broker->stop_.attach(readiness); !attached) return attached.error();
        process::ProcessPlan plan;
        plan.spawn.argv = {tools.node, "-e", std::string{broker_script}, "--", tools.library(), mark, std::to_string(patience.count())};
        plan.spawn.environment = sandbox.launcher_environment(directories.sockets);
        plan.spawn.fds = {pair->write.get()};
        plan.spawn.directory = cwd.get();
        auto process = process::Process::start(std::move(plan), readiness, broker->stop_);
        if (!process) return process.error();
        broker->process_ = std::move(*process);
        readiness.watch_readable(broker->frames.fd());
        return broker;
    }

    /// Tells it to end what is left of the session and itself, and sees to it.
    void end(process::Readiness& readiness) {
        readiness.forget(frames.fd());
        frames = FrameSocket{{}};
        const auto until = process::Clock::now() + std::chrono::seconds{2};
        while (!step() && process::Clock::now() < until) process_->wait(std::chrono::milliseconds{100});
        process_.reset();
    }

    /// True when the process has ended. For the thread that drives the session.
    [[nodiscard]] bool step() {
        process_->step([this](process::Stream, std::string_view bytes) { said_.append(bytes); });
        return process_->done();
    }
    [[nodiscard]] pid_t pid() const { return process_ ? process_->pid() : -1; }
    /// What it printed: nothing, while all is well.
    [[nodiscard]] std::string said() { return said_.take().bytes; }

    FrameSocket frames;
    const process::Clock::time_point started = process::Clock::now();
    bool ready = false;
    bool has_served = false;  ///< it has wrapped a sandbox
    std::uint16_t port = 0;  ///< of the proxy
    std::string token;       ///< that the proxy asks for

private:
    explicit Broker(process::Fd socket) : frames{std::move(socket)} {}

    process::StopSignal stop_;
    process::Capture said_{16 * 1024, Keep::head_and_tail};
    std::unique_ptr<process::Process> process_;
};

}  // namespace bailey::srt
