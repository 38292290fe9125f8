// One workspace's sandbox: what is decided once (paths, tools, private directory), the plan of each run, and the look around after it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <bailey/base/error.hpp>
#include <bailey/base/violation.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/resolve.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/process/process.hpp>
#include <bailey/process/sealed.hpp>
#include <bailey/settings/settings.hpp>
#include <bailey/srt/guard.hpp>
#include <bailey/srt/placeholder.hpp>
#include <bailey/srt/planted.hpp>
#include <bailey/srt/prelude.hpp>
#include <bailey/srt/private_directory.hpp>
#include <bailey/srt/protected_files.hpp>
#include <bailey/srt/setuid_files.hpp>
#include <bailey/srt/tools.hpp>

namespace bailey::srt {

/// What one run is asked to do.
struct Request {
    std::string command;            ///< for bash -c, unless there is an
    std::vector<std::string> argv;  ///< run without a shell
    std::string cwd;                ///< inside the workspace; empty: its root
    std::vector<EnvironmentEntry> environment;
};

class Sandbox;

/// One run, ready to start; its directories, placeholders and settings live as long as it does.
class Launch {
public:
    [[nodiscard]] const std::string& nonce() const { return nonce_; }
    [[nodiscard]] process::ProcessPlan take_plan() { return std::move(plan_); }

    /// After the end: moves away what the command planted for the host, and says so.
    [[nodiscard]] std::vector<Violation> look_around() const;

    Launch(Launch&&) = default;
    Launch& operator=(Launch&&) = delete;
    ~Launch();

private:
    friend Sandbox;
    Launch(std::shared_ptr<const Sandbox> sandbox, std::shared_ptr<const ProtectedSnapshot> snapshot)
        : sandbox_{std::move(sandbox)}, snapshot_{std::move(snapshot)} {
        ::clock_gettime(CLOCK_REALTIME, &began_);
    }

    std::shared_ptr<const Sandbox> sandbox_;
    std::shared_ptr<const ProtectedSnapshot> snapshot_;
    timespec began_{};
    std::string nonce_ = random_hex(16);
    std::vector<Placeholder> placeholders_;
    RunDirectories directories_{};
    process::Fd settings_;
    process::Fd cwd_;
    process::ProcessPlan plan_;
};

class Sandbox : public std::enable_shared_from_this<Sandbox> {
public:
    [[nodiscard]] static Result<std::shared_ptr<Sandbox>> make(Boundary declared, std::string_view root, const Tools& tools) {
        auto boundary = resolve(std::move(declared), root);
        if (!boundary) return boundary.error();
        std::shared_ptr<Sandbox> sandbox{new Sandbox{std::move(*boundary)}};
        if (auto pinned = sandbox->pin(); !pinned) return pinned.error();
        auto directory = PrivateDirectory::make();
        if (!directory) return directory.error();
        sandbox->private_ = std::move(*directory);
        sandbox->use(tools);
        return sandbox;
    }

    [[nodiscard]] const Boundary& boundary() const { return boundary_; }
    [[nodiscard]] const process::Fd& root() const { return pins_.front().fd; }
    [[nodiscard]] const PrivateDirectory& directory() const { return *private_; }

    /// The tools are found once, here; what is wrong with them is said when a command is run.
    void use(const Tools& tools) {
        auto found = find_tools(tools, boundary_);
        const std::lock_guard lock{tools_mutex_};
        tools_.emplace(std::move(found));
    }
    [[nodiscard]] Result<FoundTools> tools() const {
        const std::lock_guard lock{tools_mutex_};
        return *tools_;
    }

    /// The settings of a run that would begin now.
    [[nodiscard]] Result<std::string> settings_json() const {
        const auto tools = this->tools();
        if (!tools) return tools.error();
        const auto snapshot = protected_snapshot(boundary_.root, writable_paths(boundary_));
        if (!snapshot) return snapshot.error();
        return settings::to_json(boundary_, context(*tools, *snapshot, private_->next_run()));
    }

