// One workspace's sandbox: what is decided once (paths, tools, private directory), what each run is made from, and the look around after it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
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
#include <bailey/base/text.hpp>
#include <bailey/base/violation.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/resolve.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/settings/settings.hpp>
#include <bailey/srt/launch.hpp>
#include <bailey/srt/placeholder.hpp>
#include <bailey/srt/planted.hpp>
#include <bailey/srt/prelude.hpp>
#include <bailey/srt/private_directory.hpp>
#include <bailey/srt/protected_files.hpp>
#include <bailey/srt/setuid_files.hpp>
#include <bailey/srt/tools.hpp>
#include <bailey/srt/tree_watch.hpp>

namespace bailey::srt {

class Sandbox;

/// How much has happened in each of the directories that commands can write; nothing for one that is not watched.
using Happened = std::vector<std::optional<std::uint64_t>>;

/// What stood in the workspace when a run began, by which what it adds is told apart. Overlapping runs share the oldest.
class Memory {
public:
    Memory(Memory&&) = default;
    Memory& operator=(Memory&&) = delete;
    ~Memory();

    [[nodiscard]] const ProtectedSnapshot& snapshot() const { return *snapshot_; }
    /// After the end: moves away what was planted for the host, takes setuid bits away, and says so.
    [[nodiscard]] std::vector<Violation> look_around() const;

private:
    friend Sandbox;
    Memory(std::shared_ptr<const Sandbox> sandbox, std::shared_ptr<const ProtectedSnapshot> snapshot, Happened before)
        : sandbox_{std::move(sandbox)}, snapshot_{std::move(snapshot)}, before_{std::move(before)} {
        ::clock_gettime(CLOCK_REALTIME, &began_);
    }

    std::shared_ptr<const Sandbox> sandbox_;
    std::shared_ptr<const ProtectedSnapshot> snapshot_;
    Happened before_;
    timespec began_{};
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
        for (const auto& path : sandbox->pinned()) {
            if (paths::is_within(path, (*directory)->base()))
                return Error{ErrorCode::policy, text::concat({"bailey: ", text::quoted(path), " lies in ", text::quoted((*directory)->base()), ", where bailey keeps what no command may see; name another directory"})};
        }
        sandbox->private_ = std::move(*directory);
        sandbox->use(tools);
        return sandbox;
    }

