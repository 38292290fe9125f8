// Finds everything by which a tree can steer the host's tools: settings of shells and editors, and all that makes git run code.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bailey/boundary/defaults.hpp>
#include <bailey/srt/beneath.hpp>
#include <bailey/srt/git_config.hpp>
#include <bailey/srt/git_index.hpp>

namespace bailey::srt {

enum class ProtectedKind {
    settings,       ///< .bashrc, .vscode and the like: steer other tools whatever they hold
    git_modules,    ///< .gitmodules
    git_file,       ///< a .git that is no directory
    git_config,     ///< config and config.worktree
    git_commondir,  ///< commondir
    git_hooks,      ///< hooks
    git_index,      ///< an index that git never wrote: not a file, or naming what lies outside the work tree
    git_above,      ///< a repository in a directory that holds the root: git finds it from within
    git_reference,  ///< what a configuration that was there before names: included files, hooksPath, fsmonitor
};

struct ProtectedEntry {
    std::string path;
    ProtectedKind kind{};
    FileIdentity identity{};
    FileIdentity target{};            ///< of what a link, a .git file or a commondir leads to
    std::string leads_to{};           ///< the git directory that a .git file or a commondir names and that was looked into
    std::optional<std::string> text{};  ///< what a configuration, a .git file or a commondir says

    /// Below, equal or above zero, as this one comes before, is or comes after the other.
    [[nodiscard]] int order(std::string_view other_path, ProtectedKind other_kind) const {
        const int by_path = path.compare(other_path);
        return by_path != 0 ? by_path : static_cast<int>(kind) - static_cast<int>(other_kind);
    }
};

/// So that no tree, however made, keeps the host busy for long. What lies beyond a bound makes the scan incomplete, never silent.
struct ScanLimits {
    int depth = 3;  ///< of directories below the root, as srt's own mandatoryDenySearchDepth; git's own links lead further
    std::size_t directories = 100'000;
    std::size_t names = 5'000'000;
    std::size_t config_bytes = std::size_t{1} << 20;
    std::size_t index_bytes = std::size_t{64} << 20;
    std::size_t all_index_bytes = std::size_t{256} << 20;
};

namespace detail {
using defaults::claude_directories;
using defaults::settings_directories;
using defaults::settings_files;
inline constexpr std::size_t longest_git_file = 8192;

/// As the file systems that do not tell case apart compare names; on the others a little too careful.
[[nodiscard]] inline bool same_name(std::string_view name, std::string_view lower_case) {
    if (name.size() != lower_case.size()) return false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != lower_case[i]) return false;
    }
    return true;
}
template <std::size_t Count>
[[nodiscard]] inline bool is_named_in(const std::array<std::string_view, Count>& names, std::string_view name) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view known) { return same_name(name, known); });
}

/// The path in "gitdir: <path>", or nothing when git would not write it so.
[[nodiscard]] inline std::optional<std::string> path_in_git_file(std::string_view text) {
    constexpr std::string_view prefix = "gitdir: ";
    if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
    text.remove_prefix(prefix.size());
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
    }
    return std::string{text};
}

/// What makes a directory a repository in git's eyes, .git or not: HEAD, and objects and refs here or where commondir says.
struct RepositoryShape {
    bool head = false, objects = false, refs = false, commondir = false;

    void see(std::string_view name) {
        head |= same_name(name, "head");
        objects |= same_name(name, "objects");
        refs |= same_name(name, "refs");
        commondir |= same_name(name, "commondir");
    }
    [[nodiscard]] bool complete() const { return head && ((objects && refs) || commondir); }
};
}  // namespace detail

/// One look at the tree. The entries are in the order found, the root's own first.
class ProtectedScan {
public:
    /// `trusted` tells whether an entry is as it was before the command ran. Only what such entries name is looked for,
    /// or followed out of the root: else a planted configuration could have the user's own files taken for planted ones.
    template <class Trusted>
    ProtectedScan(std::string root, std::vector<std::string> writable, ScanLimits limits, const Trusted& trusted)
        : root_{std::move(root)}, writable_{std::move(writable)}, limits_{limits}, trusted_data_{&trusted},
          trusted_{[](const void* data, const ProtectedEntry& entry) { return (*static_cast<const Trusted*>(data))(entry); }} {}