    /// The identities that were seen when the workspace was made still stand under their names.
    [[nodiscard]] Result<void> check_pins() const {
        for (const auto& pin : pins_) {
            struct stat status {};
            const bool same = paths::real(pin.identity.path) == pin.identity.path && ::lstat(pin.identity.path.c_str(), &status) == 0 &&
                              static_cast<std::uint64_t>(status.st_dev) == pin.identity.device &&
                              static_cast<std::uint64_t>(status.st_ino) == pin.identity.inode;
            if (!same)
                return Error{ErrorCode::policy, text::concat({"bailey: ", paths::quoted(pin.identity.path), " is no longer what it was when the workspace was made (replaced, moved or made a symlink); make a new workspace if that is meant"})};
        }
        return {};
    }

    /// The host's own writing is bound as commands are: by nothing that is written may the host be made to run something.
    template <class Write>
    [[nodiscard]] Result<void> write_guarded(const std::string& path, Write&& write) const {
        auto snapshot = remember();
        if (!snapshot) return snapshot.error();
        const auto refused = [&]() -> Result<void> {
            if (paths::is_within_any(path, (*snapshot)->paths()))
                return Error{ErrorCode::policy, text::concat({"bailey: writing ", paths::quoted(path),
                                                              " is refused: the host's git, a shell or an editor would run what stands in it"})};
            if (auto written = write(); !written) return written;
            for (const auto& planted : quarantine_planted(**snapshot, private_->quarantine()))
                return Error{ErrorCode::policy, text::concat({"bailey: writing ", paths::quoted(planted.subject), " is refused: ", planted.rule, "; ", planted.remedy})};
            return {};
        }();
        forget(*snapshot);
        return refused;
    }

