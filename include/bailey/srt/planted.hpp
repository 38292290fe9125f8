// After a run: what the command made that would have the host's tools run something is moved out of their way, and told.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bailey/base/text.hpp>
#include <bailey/base/violation.hpp>
#include <bailey/srt/beneath.hpp>
#include <bailey/srt/git_config.hpp>
#include <bailey/srt/git_config_rules.hpp>
#include <bailey/srt/protected_files.hpp>
#include <bailey/srt/protected_scan.hpp>

namespace bailey::srt {

namespace detail {

/// Says what is wrong with a new or changed entry, or nothing if it is such as git itself writes in a new repository.
class PlantedJudge {
public:
    PlantedJudge(const ProtectedScan& scan, const ProtectedSnapshot& before) : scan_{scan}, before_{before} {}

    [[nodiscard]] std::optional<std::string> fault(const ProtectedEntry& entry) const {
        if (entry.identity.type == FileType::symlink) return "a symbolic link may not take this name";
        const bool directory = entry.kind == ProtectedKind::git_hooks;
        switch (entry.kind) {
            case ProtectedKind::settings: return "a file of this name steers other programs";
            case ProtectedKind::git_reference: return "the configuration of a repository names it, so git reads or runs it";
            case ProtectedKind::git_index: return "git never writes such an index";
            case ProtectedKind::git_above: return "git would take the workspace for a part of this repository";
            default: break;
        }
        if (entry.identity.type != (directory ? FileType::directory : FileType::regular)) return "git makes no such file here";
        if (directory) return hooks_fault(entry);
        if (!entry.text) return "it cannot be read, or is larger than git would write it";
        switch (entry.kind) {
            case ProtectedKind::git_config: return config_fault(entry);
            case ProtectedKind::git_modules: return modules_fault(*entry.text);
            case ProtectedKind::git_commondir: return commondir_fault(entry);
            default: return git_file_fault(entry);
        }
    }

private:
    using Fault = std::optional<std::string>;

    Fault hooks_fault(const ProtectedEntry& entry) const {
        const process::Fd hooks = scan_.open(entry.path);
        Fault fault;
        const bool listed = hooks && list_directory(hooks.get(), [&](std::string_view name, unsigned char) {
            constexpr std::string_view suffix = ".sample";
            if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix) return true;
            fault = text::concat({"git would run the hook ", text::quoted(name)});
            return false;
        });
        if (!listed) return "it cannot be listed";
        return fault;
    }

    Fault config_fault(const ProtectedEntry& entry) const {
        const auto config = read_git_config(*entry.text);
        if (!config) return "it is not plainly a git configuration";
        // What stood there before the run may stay: the user may have changed the file meanwhile.
        const ProtectedEntry* old = before_.find(entry.path, entry.kind);
        const auto old_config = old != nullptr && old->text ? read_git_config(*old->text) : std::nullopt;
        for (const GitConfigEntry& item : *config) {
            if (old_config && std::find(old_config->begin(), old_config->end(), item) != old_config->end()) continue;
            if (item.name() == "core.worktree" && is_submodules_work_tree(entry.path, item.value)) continue;
            if (!is_harmless_git_config(item)) return text::concat({text::quoted(item.name()), " is not among the keys that git itself sets in a new repository, or its value is not"});
        }
        if (fetches_on_demand_from_a_path(*config)) return "a partial clone of a local directory runs git there";
        return {};
    }
    bool is_submodules_work_tree(std::string_view config, std::string_view value) const {
        if (config.find("/modules/") == config.npos || value.empty() || value.front() == '/') return false;
        const auto tree = resolve_in(parent_of(config), value);
        return tree && scan_.in_root(*tree);
    }

    static Fault modules_fault(std::string_view text) {
        const auto config = read_git_config(text);
        if (!config) return "it is not plainly a git configuration";
        for (const GitConfigEntry& item : *config) {
            if (item.section != "submodule" || item.subsection.empty() || !is_harmless_git_config(item)) {
                return text::concat({text::quoted(item.name()), " is not among the keys that git itself sets in it, or its value is not"});
            }
        }
        return {};
    }

    // git worktree add makes .git/worktrees/<name> with "../.." in it. Anywhere else a commondir hides where the configuration is.
    static Fault commondir_fault(const ProtectedEntry& entry) {
        const auto worktrees = parent_of(parent_of(entry.path));
        if (name_of(worktrees) != "worktrees" || (*entry.text != "../..\n" && *entry.text != "../..") || entry.leads_to.empty()) {
            return "it gives the repository a configuration and hooks from elsewhere";
        }
        return {};
    }

    Fault git_file_fault(const ProtectedEntry& entry) const {
        if (entry.leads_to.empty()) return "it leads to no repository inside the workspace";
        if (scan_.runs_from_work_tree(entry.leads_to)) return "the repository that it leads to would run programs or hooks from this directory";
        return {};
    }

    const ProtectedScan& scan_;
    const ProtectedSnapshot& before_;
};

/// A directory outside every sandbox's reach, made when the first file needs it.
class Quarantine {
public:
    Quarantine(std::string base, std::string root) : base_{std::move(base)}, root_{std::move(root)} {}

    struct Moved {
        bool done = false;
        std::string remedy;
    };