    /// False: the root cannot be opened as a directory.
    [[nodiscard]] bool run() {
        top_ = process::Fd{::open("/", detail::search_only | O_DIRECTORY | O_CLOEXEC)};
        root_directory_ = open(root_);
        if (!root_directory_) return false;
        visit_directory(root_directory_.get(), root_, 0);
        // Git looks for a repository upwards too, and a grant may hold the directory in which the workspace lies (/tmp).
        for (std::string above = root_; above != "/";) {
            above = parent_of(above);
            if (!reachable(above)) continue;
            if (const process::Fd directory = open(above)) probe_above(directory.get(), above);
        }
        visit_work_trees();
        return true;
    }

    [[nodiscard]] std::vector<ProtectedEntry>& entries() { return entries_; }
    [[nodiscard]] bool incomplete() const { return incomplete_; }
    /// Nothing outside the root had a say in what was found.
    [[nodiscard]] bool self_contained() const { return self_contained_; }

    [[nodiscard]] bool in_root(std::string_view path) const { return is_within(path, root_); }
    /// Whether a configuration that was there before would run something from a work tree given to this git directory.
    [[nodiscard]] bool runs_from_work_tree(const std::string& git_directory) const {
        const auto found = git_directories_.find(git_directory);
        if (found == git_directories_.end()) return false;
        if (found->second.runs_from_work_tree) return true;
        const auto common = git_directories_.find(found->second.common);
        return common != git_directories_.end() && common->second.runs_from_work_tree;
    }

    [[nodiscard]] bool is_gone(std::string_view path) const {
        const process::Fd parent = open(parent_of(path));
        return !parent || !identity_at(parent.get(), std::string{name_of(path)});
    }
    /// By absolute path, from the root's descriptor where it lies in the root.
    [[nodiscard]] process::Fd open(std::string_view path) const {
        if (root_directory_ && in_root(path)) return open_beneath(root_directory_.get(), path.substr(root_ == "/" ? 0 : root_.size()));
        return open_beneath(top_.get(), path);
    }

private:
    struct GitDirectory {
        GitLinks links;
        std::string common;  // where its configuration is, if not in itself
        std::size_t hash_size = 20;
        bool runs_from_work_tree = false;
    };

    [[nodiscard]] bool reachable(std::string_view path) {
        if (in_root(path)) return true;
        const bool granted = std::any_of(writable_.begin(), writable_.end(), [&](const std::string& grant) { return is_within(path, grant); });
        if (granted) self_contained_ = false;
        return granted;
    }
    FileIdentity target_of(int directory, const std::string& path) {
        self_contained_ = false;  // wherever it leads
        return target_identity_at(directory, path);
    }
    [[nodiscard]] bool trusted(const ProtectedEntry& entry) const { return trusted_(trusted_data_, entry); }
    // No descriptor left is no proof that nothing is there.
    process::Fd checked(process::Fd fd) {
        if (!fd && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) incomplete_ = true;
        return fd;
    }
    process::Fd reopen(std::string_view path) { return checked(open(path)); }
    process::Fd enter(int directory, const std::string& name) { return checked(open_directory_at(directory, name)); }
    process::Fd enter_to_list(int directory, const std::string& name) { return checked(open_listable_at(directory, name)); }
    template <class Visit>
    bool list(int directory, Visit&& visit) {
        const bool listed = list_directory(directory, visit);
        if (!listed) static_cast<void>(checked({}));
        return listed;
    }
    [[nodiscard]] bool within_limits(std::size_t& used, std::size_t limit) {
        if (++used <= limit) return true;
        incomplete_ = true;
        return false;
    }

