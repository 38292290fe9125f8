// Which git configuration is harmless: an allowlist of what git init, clone, worktree and submodule write, never a denylist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <bailey/srt/git_config.hpp>

namespace bailey::srt {

namespace detail {
template <class... Names>
[[nodiscard]] constexpr bool is_one_of(std::string_view text, Names... names) {
    return ((text == std::string_view{names}) || ...);
}

[[nodiscard]] inline bool is_git_boolean(std::string_view value) {
    return is_one_of(value, "", "true", "false", "yes", "no", "on", "off", "1", "0");
}
[[nodiscard]] inline bool is_git_false(std::string_view value) { return is_one_of(value, "false", "no", "off", "0"); }

/// Letters, digits and a little more: a mode word, a number, a branch. Nothing a shell or an option parser would act on.
[[nodiscard]] inline bool is_plain_word(std::string_view value) {
    if (value.empty() || value.front() == '-') return false;
    for (const char c : value) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           is_one_of(std::string_view{&c, 1}, "-", "_", ".", "/", "=", ":");
        if (!plain) return false;
    }
    return true;
}

/// http, https, ssh or git with a host; nothing that names a remote helper.
[[nodiscard]] inline bool is_network_url(std::string_view url) {
    for (const std::string_view scheme : {"https://", "http://", "ssh://", "git://", "git+ssh://", "ssh+git://"}) {
        if (url.substr(0, scheme.size()) != scheme) continue;
        return url.size() > scheme.size() && url[scheme.size()] != '-';
    }
    return false;
}

/// "ext::sh -c …" and every other "helper::…" runs a program; "-…" and "ssh://-…" are options in disguise.
[[nodiscard]] inline bool is_safe_git_url(std::string_view url) {
    if (url.empty() || url.front() == '-' || url.find("::") != url.npos) return false;
    for (const char c : url) {
        if (static_cast<unsigned char>(c) < 0x20) return false;
    }
    const auto scheme = url.find("://");
    return scheme == url.npos || url.substr(0, scheme) == "file" || is_network_url(url);
}
}  // namespace detail

/// What runs nothing whatever git does with the repository. `core.worktree` is not judged here: it depends on the place.
[[nodiscard]] inline bool is_harmless_git_config(const GitConfigEntry& entry) {
    using namespace detail;
    const std::string_view section = entry.section, key = entry.key, value = entry.value;
    if (entry.subsection.empty()) {
        if (section == "core") {
            return is_one_of(key, "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase",
                             "precomposeunicode", "symlinks", "autocrlf", "eol", "safecrlf", "quotepath", "sparsecheckout",
                             "sparsecheckoutcone", "untrackedcache", "hidedotfiles", "abbrev");
        }
        if (section == "extensions") {
            return is_one_of(key, "objectformat", "compatobjectformat", "refstorage", "partialclone", "preciousobjects",
                             "worktreeconfig", "relativeworktrees", "noop");
        }
        if (section == "user") return is_one_of(key, "name", "email");
        if (section == "init") return key == "defaultbranch";
        if (section == "commit" || section == "tag") return key == "gpgsign" && is_git_false(value);
        if (section == "gc") return key == "auto" && is_plain_word(value);
        if (section == "pull") return is_one_of(key, "rebase", "ff") && is_plain_word(value);
        if (section == "push") return is_one_of(key, "default", "autosetupremote", "followtags") && is_plain_word(value);
        if (section == "fetch") return is_one_of(key, "prune", "prunetags") && is_git_boolean(value);
        if (section == "merge") return is_one_of(key, "conflictstyle", "ff") && is_plain_word(value);
        if (section == "rebase") return is_one_of(key, "autosquash", "autostash") && is_git_boolean(value);
        if (section == "diff") return is_one_of(key, "renames", "algorithm") && is_plain_word(value);
        if (section == "index") return key == "sparse" && is_git_boolean(value);
        if (section == "advice") return is_git_boolean(value);
        if (section == "lfs") return key == "repositoryformatversion";
        if (section == "submodule") {
            return is_one_of(key, "active", "recurse", "alternatelocation", "alternateerrorstrategy");
        }
        return false;
    }
    if (section == "remote") {
        if (is_one_of(key, "url", "pushurl")) return is_safe_git_url(value);
        if (key == "fetch" || key == "push") return !value.empty() && value.front() != '-';
        if (key == "tagopt") return is_one_of(value, "--tags", "--no-tags");
        return is_one_of(key, "promisor", "partialclonefilter", "mirror", "prune", "skipdefaultupdate", "skipfetchall");
    }
    if (section == "branch") {
        if (is_one_of(key, "remote", "pushremote")) return is_safe_git_url(value);  // a URL may stand here too
        return key == "merge" || key == "description" || (key == "rebase" && is_plain_word(value));
    }
    if (section == "submodule") {
        if (key == "url") return is_safe_git_url(value);
        if (key == "update") return is_one_of(value, "checkout", "rebase", "merge", "none");  // "!command" runs it
        return is_one_of(key, "active", "path", "branch", "ignore", "shallow", "fetchrecursesubmodules");
    }
    return false;
}

/// A clone that fetches missing objects on demand does so during `git status` too. From a host on the network that runs
/// nothing; from a directory it would run git there, under whatever configuration that directory has.
[[nodiscard]] inline bool fetches_on_demand_from_a_path(const std::vector<GitConfigEntry>& entries) {
    bool on_demand = false, from_path = false;
    for (const GitConfigEntry& entry : entries) {
        on_demand |= entry.key == "promisor" || entry.key == "partialclone";
        from_path |= (entry.key == "url" || entry.key == "pushurl") && entry.section == "remote" &&
                     !detail::is_network_url(entry.value);
    }
    return on_demand && from_path;
}

}  // namespace bailey::srt
