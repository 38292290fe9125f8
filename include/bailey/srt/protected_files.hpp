// Before a run: what the command must not be able to change, and a memory of it, by which what it adds is told apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bailey/base/error.hpp>
#include <bailey/base/text.hpp>
#include <bailey/srt/beneath.hpp>
#include <bailey/srt/protected_scan.hpp>

namespace bailey::srt {

class ProtectedSnapshot {
public:
    /// What exists and must be denied for writing. Absolute; a link stands for what it leads to, as srt takes it.
    [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

    [[nodiscard]] const std::string& root() const { return root_; }
    [[nodiscard]] const std::vector<std::string>& writable() const { return writable_; }
    [[nodiscard]] const ScanLimits& limits() const { return limits_; }
    /// As long as nothing happens in the root, another would be the same, whatever happens elsewhere.
    [[nodiscard]] bool self_contained() const { return self_contained_; }

    /// How it was, or null when there was none.
    [[nodiscard]] const ProtectedEntry* find(std::string_view path, ProtectedKind kind) const {
        std::size_t first = 0;
        for (std::size_t count = entries_.size(); count > 0;) {
            const std::size_t half = count / 2;
            const int order = entries_[first + half].order(path, kind);
            if (order == 0) return &entries_[first + half];
            if (order < 0) {
                first += half + 1;
                count -= half + 1;
            } else {
                count = half;
            }
        }
        return nullptr;
    }
    /// It is the same file with the same content, and leads to the same place if it leads anywhere.
    [[nodiscard]] bool has_unchanged(const ProtectedEntry& entry) const {
        const ProtectedEntry* before = find(entry.path, entry.kind);
        return before != nullptr && before->identity == entry.identity && before->target == entry.target;
    }

private:
    friend Result<ProtectedSnapshot> protected_snapshot(const std::string&, std::vector<std::string>, const ProtectedSnapshot*, ScanLimits);

    std::string root_;
    std::vector<std::string> writable_;
    ScanLimits limits_;
    std::vector<ProtectedEntry> entries_;  // sorted by path and kind
    std::vector<std::string> paths_;
    bool self_contained_ = false;
};

namespace detail {
// Three of bwrap's arguments for each path and for each directory above one; srt stops at 9000 and needs some itself.
inline constexpr std::size_t most_protected_mounts = 2400;

/// A hook that is a link runs what it leads to, which lies where the command may write.
/// False: there is none, and nothing outside has a say.
[[nodiscard]] inline bool add_linked_hooks(const ProtectedScan& scan, const std::string& hooks, std::vector<std::string>& paths) {
    const process::Fd directory = scan.open(hooks);
    if (!directory) return false;
    bool linked = false;
    static_cast<void>(list_directory(directory.get(), [&](std::string_view name, unsigned char) {
        const std::string hook{name};
        const bool link = identity_at(directory.get(), hook).type == FileType::symlink;
        linked |= link;
        if (link && target_identity_at(directory.get(), hook)) paths.push_back(join(hooks, name));
        return paths.size() < most_protected_mounts;
    }));
    return linked;
}
}  // namespace detail

/// `root` and `writable` (the other directories that the command may write) are absolute and free of links. Asks for
/// nothing to be denied that does not exist, so that srt makes no placeholders: what is new afterwards is judged by
/// quarantine_planted.
/// `oldest`: the snapshot of the oldest run that has not ended yet, if any. Its memory is taken over, for what is there now
/// may be what that run has planted. Without it, two commands at once could vouch for each other.
[[nodiscard]] inline Result<ProtectedSnapshot> protected_snapshot(const std::string& root, std::vector<std::string> writable = {},
                                                                  const ProtectedSnapshot* oldest = nullptr, ScanLimits limits = {}) {
    const auto trust_all = [](const ProtectedEntry&) { return true; };
    ProtectedScan scan{root, writable, limits, trust_all};
    if (!scan.run()) {
        return Error{ErrorCode::policy, text::concat({"bailey: the workspace \"", root, "\" cannot be opened as a directory without links"})};
    }
    if (scan.incomplete()) {
        return Error{ErrorCode::policy,
                     text::concat({"bailey: the workspace \"", root, "\" has too many files to find all that must be protected in it (", std::to_string(limits.directories), " directories, ", std::to_string(limits.names), " names are looked at); open a smaller directory as the workspace"})};
    }
    ProtectedSnapshot snapshot;
    snapshot.root_ = root;
    snapshot.writable_ = std::move(writable);
    snapshot.limits_ = limits;
    snapshot.entries_ = std::move(scan.entries());
    std::sort(snapshot.entries_.begin(), snapshot.entries_.end(), [](const auto& a, const auto& b) {
        return a.order(b.path, b.kind) < 0;
    });

    snapshot.self_contained_ = scan.self_contained() && (oldest == nullptr || oldest->self_contained_);
    auto& paths = snapshot.paths_;
    for (const ProtectedEntry& entry : snapshot.entries_) {
        if (entry.kind == ProtectedKind::git_above || entry.kind == ProtectedKind::git_index) continue;
        if (entry.identity.type == FileType::symlink && !entry.target) continue;
        paths.push_back(entry.path);
        if (entry.kind == ProtectedKind::git_hooks && detail::add_linked_hooks(scan, entry.path, paths)) snapshot.self_contained_ = false;
    }
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());

    std::set<std::string> above;
    for (const std::string& path : paths) {
        for (std::string parent{parent_of(path)}; parent != "/" && above.insert(parent).second;) parent = std::string{parent_of(parent)};
    }
    if (paths.size() + above.size() > detail::most_protected_mounts) {
        return Error{ErrorCode::policy,
                     text::concat({"bailey: the workspace \"", root, "\" holds ", std::to_string(paths.size()), " files and directories that must be protected (settings of shells and editors, hooks and configuration of git repositories), more than srt can take; open a smaller directory as the workspace, or move repositories out of it"})};
    }
    if (oldest != nullptr) snapshot.entries_ = oldest->entries_;
    return snapshot;
}

}  // namespace bailey::srt