    /// The index of the new entry, or nothing when there is no such file or it is known already.
    std::optional<std::size_t> add(int directory, std::string_view path, std::string_view name, ProtectedKind kind) {
        ProtectedEntry entry{join(path, name), kind};
        entry.identity = identity_at(directory, std::string{name});
        if (!entry.identity || !seen_.insert(entry.path).second) return std::nullopt;
        if (entry.identity.type == FileType::symlink) entry.target = target_of(directory, std::string{name});
        entries_.push_back(std::move(entry));
        return entries_.size() - 1;
    }

    void visit_directory(int directory, const std::string& path, int depth) {
        if (!within_limits(directories_, limits_.directories)) return;
        detail::RepositoryShape shape;
        std::vector<std::string> below, special;
        const bool listed = list(directory, [&](std::string_view name, unsigned char type) {
            shape.see(name);
            if (name.front() == '.' && is_special(name)) {
                special.emplace_back(name);
                return within_limits(names_, limits_.names);
            }
            // srt leaves node_modules out as well: packages bring their authors' editor settings along.
            if (depth < limits_.depth && name != "node_modules" && (type == DT_DIR || type == DT_UNKNOWN)) below.emplace_back(name);
            return within_limits(names_, limits_.names);
        });
        if (!listed) probe_names(directory, path);
        for (const std::string& name : special) {
            if (visit_name(directory, path, name)) below.push_back(name);
        }
        if (shape.complete()) visit_git_directory(directory, path, path);
        for (const std::string& name : below) {
            if (incomplete_ || depth == limits_.depth) return;
            if (const process::Fd child = enter_to_list(directory, name)) visit_directory(child.get(), join(path, name), depth + 1);
        }
    }

    [[nodiscard]] static bool is_special(std::string_view name) {
        return detail::same_name(name, ".git") || detail::same_name(name, ".gitmodules") || detail::same_name(name, ".claude") ||
               detail::is_named_in(detail::settings_files, name) || detail::is_named_in(detail::settings_directories, name);
    }
    /// True: it is a directory to be entered like any other.
    bool visit_name(int directory, const std::string& path, std::string_view name) {
        if (detail::same_name(name, ".git")) return visit_dot_git(directory, path, name), false;
        if (detail::same_name(name, ".gitmodules")) {
            const auto at = add(directory, path, name, ProtectedKind::git_modules);
            if (at) entries_[*at].text = read_file_at(directory, std::string{name}, limits_.config_bytes);
            return false;
        }
        const process::Fd claude = detail::same_name(name, ".claude") ? enter(directory, std::string{name}) : process::Fd{};
        if (!claude) return add(directory, path, name, ProtectedKind::settings), false;
        for (const std::string_view child : detail::claude_directories) add(claude.get(), join(path, name), child, ProtectedKind::settings);
        return true;
    }

    // A directory that may be searched and not listed hides nothing that has a known name.
    void probe_names(int directory, const std::string& path) {
        for (const std::string_view name : detail::settings_files) visit_name(directory, path, name);
        for (const std::string_view name : detail::settings_directories) visit_name(directory, path, name);
        for (const std::string_view name : {".gitmodules", ".claude"}) visit_name(directory, path, name);
        probe_for_repository(directory, path);
    }
    void probe_for_repository(int directory, const std::string& path) {
        visit_dot_git(directory, path, ".git");
        if (shape_of(directory).complete()) visit_git_directory(directory, path, path);
    }

    // Made by a command, it is there for the workspace to be found in it. Made by the user, it is one like any other.
    void probe_above(int directory, const std::string& path) {
        for (const char* name : {".git", "HEAD"}) {
            if (name[0] != '.' && !shape_of(directory).complete()) continue;
            const auto at = add(directory, path, name, ProtectedKind::git_above);
            if (!at) continue;
            if (name[0] != '.') entries_[*at].identity = FileIdentity{entries_[*at].identity.type};  // each branch change makes it anew
            if (!trusted(entries_[*at])) continue;
            if (name[0] != '.') {
                visit_git_directory(directory, path, {});
            } else {
                seen_.erase(entries_[*at].path);
                visit_dot_git(directory, path, name);
            }
        }
    }
    static detail::RepositoryShape shape_of(int directory) {
        detail::RepositoryShape shape;
        for (const char* name : {"HEAD", "objects", "refs", "commondir"}) {
            if (identity_at(directory, name)) shape.see(name[0] == 'H' ? "head" : name);
        }
        return shape;
    }