    [[nodiscard]] Result<std::string> resolve_cwd(const std::string& cwd) const {
        if (cwd.empty()) return boundary_.root;
        const auto refused = [&](std::string_view why) {
            return Error{ErrorCode::policy, text::concat({"bailey: the working directory ", paths::quoted(cwd), " ", why, "; name a directory inside the workspace ", paths::quoted(boundary_.root)})};
        };
        if (cwd.find('\0') != std::string::npos) return refused("contains a NUL byte");
        const auto real = paths::real(cwd.starts_with('/') ? cwd : paths::join(boundary_.root, cwd));
        if (!real) return refused(text::concat({"cannot be entered (", std::strerror(errno), ")"}));
        if (!paths::is_within(*real, boundary_.root)) return refused(*real == cwd ? "is outside" : text::concat({"leads outside, to ", paths::quoted(*real)}));
        struct stat status {};
        if (::stat(real->c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return refused("is not a directory");
        if (paths::is_within_any(*real, boundary_.read_denials)) return refused("is denied for reading");
        return *real;
    }

    [[nodiscard]] Result<Launch> prepare(const Request& request, std::optional<process::Clock::time_point> deadline) const {
        const auto tools = this->tools();
        if (!tools) return tools.error();
        if (auto same = check_pins(); !same) return same.error();
        auto cwd = resolve_cwd(request.cwd);
        if (!cwd) return cwd.error();
        auto snapshot = remember();
        if (!snapshot) return snapshot.error();

        Launch launch{shared_from_this(), std::move(*snapshot)};
        const auto variables = environment(request.environment);
        if (auto fits = check_size(variables, request); !fits) return fits.error();
        auto directories = private_->make_run();
        if (!directories) return directories.error();
        launch.directories_ = std::move(*directories);
        const auto& run = launch.directories_;

        PreludePlan prelude_plan;
        prelude_plan.nonce = launch.nonce_;
        prelude_plan.hidden_path = run.cwd;
        prelude_plan.readonly_path = run.script + "/probe";
        for (const auto& pin : pins_) prelude_plan.pinned.push_back(pin.identity);
        prelude_plan.cwd = *cwd;
        prelude_plan.environment = variables;
        prelude_plan.limits = boundary_.limits;
        prelude_plan.argv = request.argv;
        prelude_plan.command = request.command;
        prelude_plan.command_file = run.script + "/command";
        const std::string prelude_file = run.script + "/prelude";
        if (auto written = write_script(prelude_file, prelude(prelude_plan)); !written) return written.error();
        if (request.argv.empty() && request.command.size() > longest_argument) {
            if (auto written = write_script(prelude_plan.command_file, request.command + "."); !written) return written.error();
        }

        auto settings = process::sealed_text(settings::to_json(boundary_, context(*tools, *launch.snapshot_, run)));
        if (!settings) return settings.error();
        launch.settings_ = std::move(*settings);
        launch.cwd_.reset(::open(run.cwd.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!launch.cwd_) return process::system_error("open " + run.cwd);

        // Last of all: from the moment they stand until node runs, nobody would take them away if the host died.
        if (auto held = hold_places(launch.placeholders_); !held) return held.error();

        auto& spawn = launch.plan_.spawn;
        spawn.argv = {tools->node, "-e", std::string{guard_script}, "--", tools->cli(), tools->node_floor, milliseconds_left(deadline),
                      places(launch.placeholders_), run.sockets, "--settings", settings_path(),
                      // srt hands the beginning of this text to the sandbox as a proxy user's name: nothing of the command is in it
                      "-c", ". " + shell_quoted(prelude_file)};
        // Minimal, fixed and trusted: nothing that was given for the command steers node or srt.
        spawn.environment = {text::concat({"PATH=", launcher_path}), "HOME=" + run.sockets, "TMPDIR=" + run.sockets,
                             "CLAUDE_CODE_TMPDIR=" + private_->tmp()};
        spawn.fds = {launch.settings_.get()};
        for (const auto& placeholder : launch.placeholders_) spawn.fds.push_back(placeholder.fd());
        spawn.directory = launch.cwd_.get();
        launch.plan_.lifeline = lifeline_fd;
        launch.plan_.mark = run.sockets;  // bubblewrap is told to mount it
        return launch;
    }

private:
    friend Launch;

    struct Pin {
        process::Fd fd;  // keeps the inode from being reused
        PinnedIdentity identity;
    };

    static constexpr std::string_view launcher_path = "/usr/bin:/bin:/usr/sbin:/sbin";

    explicit Sandbox(Boundary boundary) : boundary_{std::move(boundary)} {}

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
        std::string list = "[";
        for (const auto& placeholder : placeholders) list += (list.size() == 1 ? "" : ",") + settings::json_string(placeholder.path());
        return list + "]";
    }

    Result<void> pin() {
        std::vector<std::string> granted{boundary_.root};
        paths::append(granted, boundary_.read_grants);
        paths::append(granted, boundary_.write_grants);
        for (auto& path : granted) {
            process::Fd fd{::open(path.c_str(), detail::search_only | detail::no_follow)};
            struct stat status {};
            if (!fd || ::fstat(fd.get(), &status) != 0)
                return Error{ErrorCode::policy, text::concat({"bailey: ", paths::quoted(path), " cannot be opened: ", std::strerror(errno)}), errno};
            pins_.push_back({std::move(fd), {std::move(path), static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)}});
        }
        return {};
    }

    /// What stands in the workspace now, or stood there when the oldest of the overlapping runs began: two commands at once must
    /// not be able to vouch for each other's files.
    Result<std::shared_ptr<const ProtectedSnapshot>> remember() const {
        const std::lock_guard lock{snapshots_mutex_};
        auto snapshot = protected_snapshot(boundary_.root, writable_paths(boundary_), snapshots_.empty() ? nullptr : snapshots_.front().get());
        if (!snapshot) return snapshot.error();
        snapshots_.push_back(std::make_shared<const ProtectedSnapshot>(std::move(*snapshot)));
        return snapshots_.back();
    }
    void forget(const std::shared_ptr<const ProtectedSnapshot>& snapshot) const {
        const std::lock_guard lock{snapshots_mutex_};
        std::erase(snapshots_, snapshot);
    }

    [[nodiscard]] settings::RunContext context(const FoundTools& tools, const ProtectedSnapshot& snapshot, const RunDirectories& run) const {
        return {private_->base(), {run.sockets, run.script}, private_->tmp(), snapshot.paths(), tools.vendor(), tools.bwrap, tools.socat, tools.rg};
    }

    /// Denied paths that do not exist yet, where a command could create them.
    Result<void> hold_places(std::vector<Placeholder>& held) const {
        const auto writable = writable_paths(boundary_);
        std::vector<std::string> places;
        for (const auto* denials : {&boundary_.read_denials, &boundary_.write_denials}) {
            for (const auto& denial : *denials) {
                if (!paths::is_within_any(denial, writable)) continue;
                if (auto place = place_of(denial); !paths::exists(place) || Placeholder::stands_at(place)) places.push_back(std::move(place));
            }
        }
        paths::sort_once(places);
        for (const auto& place : places) {
            auto placeholder = Placeholder::hold(place);
            if (!placeholder) return placeholder.error();
            if (placeholder->fd() >= 0) held.push_back(std::move(*placeholder));
        }
        return {};
    }

    /// Later entries win; a command's own come last.
    [[nodiscard]] std::vector<EnvironmentEntry> environment(const std::vector<EnvironmentEntry>& for_this_command) const {
        std::vector<EnvironmentEntry> variables{{"PATH", std::string{defaults::path}}, {"HOME", boundary_.root},
                                                {"TMPDIR", private_->tmp()}, {"TERM", std::string{defaults::term}}};
        const auto set = [&](const std::string& name, std::string_view value) {
            const auto known = std::find_if(variables.begin(), variables.end(), [&](const auto& variable) { return variable.first == name; });
            if (known != variables.end()) {
                known->second = value;
            } else {
                variables.emplace_back(name, value);
            }
        };
        const auto pass = [&](const std::string& name) {
            if (const char* value = std::getenv(name.c_str())) set(name, value);
        };
        for (const auto name : defaults::locale_names) pass(std::string{name});
        for (const auto& name : boundary_.env_passed) pass(name);
        for (const auto& name : boundary_.env_credentials) pass(name);
        for (const auto* entries : {&boundary_.env_values, &boundary_.env_runtime_values, &for_this_command}) {
            for (const auto& [name, value] : *entries) set(name, value);
        }
        return variables;
    }

    /// The kernel takes 2 MiB of arguments and environment in all (with the usual stack limit), srt adds 4 KiB: what does not fit would
    /// fail after the start marker, as if the command had.
    [[nodiscard]] static Result<void> check_size(const std::vector<EnvironmentEntry>& variables, const Request& request) {
        constexpr std::size_t most = 1536 * 1024;
        std::size_t size = 0;
        for (const auto& [name, value] : variables) size += name.size() + value.size() + 2 + sizeof(char*);
        for (const auto& argument : request.argv) size += argument.size() + 1 + sizeof(char*);
        if (size <= most) return {};
        return Error{ErrorCode::policy, text::concat({"bailey: the arguments and variables of the command have ", std::to_string(size), " bytes, more than the ",
                                                      std::to_string(most), " that fit; pass large values in a file"})};
    }

    [[nodiscard]] static Result<void> write_script(const std::string& path, std::string_view content) {
        const process::Fd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400)};
        if (!file) return process::system_error("open " + path);
        return process::write_all(file, content);
    }

    Boundary boundary_;
    std::vector<Pin> pins_;  // the root first
    std::shared_ptr<PrivateDirectory> private_;
    mutable std::mutex snapshots_mutex_;
    mutable std::vector<std::shared_ptr<const ProtectedSnapshot>> snapshots_;  // of the runs that have not ended, the oldest first
    mutable std::mutex tools_mutex_;
    std::optional<Result<FoundTools>> tools_;
};

inline Launch::~Launch() {
    if (!sandbox_) return;  // moved from
    sandbox_->forget(snapshot_);
    if (!directories_.top.empty()) remove_tree(directories_.top);
}

inline std::vector<Violation> Launch::look_around() const {
    const auto& boundary = sandbox_->boundary();
    auto violations = quarantine_planted(*snapshot_, sandbox_->directory().quarantine());
    for (auto& violation : strip_setuid_files(writable_paths(boundary), began_)) violations.push_back(std::move(violation));
    return violations;
}

}  // namespace bailey::srt