    [[nodiscard]] Moved move(const ProtectedScan& scan, const std::string& path) {
        const std::string name{name_of(path)};
        const process::Fd parent = scan.open(parent_of(path));
        if (!parent) return failed(errno);
        if (!made_ && !make()) {
            const int error = errno;
            return in_place(parent.get(), path, text::concat({"no quarantine: ", base_, ": ", std::strerror(error)}));
        }
        std::string target = here_;
        std::string_view rest = is_within(path, root_) && root_ != "/" ? std::string_view{path}.substr(root_.size() + 1) : std::string_view{path}.substr(1);
        if (!is_within(path, root_)) target = join(target, "outside");
        for (auto slash = rest.find('/'); slash != rest.npos; slash = rest.find('/')) {
            make_directory(target);
            target = join(target, rest.substr(0, slash));
            rest.remove_prefix(slash + 1);
        }
        make_directory(target);
        target = join(target, rest);
        if (const int error = rename(parent.get(), name, AT_FDCWD, target); error != 0) {
            if (error == ENOENT) return failed(error);
            return in_place(parent.get(), path, std::strerror(error));
        }
        return {true, text::concat({"moved to ", text::quoted(target), "; look at it, and move it back if it is wanted"})};
    }

private:
    static Moved failed(int error) {
        return {false, text::concat({"it could NOT be moved (", std::strerror(error), "): remove it before any tool on the host works in this directory"})};
    }

    // On another file system a rename within the directory is what remains: nothing is copied and nothing is lost.
    Moved in_place(int parent, const std::string& path, std::string_view why) {
        const std::string aside = path + ".bailey-quarantined-" + id_;
        if (const int error = rename(parent, std::string{name_of(path)}, parent, std::string{name_of(aside)}); error != 0) return failed(error);
        return {true, text::concat({"renamed to ", text::quoted(aside), " (", why, "); look at it, and rename it back if it is wanted"})};
    }

    bool make() {
        make_directory(base_);
        here_ = join(base_, "XXXXXX");
        if (::mkdtemp(here_.data()) == nullptr) return false;
        made_ = true;
        id_ = name_of(here_);
        return true;
    }
    static void make_directory(const std::string& path) { ::mkdir(path.c_str(), 0700); }  // failure shows in what comes next

    // The command may have taken the permissions away that a rename needs; they are ours to give back.
    static int rename(int parent, const std::string& name, int target_directory, const std::string& target) {
        if (::renameat(parent, name.c_str(), target_directory, target.c_str()) == 0) return 0;
        if (errno != EACCES && errno != EPERM) return errno;
        const process::Fd moved = open_directory_at(parent, name);  // a directory that moves has its ".." rewritten
        const mode_t before = make_writable(parent);
        if (moved) static_cast<void>(make_writable(moved.get()));
        const int error = ::renameat(parent, name.c_str(), target_directory, target.c_str()) == 0 ? 0 : errno;
        if (before != 0) change_mode(parent, before);
        return error;
    }
    static mode_t make_writable(int directory) {
        struct stat status {};
        if (::fstat(directory, &status) != 0) return 0;
        change_mode(directory, (status.st_mode & 07777) | 0700);
        return status.st_mode & 07777;
    }
    static void change_mode(int directory, mode_t mode) {
        if constexpr (on_linux) {
            static_cast<void>(::chmod(text::concat({"/proc/self/fd/", std::to_string(directory)}).c_str(), mode));  // the descriptor is O_PATH
        } else {
            static_cast<void>(::fchmod(directory, mode));
        }
    }

    std::string base_, root_, here_;
    std::string id_ = std::to_string(::getpid());
    bool made_ = false;
};

}  // namespace detail

/// Moves what is planted into a new directory under `quarantine_directory`, which no command can reach and which is best
/// on the same file system. Once every command that could write here has ended, no host's git finds anything to run.
[[nodiscard]] inline std::vector<Violation> quarantine_planted(const ProtectedSnapshot& before, const std::string& quarantine_directory) {
    std::vector<Violation> violations;
    const auto report = [&](const std::string& path, std::string rule, std::string remedy, bool certain) {
        violations.push_back({ViolationKind::planted_file, path, std::move(rule), std::move(remedy), certain});
    };
    detail::Quarantine quarantine{quarantine_directory, before.root()};
    std::set<std::string> stuck;
    const auto unchanged = [&](const ProtectedEntry& entry) { return before.has_unchanged(entry); };
    // What is moved away may bring to light what it hid, so a round that moved something is followed by another.
    for (int round = 0; round < 5; ++round) {
        ProtectedScan scan{before.root(), before.writable(), before.limits(), unchanged};
        if (!scan.run()) {
            report(before.root(), "the workspace can no longer be opened", "look at it before any tool on the host works there", false);
            break;
        }
        const detail::PlantedJudge judge{scan, before};
        bool moved = false;
        for (const ProtectedEntry& entry : scan.entries()) {
            if (before.has_unchanged(entry) || stuck.count(entry.path) != 0) continue;
            auto fault = judge.fault(entry);
            if (!fault) continue;
            auto result = quarantine.move(scan, entry.path);
            if (!result.done && scan.is_gone(entry.path)) continue;  // it went with a directory that was moved
            report(entry.path, std::move(*fault), std::move(result.remedy), true);
            if (result.done) moved = true;
            else stuck.insert(entry.path);
        }
        if (scan.incomplete()) {
            report(before.root(), "the workspace now has more files than are looked at, so planted files may have been missed",
                   "run no git on the host in it before it is cleared up", false);
            break;
        }
        if (!moved) break;
    }
    return violations;
}

}  // namespace bailey::srt