    void visit_dot_git(int directory, const std::string& path, std::string_view spelled) {
        const std::string name{spelled};
        if (const process::Fd git = enter(directory, name)) return visit_git_directory(git.get(), join(path, name), path);
        const auto at = add(directory, path, name, ProtectedKind::git_file);
        if (!at) return;
        std::optional<std::string> target;
        if (entries_[*at].identity.type == FileType::symlink) {
            std::string link(detail::longest_git_file, '\0');
            const auto size = ::readlinkat(directory, name.c_str(), link.data(), link.size());
            if (size > 0) target = link.substr(0, static_cast<std::size_t>(size));
        } else {
            entries_[*at].text = read_file_at(directory, name, detail::longest_git_file);
            if (entries_[*at].text) target = detail::path_in_git_file(*entries_[*at].text);
            if (target) entries_[*at].target = target_of(directory, *target);
        }
        if (target) follow(*at, path, *target, path);
    }

    /// Looks into the git directory that an entry names, if the sandbox can write there and no link is on the way.
    void follow(std::size_t at, const std::string& base, const std::string& target, const std::string& work_tree) {
        const auto path = resolve_in(base, target);
        if (!path || !reachable(*path)) return;
        const bool was_there = trusted(entries_[at]);
        if (!was_there && !in_root(*path) && git_directories_.find(*path) == git_directories_.end()) return;
        const process::Fd git = reopen(*path);
        if (!git) return;
        entries_[at].leads_to = *path;
        visit_git_directory(git.get(), *path, work_tree, was_there);
    }

    /// `work_tree`: where it lies, or empty. `belongs`: what the configuration names relative to it is looked for there.
    void visit_git_directory(int git, const std::string& path, const std::string& work_tree, bool belongs = true) {
        auto [found, first_time] = git_directories_.try_emplace(path);
        GitDirectory& self = found->second;  // a map's elements stay where they are
        if (nested_ >= 32) incomplete_ = true;  // each level holds descriptors
        if (incomplete_ || (first_time && !within_limits(directories_, limits_.directories))) return;
        ++nested_;
        if (first_time) {
            add(git, path, "hooks", ProtectedKind::git_hooks);
            visit_commondir(git, path, self);
        }
        const std::string& tree = belongs ? work_tree : std::string{};
        for (const char* name : {"config", "config.worktree"}) visit_config(git, path, name, tree, self);
        if (!self.common.empty() && !tree.empty()) {
            if (const process::Fd common = reopen(self.common)) visit_config(common.get(), self.common, "config", tree, git_directories_[self.common]);
        }
        if (first_time) {
            visit_index(git, path, self);
            visit_git_directories_in(git, path, "modules", 8);
            visit_git_directories_in(git, path, "worktrees", 1);
        }
        if (!work_tree.empty()) work_trees_.emplace_back(path, work_tree);
        --nested_;
    }

    void visit_commondir(int git, const std::string& path, GitDirectory& self) {
        const auto at = add(git, path, "commondir", ProtectedKind::git_commondir);
        if (!at) return;
        entries_[*at].text = read_file_at(git, "commondir", detail::longest_git_file);
        if (!entries_[*at].text) return;
        std::string_view target = *entries_[*at].text;
        while (!target.empty() && (target.back() == '\n' || target.back() == '\r')) target.remove_suffix(1);
        const std::string common{target};
        entries_[*at].target = target_of(git, common);
        follow(*at, path, common, {});
        if (entries_[*at].leads_to.empty()) return;
        self.common = entries_[*at].leads_to;
        self.hash_size = git_directories_[self.common].hash_size;
    }

