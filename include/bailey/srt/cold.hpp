// A sandbox that srt's own program starts for one command alone.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>

#include <bailey/base/text.hpp>
#include <bailey/process/sealed.hpp>
#include <bailey/srt/guard.hpp>
#include <bailey/srt/guess.hpp>
#include <bailey/srt/launch.hpp>
#include <bailey/srt/sandbox.hpp>

namespace bailey::srt {

class ColdLaunch final : public Launch {
public:
    /// `boundary`: the workspace's, but for the network, which a session may have changed.
    [[nodiscard]] static Result<std::unique_ptr<Launch>> prepare(const std::shared_ptr<const Sandbox>& sandbox, const Boundary& boundary, const Request& request) {
        const auto tools = sandbox->tools();
        if (!tools) return tools.error();
        auto cwd = sandbox->check(request);
        if (!cwd) return cwd.error();
        auto memory = sandbox->remember();
        if (!memory) return memory.error();

        std::unique_ptr<ColdLaunch> launch{new ColdLaunch{std::move(*memory), boundary, *cwd}};
        auto directories = sandbox->directory().make_run();
        if (!directories) return directories.error();
        launch->directories_ = std::move(*directories);
        const auto& run = launch->directories_;

        const auto entry = sandbox->entry(request, launch->nonce_, std::move(*cwd), run.script);
        if (!entry) return entry.error();
        const auto script = run.script + "/prelude";
        if (auto written = Sandbox::write_script(script, sandbox->proof(run.cwd, run.script) + entry_script(*entry)); !written) return written.error();

        auto settings = process::sealed_text(settings::to_json(boundary, sandbox->context(*tools, launch->memory_, run.sockets, run.script)));
        if (!settings) return settings.error();
        launch->settings_ = std::move(*settings);
        launch->cwd_.reset(::open(run.cwd.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!launch->cwd_) return process::system_error("open " + run.cwd);
        auto placeholders = sandbox->ready_placeholders();
        if (!placeholders) return placeholders.error();
        launch->placeholders_ = std::move(*placeholders);

        auto& plan = launch->plan_;
        plan.spawn.argv = {tools->node, "-e", std::string{guard_script}, "--", tools->cli(), tools->node_floor, milliseconds_left(request.deadline),
                           places(launch->placeholders_), run.sockets, std::to_string(::getpid()), "--settings", settings_path(),
                           "-c", boot_line(script)};
        plan.spawn.environment = sandbox->launcher_environment(run.sockets);
        plan.spawn.fds = {launch->settings_.get()};
        for (const auto& placeholder : launch->placeholders_) {
            plan.spawn.fds.push_back(placeholder.fd());
            plan.spawn.names.push_back(placeholder.new_name());
        }
        plan.spawn.directory = launch->cwd_.get();
        plan.lifeline = lifeline_fd;
        plan.merge = request.merge_stderr;
        plan.mark = run.sockets;  // bubblewrap is told to mount it
        plan.namespaces = sandbox->pid_namespaces();
        plan.deadline = request.deadline;
        return std::unique_ptr<Launch>{std::move(launch)};
    }

    ~ColdLaunch() override {
        if (!directories_.top.empty()) remove_tree(directories_.top);
    }

    [[nodiscard]] const std::string& nonce() const override { return nonce_; }

    [[nodiscard]] Result<std::unique_ptr<process::Process>> start(Input input, process::Readiness& readiness, process::StopSignal& stop) override {
        plan_.input = std::move(input);
        auto started = process::Process::start(std::move(plan_), readiness, stop);
        if (!started) return started;
        for (auto& placeholder : placeholders_) {
            if (auto settled = placeholder.settle(); !settled) return settled.error();
        }
        return started;
    }

    [[nodiscard]] std::vector<Violation> look_around(const Said& said) override {
        auto violations = memory_.look_around();
        for (auto& guess : Guesses{boundary_, directory_}.of(said)) violations.push_back(std::move(guess));
        return violations;
    }

private:
    ColdLaunch(Memory memory, Boundary boundary, std::string directory)
        : memory_{std::move(memory)}, boundary_{std::move(boundary)}, directory_{std::move(directory)} {}

    [[nodiscard]] static std::string settings_path() {
        return text::concat({on_linux ? "/proc/self/fd" : "/dev/fd", "/", std::to_string(settings_fd)});
    }

    [[nodiscard]] static std::string milliseconds_left(std::optional<process::Clock::time_point> deadline) {
        if (!deadline) return "0";
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - process::Clock::now());
        return std::to_string(std::max<std::int64_t>(left.count(), 1));
    }

    /// For the guard: the placeholders' paths, in the order of their descriptors.
    [[nodiscard]] static std::string places(const std::vector<Placeholder>& placeholders) {
        std::vector<std::string> paths;
        for (const auto& placeholder : placeholders) paths.push_back(placeholder.path());
        return settings::json_strings(paths);
    }

    Memory memory_;
    Boundary boundary_;
    std::string directory_;  // of the command
    std::string nonce_ = random_hex(16);
    std::vector<Placeholder> placeholders_;
    RunDirectories directories_{};
    process::Fd settings_;
    process::Fd cwd_;
    process::ProcessPlan plan_;
};

class ColdSource final : public Source {
public:
    explicit ColdSource(std::shared_ptr<const Sandbox> sandbox) : sandbox_{std::move(sandbox)} {}

    [[nodiscard]] std::unique_ptr<Awaited> ask(Request request) override { return std::make_unique<Now>(sandbox_, std::move(request)); }
    [[nodiscard]] Result<FoundTools> tools() const override { return sandbox_->tools(); }

private:
    struct Now final : Awaited {
        Now(std::shared_ptr<const Sandbox> from, Request asked) : sandbox{std::move(from)}, request{std::move(asked)} {}
        [[nodiscard]] std::optional<Result<std::unique_ptr<Launch>>> take(process::Readiness&) override {
            return ColdLaunch::prepare(sandbox, sandbox->boundary(), request);
        }
        std::shared_ptr<const Sandbox> sandbox;
        Request request;
    };

    std::shared_ptr<const Sandbox> sandbox_;
};

}  // namespace bailey::srt