    [[nodiscard]] const Boundary& boundary() const { return boundary_; }
    [[nodiscard]] const process::Fd& root() const { return pins_.front().fd; }
    [[nodiscard]] const PrivateDirectory& directory() const { return *private_; }
    /// How many pid namespaces below the host's a command runs: bubblewrap's, and in it that of srt's filter of system calls, which ends
    /// sooner and in which a command can make no other.
    [[nodiscard]] std::size_t pid_namespaces() const { return !on_linux ? 0 : boundary_.all_unix_sockets ? 1 : 2; }
    /// The root and the grants.
    [[nodiscard]] std::vector<std::string> pinned() const {
        std::vector<std::string> paths;
        for (const auto& pin : pins_) paths.push_back(pin.identity.path);
        return paths;
    }

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
        const auto memory = remember();
        if (!memory) return memory.error();
        const auto run = private_->next_run();
        return settings::to_json(boundary_, context(*tools, *memory, run.sockets, run.script));
    }

    /// `script`: the directory from which this very sandbox starts.
    [[nodiscard]] settings::RunContext context(const FoundTools& tools, const Memory& memory, const std::string& sockets, const std::string& script) const {
        return {private_->base(), {sockets, script}, private_->tmp(), memory.snapshot().paths(), tools.vendor(), tools.bwrap, tools.socat, tools.rg};
    }

    /// The identities that were seen when the workspace was made still stand under their names.
    [[nodiscard]] Result<void> check_pins() const {
        for (const auto& pin : pins_) {
            struct stat status {};
            const bool same = paths::real(pin.identity.path) == pin.identity.path && ::lstat(pin.identity.path.c_str(), &status) == 0 &&
                              static_cast<std::uint64_t>(status.st_dev) == pin.identity.device &&
                              static_cast<std::uint64_t>(status.st_ino) == pin.identity.inode;
            if (!same)
                return Error{ErrorCode::policy, text::concat({"bailey: ", text::quoted(pin.identity.path), " is no longer what it was when the workspace was made (replaced, moved or made a symlink); make a new workspace if that is meant"})};
        }
        return {};
    }

    /// The host's own changes are bound as commands are: by none of them may the host be made to run something.
    template <class Change>
    [[nodiscard]] Result<void> guarded(std::string_view doing, const std::string& path, Change&& change) const {
        const auto memory = remember();
        if (!memory) return memory.error();
        const auto& kept = memory->snapshot().paths();
        const bool is_kept = std::any_of(kept.begin(), kept.end(), [&](const std::string& one) {
            return paths::is_within(path, one) || paths::is_within(path, paths::real(one).value_or(one));  // a link stands for what it leads to
        });
        if (is_kept)
            return Error{ErrorCode::policy, text::concat({"bailey: ", doing, " ", text::quoted(path),
                                                          " is refused: the host's git, a shell or an editor would run what stands in it"})};
        if (auto changed = change(); !changed) return changed;
        auto planted = quarantine_planted(memory->snapshot(), private_->quarantine());
        const std::lock_guard lock{snapshots_mutex_};
        const bool alone = snapshots_.size() == 1;
        Result<void> result;
        for (auto& one : planted) {
            if (!alone && !paths::is_within(one.subject, path) && !paths::is_within(path, one.subject)) {
                found_for_others_.push_back(std::move(one));
            } else if (result) {
                result = Error{ErrorCode::policy, text::concat({"bailey: ", doing, " ", text::quoted(one.subject), " is refused: ", one.rule, "; ", one.remedy})};
            }
        }
        return result;
    }
    /// What commands that run have planted and the host's own changes came upon.
    [[nodiscard]] std::vector<Violation> take_found() const {
        const std::lock_guard lock{snapshots_mutex_};
        return std::exchange(found_for_others_, {});
    }

    [[nodiscard]] Result<std::string> resolve_cwd(const std::string& cwd) const {
        if (cwd.empty()) return boundary_.root;
        const auto refused = [&](std::string_view why) {
            return Error{ErrorCode::policy, text::concat({"bailey: the working directory ", text::quoted(cwd), " ", why, "; name a directory inside the workspace ", text::quoted(boundary_.root)})};
        };
        if (cwd.find('\0') != std::string::npos) return refused("contains a NUL byte");
        const auto real = paths::real(cwd.starts_with('/') ? cwd : paths::join(boundary_.root, cwd));
        if (!real) return refused(text::concat({"cannot be entered (", std::strerror(errno), ")"}));
        if (!paths::is_within(*real, boundary_.root)) return refused(*real == cwd ? "is outside" : text::concat({"leads outside, to ", text::quoted(*real)}));
        struct stat status {};
        if (::stat(real->c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return refused("is not a directory");
        if (paths::is_within_any(*real, boundary_.read_denials)) return refused("is denied for reading");
        return *real;
    }

    /// What is wrong with a request can be said before anything is made for it. Its directory, resolved.
    [[nodiscard]] Result<std::string> check(const Request& request) const {
        if (auto same = check_pins(); !same) return same.error();
        auto cwd = resolve_cwd(request.cwd);
        if (!cwd) return cwd.error();
        if (auto fits = check_size(environment(request.environment), request); !fits) return fits.error();
        return cwd;
    }

    /// What stands in the workspace now, or stood there when the oldest of the overlapping runs began: two commands at once must
    /// not be able to vouch for each other's files.
    [[nodiscard]] Result<Memory> remember() const {
        const std::lock_guard lock{snapshots_mutex_};
        auto before = count_happenings();
        const bool still = looked_at_ && quiet(*looked_at_->snapshot, looked_at_->before, before) && (snapshots_.empty() || snapshots_.front() == looked_at_->snapshot);
        if (!still) {
            auto snapshot = protected_snapshot(boundary_.root, writable_paths(boundary_), snapshots_.empty() ? nullptr : snapshots_.front().get());
            if (!snapshot) return snapshot.error();
            auto shared = std::make_shared<const ProtectedSnapshot>(std::move(*snapshot));
            looked_at_.reset();
            if (snapshots_.empty()) looked_at_.emplace(LookedAt{shared, before});
            snapshots_.push_back(std::move(shared));
        } else {
            snapshots_.push_back(looked_at_->snapshot);
        }
        return Memory{shared_from_this(), snapshots_.back(), std::move(before)};
    }

    /// From now on nobody looks at a tree again in which nothing has happened. Takes as long as looking at all of them; call it again
    /// from time to time: a watch ends when a directory is made.
    void watch() const {
        const auto directories = writable_paths(boundary_);
        for (std::size_t i = 0; i < directories.size(); ++i) {
            {
                const std::lock_guard lock{snapshots_mutex_};
                watches_.resize(directories.size());
                if (watches_[i].watch ? watches_[i].watch->count().has_value() : process::Clock::now() < watches_[i].not_before) continue;
            }
            auto watch = TreeWatch::open(directories[i]);
            const std::lock_guard lock{snapshots_mutex_};
            watches_[i] = {std::move(watch), ++watches_made_ << 32, process::Clock::now() + std::chrono::minutes{1}};
        }
    }

    [[nodiscard]] static bool quiet(const std::optional<std::uint64_t>& before, const std::optional<std::uint64_t>& after) { return before && after && *before == *after; }
    /// Another snapshot would be the same.
    [[nodiscard]] bool quiet(const ProtectedSnapshot& snapshot, const Happened& before, const Happened& after) const {
        if (before.empty() || before.size() != after.size()) return false;
        const auto directories = writable_paths(boundary_);
        const auto root = std::find(directories.begin(), directories.end(), boundary_.root);
        if (snapshot.self_contained() && root != directories.end()) {
            const auto i = static_cast<std::size_t>(root - directories.begin());
            return quiet(before[i], after[i]);
        }
        return std::equal(before.begin(), before.end(), after.begin(), [](const auto& a, const auto& b) { return quiet(a, b); });
    }
    [[nodiscard]] Happened happened() const {
        const std::lock_guard lock{snapshots_mutex_};
        return count_happenings();
    }

    /// Denied paths that do not exist yet, where a command could create them.
    [[nodiscard]] std::vector<std::string> missing_denials() const {
        const auto writable = writable_paths(boundary_);
        std::vector<std::string> places;
        for (const auto* denials : {&boundary_.read_denials, &boundary_.write_denials}) {
            for (const auto& denial : *denials) {
                if (!paths::is_within_any(denial, writable)) continue;
                if (auto place = paths::place_of(denial); !paths::exists(place) || Placeholder::stands_at(place)) places.push_back(std::move(place));
            }
        }
        paths::sort_once(places);
        return places;
    }

    /// Ready to be named: see Placeholder. Those that stand already are held.
    [[nodiscard]] Result<std::vector<Placeholder>> ready_placeholders() const {
        std::vector<Placeholder> held;
        for (const auto& place : missing_denials()) {
            auto placeholder = Placeholder::ready(place);
            if (!placeholder) return placeholder.error();
            if (placeholder->fd() >= 0) held.push_back(std::move(*placeholder));
        }
        return held;
    }

    /// By what a sandbox that starts from `script` shows that it is one. `hidden`: any path of bailey's that it is not given.
    [[nodiscard]] std::string proof(const std::string& hidden, const std::string& script) const {
        Proof proof{hidden, script + "/probe", {}};
        for (const auto& pin : pins_) proof.pinned.push_back(pin.identity);
        return proof_script(proof);
    }

    /// What becomes of it then; a command that is too long for an argument is written to a file beside.
    [[nodiscard]] Result<Entry> entry(const Request& request, std::string nonce, std::string cwd, const std::string& script) const {
        Entry entry;
        entry.nonce = std::move(nonce);
        entry.cwd = std::move(cwd);
        entry.environment = environment(request.environment);
        entry.limits = boundary_.limits;
        entry.argv = request.argv;
        entry.command = request.command;
        if (request.argv.empty() && request.command.size() > longest_argument) {
            entry.command_file = script + "/command";
            if (auto written = write_script(entry.command_file, request.command + "."); !written) return written.error();
        }
        return entry;
    }

    [[nodiscard]] static Result<void> write_script(const std::string& path, std::string_view content) {
        const process::Fd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400)};
        if (!file) return process::system_error("open " + path);
        return process::write_all(file, content);
    }

    /// Minimal, fixed and trusted: nothing that was given for the command steers node or srt.
    [[nodiscard]] std::vector<std::string> launcher_environment(const std::string& sockets) const {
        return {text::concat({"PATH=", launcher_path}), "HOME=" + sockets, "TMPDIR=" + sockets, "CLAUDE_CODE_TMPDIR=" + private_->tmp()};
    }