    // Read again for every work tree that the git directory is given: relative names depend on it.
    void visit_config(int git, const std::string& path, const std::string& file, const std::string& work_tree, GitDirectory& self) {
        ProtectedEntry entry{join(path, file), ProtectedKind::git_config};
        if (const auto at = add(git, path, file, ProtectedKind::git_config)) {
            entries_[*at].text = read_file_at(git, file, limits_.config_bytes);
            entry = entries_[*at];
        } else {
            entry.text = read_file_at(git, file, limits_.config_bytes);
            entry.identity = identity_at(git, file);
            if (entry.identity.type == FileType::symlink) entry.target = target_of(git, file);
        }
        const auto config = entry.text ? read_git_config(*entry.text) : std::nullopt;
        if (!config) return;
        for (const GitConfigEntry& item : *config) {
            if (item.name() == "extensions.objectformat") self.hash_size = detail::same_name(item.value, "sha256") ? 32 : 20;
            if (item.name() != "core.worktree") continue;
            if (const auto other = resolve_in(path, item.value); other && in_root(*other)) work_trees_.emplace_back(path, *other);
        }
        if (trusted(entry)) visit_references(*config, path, work_tree, self, 0);
    }

    void visit_references(const std::vector<GitConfigEntry>& config, const std::string& directory, const std::string& work_tree,
                          GitDirectory& self, int depth) {
        for (const GitConfigEntry& item : config) {
            const bool runs = item.section == "core" && (item.key == "hookspath" || item.key == "fsmonitor");
            const bool includes = (item.section == "include" || item.section == "includeif") && item.key == "path";
            if ((!runs && !includes) || item.value.empty() || item.value.front() == '~') continue;
            std::string_view named = item.value;
            if (item.key == "fsmonitor") named = named.substr(0, named.find(' '));  // a command line
            if (runs && named.front() != '/' && (item.key == "hookspath" || named.find('/') != named.npos)) self.runs_from_work_tree = true;
            if (item.key == "fsmonitor" && named.find('/') == named.npos) continue;
            const std::string& base = includes ? directory : work_tree;
            const auto path = base.empty() ? std::nullopt : resolve_in(base, named);
            if (!path || !in_root(*path) || *path == root_) continue;
            add_reference(*path);
            if (!includes || depth >= 10) continue;
            const std::string parent{parent_of(*path)};
            const process::Fd opened = reopen(parent);
            const auto text = opened ? read_file_at(opened.get(), std::string{name_of(*path)}, limits_.config_bytes) : std::nullopt;
            if (const auto included = text ? read_git_config(*text) : std::nullopt) {
                visit_references(*included, parent, work_tree, self, depth + 1);
            }
        }
    }

    // A link on the way decides what the path names, so then it is the link that counts.
    void add_reference(const std::string& path) {
        std::string above = root_;
        process::Fd here = reopen(root_);
        std::string_view rest = std::string_view{path}.substr(root_ == "/" ? 1 : root_.size() + 1);
        while (here) {
            const auto slash = rest.find('/');
            const std::string name{rest.substr(0, slash)};
            if (slash == rest.npos || identity_at(here.get(), name).type == FileType::symlink) {
                add(here.get(), above, name, ProtectedKind::git_reference);
                return;
            }
            here = enter(here.get(), name);
            above = join(above, name);
            rest.remove_prefix(slash + 1);
        }
    }

    void visit_index(int git, const std::string& path, GitDirectory& self) {
        const FileIdentity identity = identity_at(git, "index");
        if (!identity) return;
        if (identity.type != FileType::regular) {
            add(git, path, "index", ProtectedKind::git_index);
            self.links.certain = false;
            return;
        }
        const auto left = limits_.all_index_bytes - std::min(limits_.all_index_bytes, index_bytes_);
        const auto bytes = read_file_at(git, "index", std::min(left, limits_.index_bytes));
        if (!bytes) {
            self.links.certain = false;
            return;
        }
        index_bytes_ += bytes->size();
        self.links = read_git_links(*bytes, self.hash_size);
        auto& paths = self.links.paths;
        std::sort(paths.begin(), paths.end());
        paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
        const bool outside = std::any_of(paths.begin(), paths.end(), [](const std::string& link) {
            const std::string framed = "/" + link + "/";
            return framed.find("//") != framed.npos || framed.find("/./") != framed.npos || framed.find("/../") != framed.npos;
        });
        if (!outside) return;
        add(git, path, "index", ProtectedKind::git_index);
        paths.clear();
    }

    // Submodules' names may have slashes in them, so what is no git directory may hold some.
    void visit_git_directories_in(int parent, const std::string& path, const std::string& name, int depth) {
        const process::Fd directory = enter(parent, name);
        if (!directory || depth == 0) return;
        const std::string here = join(path, name);
        std::vector<std::string> below;
        const bool listed = list(directory.get(), [&](std::string_view child, unsigned char type) {
            if (type == DT_DIR || type == DT_UNKNOWN) below.emplace_back(child);
            return within_limits(names_, limits_.names);
        });
        if (!listed) return;
        for (const std::string& child : below) {
            if (incomplete_ || !within_limits(directories_, limits_.directories)) return;
            const process::Fd git = enter(directory.get(), child);
            if (!git) continue;
            if (identity_at(git.get(), "HEAD") || identity_at(git.get(), "config") || identity_at(git.get(), "commondir")) {
                visit_git_directory(git.get(), join(here, child), {});
            } else {
                visit_git_directories_in(directory.get(), here, child, depth - 1);
            }
        }
    }

    // `git status` goes on in every directory that the index calls a submodule and that has a .git, at any depth.
    void visit_work_trees() {
        std::set<std::string> done;
        while (!work_trees_.empty()) {
            const auto next = std::move(work_trees_.back());
            work_trees_.pop_back();
            if ((!in_root(next.second) && !is_within(root_, next.second)) || !done.insert(next.first + '\0' + next.second).second) continue;
            const process::Fd tree = reopen(next.second);
            if (!tree) continue;
            const GitLinks& links = git_directories_[next.first].links;
            for (const std::string& link : links.paths) {
                const std::string path = join(next.second, link);
                if (!in_root(path)) continue;
                if (!within_limits(directories_, limits_.directories)) return;
                const process::Fd module = checked(open_beneath(tree.get(), link));
                if (module) visit_dot_git(module.get(), path, ".git");
            }
            if (!links.certain) visit_everywhere(in_root(next.second) ? next.second : root_);
        }
    }

    void visit_everywhere(const std::string& path) {
        std::vector<std::string> starts{path};
        while (!starts.empty() && !incomplete_) {
            const std::string start = std::move(starts.back());
            starts.pop_back();
            if (!walked_.insert(start).second) continue;
            if (const process::Fd directory = reopen(start)) walk(directory.get(), start, 0, starts);
        }
    }
    void walk(int directory, const std::string& path, int depth, std::vector<std::string>& starts) {
        if (!within_limits(directories_, limits_.directories)) return;
        visit_dot_git(directory, path, ".git");
        std::vector<std::string> below;
        list(directory, [&](std::string_view name, unsigned char type) {
            if ((type == DT_DIR || type == DT_UNKNOWN) && !detail::same_name(name, ".git")) below.emplace_back(name);
            return within_limits(names_, limits_.names);
        });
        for (const std::string& name : below) {
            if (incomplete_) return;
            if (depth == 50) {  // each level holds a descriptor
                starts.push_back(join(path, name));
            } else if (const process::Fd child = enter_to_list(directory, name)) {
                walk(child.get(), join(path, name), depth + 1, starts);
            }
        }
    }

    std::string root_;
    std::vector<std::string> writable_;
    ScanLimits limits_;
    const void* trusted_data_;
    bool (*trusted_)(const void*, const ProtectedEntry&);
    process::Fd top_, root_directory_;
    std::vector<ProtectedEntry> entries_;
    std::set<std::string> seen_, walked_;
    std::map<std::string, GitDirectory> git_directories_;
    std::vector<std::pair<std::string, std::string>> work_trees_;  // git directory, work tree
    int nested_ = 0;
    std::size_t directories_ = 0, names_ = 0, index_bytes_ = 0;
    bool incomplete_ = false, self_contained_ = true;
};

}  // namespace bailey::srt