private:
    friend Memory;

    struct Pin {
        process::Fd fd;  // keeps the inode from being reused
        PinnedIdentity identity;
    };

    static constexpr std::string_view launcher_path = "/usr/bin:/bin:/usr/sbin:/sbin";

    explicit Sandbox(Boundary boundary) : boundary_{std::move(boundary)} {}

    Result<void> pin() {
        std::vector<std::string> granted{boundary_.root};
        paths::append(granted, boundary_.read_grants);
        paths::append(granted, boundary_.write_grants);
        for (auto& path : granted) {
            process::Fd fd{::open(path.c_str(), detail::search_only | detail::no_follow)};
            struct stat status {};
            if (!fd || ::fstat(fd.get(), &status) != 0)
                return Error{ErrorCode::policy, text::concat({"bailey: ", text::quoted(path), " cannot be opened: ", std::strerror(errno)}), errno};
            pins_.push_back({std::move(fd), {std::move(path), static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)}});
        }
        return {};
    }

    void forget(const std::shared_ptr<const ProtectedSnapshot>& snapshot) const {
        const std::lock_guard lock{snapshots_mutex_};
        // One of them: runs that saw the same hold the same.
        if (const auto found = std::find(snapshots_.begin(), snapshots_.end(), snapshot); found != snapshots_.end()) snapshots_.erase(found);
    }

    [[nodiscard]] Happened count_happenings() const {
        Happened counts;
        for (const auto& watched : watches_) {
            auto count = watched.watch ? watched.watch->count() : std::nullopt;
            if (count) *count += watched.first;
            counts.push_back(count);
        }
        return counts;
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
        for (std::size_t i = 0; i < request.argv.size(); ++i) {
            if (request.argv[i].size() > longest_argument)
                return Error{ErrorCode::policy, text::concat({"bailey: argument ", std::to_string(i), " has ", std::to_string(request.argv[i].size()), " bytes, more than the ",
                                                              std::to_string(longest_argument), " that the kernel takes for one; pass it in a file, or as Input"})};
        }
        constexpr std::size_t most = 1536 * 1024;
        std::size_t size = 0;
        for (const auto& [name, value] : variables) size += name.size() + value.size() + 2 + sizeof(char*);
        for (const auto& argument : request.argv) size += argument.size() + 1 + sizeof(char*);
        if (size <= most) return {};
        return Error{ErrorCode::policy, text::concat({"bailey: the arguments and variables of the command have ", std::to_string(size), " bytes, more than the ",
                                                      std::to_string(most), " that fit; pass large values in a file"})};
    }

    Boundary boundary_;
    std::vector<Pin> pins_;  // the root first
    std::shared_ptr<PrivateDirectory> private_;
    mutable std::mutex snapshots_mutex_;
    mutable std::vector<std::shared_ptr<const ProtectedSnapshot>> snapshots_;  // of the runs that have not ended, the oldest first
    mutable std::vector<Violation> found_for_others_;
    struct Watched {
        std::unique_ptr<TreeWatch> watch;
        std::uint64_t first = 0;  // of its numbers: no two watches have one in common
        process::Clock::time_point not_before{};  // where it could not see everything, it is not tried at every turn
    };
    struct LookedAt {
        std::shared_ptr<const ProtectedSnapshot> snapshot;
        Happened before;
    };
    mutable std::vector<Watched> watches_;  // of each writable directory; empty until somebody wants them
    mutable std::uint64_t watches_made_ = 0;
    mutable std::optional<LookedAt> looked_at_;
    mutable std::mutex tools_mutex_;
    std::optional<Result<FoundTools>> tools_;
};

inline Memory::~Memory() {
    if (sandbox_) sandbox_->forget(snapshot_);
}

inline std::vector<Violation> Memory::look_around() const {
    const auto after = sandbox_->happened();
    std::vector<Violation> violations = sandbox_->take_found();
    const auto add = [&](std::vector<Violation> more) { violations.insert(violations.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end())); };
    if (!sandbox_->quiet(*snapshot_, before_, after)) add(quarantine_planted(*snapshot_, sandbox_->directory().quarantine()));
    auto directories = writable_paths(sandbox_->boundary());
    std::vector<std::string> touched;
    for (std::size_t i = 0; i < directories.size(); ++i) {
        if (i >= before_.size() || i >= after.size() || !Sandbox::quiet(before_[i], after[i])) touched.push_back(std::move(directories[i]));
    }
    add(strip_setuid_files(touched, began_));
    return violations;
}

}  // namespace bailey::srt
