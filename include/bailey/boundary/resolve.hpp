// Turns paths as the policies spelled them into absolute, real ones, and drops what has no effect: once, when a workspace is made.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bailey/base/error.hpp>
#include <bailey/base/platform.hpp>
#include <bailey/base/text.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/hosts.hpp>
#include <bailey/boundary/linked_worktree.hpp>
#include <bailey/boundary/paths.hpp>

namespace bailey {

/// The host user's home: $HOME, or what the password database says.
[[nodiscard]] inline std::string host_home() {
    if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') return home;
    std::array<char, 16384> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
    return found != nullptr && found->pw_dir != nullptr ? found->pw_dir : "";
}

/// Where the host's /tmp really is; on macOS below /private.
[[nodiscard]] inline std::string real_tmp() { return paths::real(std::string{defaults::tmp}).value_or(std::string{defaults::tmp}); }

/// It is shared, unless a policy takes it away: srt would let its own grant of /tmp win over the denial of /tmp.
[[nodiscard]] inline bool shares_tmp(const Boundary& boundary) {
    return !boundary.private_tmp && !paths::is_within_any(real_tmp(), boundary.read_denials);
}

/// What is around the root is hidden, so that it has to be mounted back.
[[nodiscard]] inline bool root_stands_alone(const Boundary& boundary) {
    return !boundary.all_reads || paths::is_within_any(boundary.root, boundary.read_denials) ||
           (boundary.private_tmp && paths::is_within(boundary.root, real_tmp()));
}

/// The directories that commands may write, widest first; the private temporary directory is not among them.
[[nodiscard]] inline std::vector<std::string> writable_paths(const Boundary& boundary) {
    std::vector<std::string> writable = boundary.write_grants;
    if (!boundary.read_only) {
        writable.push_back(boundary.root);
        if (shares_tmp(boundary)) writable.push_back(real_tmp());
    }
    paths::sort_once(writable);
    return writable;
}

namespace detail {

class Resolver {
public:
    Resolver(Boundary boundary, std::string_view root) : boundary_{std::move(boundary)}, spelled_root_{root} {}

    Result<Boundary> resolve() {
        if (resolve_root() && boundary_.refusals.empty()) {
            resolve_denials(boundary_.read_denials, "read denial");
            resolve_denials(boundary_.write_denials, "write denial");
            check_denials();
            resolve_write_grants();
            resolve_read_grants();
            note_idle_denials();
            note_repository_elsewhere();
            settle_domains();
            settle_environment();
            note_weakenings();
        }
        if (boundary_.refusals.empty()) return std::move(boundary_);
        std::string message;
        for (const auto& refusal : boundary_.refusals) {
            if (!message.empty()) message += '\n';
            message += refusal;
        }
        return Error{ErrorCode::policy, message};
    }

private:
    bool resolve_root() {
        if (spelled_root_.empty()) return refuse("bailey: the workspace root is empty; write \".\" for the current directory");
        if (spelled_root_.find('\0') != std::string::npos)
            return refuse(text::concat({"bailey: the workspace root ", text::quoted(spelled_root_), " contains a NUL byte, which no path can; name a directory"}));
        const auto root = paths::real(expand_home(spelled_root_));
        if (!root)
            return refuse(text::concat({"bailey: the workspace root ", text::quoted(spelled_root_), " cannot be opened: ", std::strerror(errno), "; create the directory first"}));
        struct stat status {};
        if (::stat(root->c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
            return refuse(text::concat({"bailey: the workspace root ", text::quoted(spelled_root_), " is not a directory; name the one that it lies in"}));
        if (*root == "/")
            return refuse("bailey: the workspace root is \"/\": everything would be writable; choose the directory of the work");
        if (paths::is_within_any(*root, defaults::kernel_paths))
            return refuse(text::concat({"bailey: the workspace root ", text::quoted(*root), " is part of the kernel's own file systems; choose the directory of the work"}));
        if (!text::is_utf8(*root)) return refuse(not_utf8("the workspace root", *root));
        boundary_.root = *root;
        return true;
    }

    [[nodiscard]] static std::string expand_home(const std::string& path) {
        if (path != "~" && !path.starts_with("~/")) return path;
        return host_home() + path.substr(1);
    }

    /// Absolute and real as far as it exists; a refusal and nothing otherwise.
    std::optional<std::string> resolve_path(const std::string& spelled, std::string_view what) {
        if (spelled.empty()) return refuse_path(text::concat({"bailey: ", what, " is empty; name a path"}));
        if (spelled.find('\0') != std::string::npos)
            return refuse_path(text::concat({"bailey: ", what, " ", text::quoted(spelled), " contains a NUL byte"}));
        if (!text::is_utf8(spelled)) return refuse_path(not_utf8(what, spelled));
        std::string path = expand_home(spelled);
        if (!path.starts_with('/')) path = paths::join(boundary_.root, path);
        auto resolved = paths::real_as_far_as_it_exists(path);
        if (!resolved)
            return refuse_path(text::concat({"bailey: ", what, " ", text::quoted(spelled), " cannot be resolved (a loop of symlinks, a symlink to nothing, or no permission); name the path it should lead to"}));
        if (*resolved == "/") return refuse_path(text::concat({"bailey: ", what, " ", text::quoted(spelled), " is the whole file system; name the directories"}));
        if (!text::is_utf8(*resolved)) return refuse_path(not_utf8(what, *resolved));
        return resolved;
    }

    void resolve_denials(std::vector<std::string>& denials, std::string_view what) {
        std::vector<std::string> resolved;
        for (const auto& spelled : denials) {
            std::string path = expand_home(spelled);
            if (!path.starts_with('/')) path = paths::join(boundary_.root, path);
            struct stat status {};
            const bool is_link = ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
            const auto denial = resolve_path(spelled, what);
            if (!denial) continue;
            if (is_link)
                note(text::concat({what, " ", text::quoted(spelled), " is a symlink: ", text::quoted(*denial), " is denied; the link itself can be replaced where its directory is writable"}));
            if (::stat(denial->c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1)
                note(text::concat({what, " ", text::quoted(spelled), " has ", std::to_string(status.st_nlink), " names (hard links); only this one is denied"}));
            add_once(resolved, *denial, text::concat({what, " ", text::quoted(spelled)}));
        }
        denials = std::move(resolved);
    }

    void check_denials() {
        for (const auto& denial : boundary_.read_denials) {
            if (denial == boundary_.root) {
                refuse(text::concat({"bailey: the read denial ", text::quoted(denial), " is the workspace root itself: no command could work there; deny what is inside it"}));
            } else if (paths::is_within_any(denial, defaults::kernel_paths)) {
                refuse(text::concat({"bailey: the read denial ", text::quoted(denial), " is part of the kernel's own file systems: a sandbox has its own there, which cannot be hidden; leave it out"}));
            } else if (paths::is_beneath(boundary_.root, denial)) {
                note(text::concat({"read denial ", text::quoted(denial), " lies above the workspace root, which stays readable"}));
            }
        }
        for (const auto& denial : boundary_.write_denials) {
            if (!boundary_.read_only && paths::is_within(boundary_.root, denial))
                refuse(text::concat({"bailey: the write denial ", text::quoted(denial), " covers the workspace root; use ReadOnly for a workspace that cannot be written"}));
        }
    }

    /// The existing path a grant names; a note or a refusal and nothing otherwise.
    std::optional<std::string> resolve_grant(const std::string& spelled, std::string_view what) {
        const auto grant = resolve_path(spelled, what);
        if (!grant) return std::nullopt;
        if (!paths::real(*grant)) {
            note(text::concat({what, " ", text::quoted(spelled), " does not exist: it has no effect (create it before the workspace is made)"}));
            return std::nullopt;
        }
        for (const auto& denial : boundary_.read_denials) {
            const bool root_stays = paths::is_within(*grant, boundary_.root) && paths::is_within(boundary_.root, denial);
            if (paths::is_within(*grant, denial) && !root_stays) {
                note(text::concat({what, " ", text::quoted(spelled), " lies inside the read denial ", text::quoted(denial), ": the denial wins"}));
                return std::nullopt;
            }
        }
        return grant;
    }

    void resolve_write_grants() {
        const auto spelled_grants = std::exchange(boundary_.write_grants, {});
        const auto default_writable = writable_paths(boundary_);
        std::vector<std::string> grants;
        for (const auto& spelled : spelled_grants) {
            // A grant inside a wider one is dropped, even when it does not exist yet: commands can create it.
            const auto would_be = resolve_path(spelled, "write grant");
            if (!would_be) continue;
            if (boundary_.read_only && *would_be == boundary_.root) {
                refuse(text::concat({"bailey: the write grant ", text::quoted(spelled), " is the root of a ReadOnly workspace; remove one of the two"}));
                continue;
            }
            if (contradicts_private_tmp(*would_be, spelled, "write grant")) continue;
            if (paths::is_within_any(*would_be, default_writable) && !is_denied(*would_be)) {
                note(text::concat({"write grant ", text::quoted(spelled), " is dropped: it is writable anyway"}));
                continue;
            }
            if (paths::is_within_any(*would_be, defaults::kernel_paths)) {
                refuse(text::concat({"bailey: the write grant ", text::quoted(spelled), " is part of the kernel's own file systems; a sandbox has its own"}));
                continue;
            }
            const auto grant = resolve_grant(spelled, "write grant");
            if (!grant) continue;
            const auto denial = std::find_if(boundary_.write_denials.begin(), boundary_.write_denials.end(),
                                             [&](const auto& denied) { return paths::is_within(*grant, denied); });
            if (denial != boundary_.write_denials.end()) {
                note(text::concat({"write grant ", text::quoted(spelled), " lies inside the write denial ", text::quoted(*denial), ": the denial wins"}));
                continue;
            }
            add_once(grants, *grant, text::concat({"write grant ", text::quoted(spelled)}));
        }
        boundary_.write_grants = without_nested(grants, "write grant");
    }

    void resolve_read_grants() {
        const auto spelled_grants = std::exchange(boundary_.read_grants, {});
        auto readable = writable_paths(boundary_);
        readable.push_back(boundary_.root);
        if (shares_tmp(boundary_)) readable.push_back(real_tmp());
        for (const auto system : defaults::system_paths) {
            if (auto path = paths::real(std::string{system})) readable.push_back(std::move(*path));
        }
        std::vector<std::string> grants;
        for (const auto& spelled : spelled_grants) {
            const auto grant = resolve_grant(spelled, "read grant");
            if (!grant || contradicts_private_tmp(*grant, spelled, "read grant")) continue;
            const bool all = boundary_.all_reads && !(boundary_.private_tmp && paths::is_within(*grant, real_tmp()));
            if (all || paths::is_within_any(*grant, readable)) {
                note(text::concat({"read grant ", text::quoted(spelled), " is dropped: it is readable anyway"}));
                continue;
            }
            add_once(grants, *grant, text::concat({"read grant ", text::quoted(spelled)}));
        }
        boundary_.read_grants = without_nested(grants, "read grant");

        // srt mounts a readable directory over the writable file beneath it (measured with 0.0.83); only directories can be
        // mounted back on top.
        for (const auto& writable : boundary_.write_grants) {
            struct stat status {};
            if (::stat(writable.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) continue;
            const auto refuse_beneath = [&](std::string_view what, const std::string& above) {
                if (paths::is_beneath(writable, above))
                    refuse(text::concat({"bailey: the write grant ", text::quoted(writable), " is a file inside the ", what, " ", text::quoted(above), ", which srt would make read-only; grant writing to the directory ", text::quoted(paths::parent(writable)), " instead"}));
            };
            for (const auto& grant : boundary_.read_grants) refuse_beneath("read grant", grant);
            if (boundary_.read_only && root_stands_alone(boundary_)) refuse_beneath("ReadOnly workspace", boundary_.root);
        }
    }

    bool contradicts_private_tmp(const std::string& grant, const std::string& spelled, std::string_view what) {
        if (!boundary_.private_tmp || grant != real_tmp()) return false;
        refuse(text::concat({"bailey: the ", what, " ", text::quoted(spelled), " is what PrivateTmp takes away; remove one of the two, or grant a directory in it"}));
        return true;
    }

    void note_idle_denials() {
        const auto writable = writable_paths(boundary_);
        for (const auto& denial : boundary_.write_denials) {
            if (!paths::is_within_any(denial, writable) &&
                std::none_of(writable.begin(), writable.end(), [&](const auto& path) { return paths::is_within(path, denial); }))
                note(text::concat({"write denial ", text::quoted(denial), " has no effect: nothing there is writable"}));
        }
        const auto note_missing = [&](const std::vector<std::string>& denials, std::string_view what) {
            for (const auto& denial : denials) {
                if (paths::exists(denial)) continue;
                const auto place = paths::place_of(denial);
                if (!paths::is_within_any(denial, writable)) {
                    note(text::concat({what, " ", text::quoted(denial), " does not exist: there is nothing to deny"}));
                } else if (paths::exists(place)) {
                    note(text::concat({what, " ", text::quoted(denial), " cannot exist: ", text::quoted(place), " is no directory, and no command can change that or write it"}));
                } else {
                    note(text::concat({what, " ", text::quoted(denial), " does not exist yet: while a command runs a placeholder stands at ", text::quoted(place), ", where no command can make anything"}));
                }
            }
        };
        note_missing(boundary_.read_denials, "read denial");
        note_missing(boundary_.write_denials, "write denial");
    }

    void settle_domains() {
        boundary_.denied_domains = without_covered_domains(std::move(boundary_.denied_domains), "denied domain");
        boundary_.allowed_domains = without_covered_domains(std::move(boundary_.allowed_domains), "allowed domain");
        const auto& denied = boundary_.denied_domains;
        const auto denials = hosts::patterns(denied);
        for (const auto& domain : boundary_.allowed_domains) {
            const auto denial = std::find_if(denials.begin(), denials.end(), [pattern = hosts::split(domain)](const auto& wide) { return hosts::covers(wide, pattern); });
            if (denial != denials.end())
                note(text::concat({"allowed domain ", text::quoted(domain), " lies inside the denied domain ", text::quoted(denied[static_cast<std::size_t>(denial - denials.begin())]), ": the denial wins"}));
            if (is_in_no_proxy(domain) && !sets_no_proxy())
                note(text::concat({"domain ", text::quoted(domain), " is within srt's NO_PROXY: clients that heed it do not ask the proxy, and reach the sandbox itself; set NO_PROXY and no_proxy to \"\""}));
        }
    }

    /// What srt sets: localhost, loopback, link-local and private ranges.
    [[nodiscard]] static bool is_in_no_proxy(std::string_view domain) {
        struct Range {
            std::string_view network;
            unsigned bits;
        };
        constexpr std::array<Range, 5> ranges{{{"127.0.0.1", 32}, {"169.254.0.0", 16}, {"10.0.0.0", 8}, {"172.16.0.0", 12}, {"192.168.0.0", 16}}};
        const auto host = hosts::split(domain).host;
        const auto address = hosts::address_of(host);
        if (!address.valid) return host == "localhost";
        return address == hosts::address_of("[::1]") || std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
            return address.high == 0 && (address.low ^ hosts::address_of(range.network).low) >> (32 - range.bits) == 0;
        });
    }
    [[nodiscard]] bool sets_no_proxy() const {
        const auto names = [](const EnvironmentEntry& entry) { return entry.first == "no_proxy" || entry.first == "NO_PROXY"; };
        return std::any_of(boundary_.env_values.begin(), boundary_.env_values.end(), names) || std::any_of(boundary_.env_runtime_values.begin(), boundary_.env_runtime_values.end(), names);
    }

    void settle_environment() {
        remove_duplicates(boundary_.env_passed, "environment name");
        remove_duplicates(boundary_.env_credentials, "credential");
    }

    void note_repository_elsewhere() {
        const auto repository = repository_elsewhere(boundary_.root);
        if (!repository || paths::is_within_any(*repository, writable_paths(boundary_))) return;
        note(text::concat({"git will not work: the workspace's .git file leads to the repository ", text::quoted(*repository),
                           ", which no command may write; if that is your repository, grant it for writing"}));
    }

    void note_weakenings() {
        if (const auto home = paths::real(host_home()); home && paths::is_within_any(*home, writable_paths(boundary_)))
            note(text::concat({"the home directory ", text::quoted(*home), " is writable: commands can change what the host's programs run and trust there (.ssh, .config, .local …); a directory of its own for the work is safer"}));
        if (boundary_.all_reads) note("weakening AllReads: commands read everything that the host user can read, except what is denied");
        if (boundary_.all_unix_sockets)
            note(on_linux ? "weakening AllUnixSockets: commands reach every Unix socket they can see, and srt's seccomp filter is off"
                          : "weakening AllUnixSockets: commands reach every Unix socket they can see");
        if (on_linux && !shares_tmp(boundary_) && !paths::is_within_any(defaults::srt_tmp, boundary_.write_grants))
            note(text::concat({"where the host has ", text::quoted(defaults::srt_tmp), ", it can be read: srt shows it to every sandbox; writing there is refused"}));
        if (on_linux && boundary_.local_binding)
            note("LocalBinding changes nothing on Linux: every sandbox has a loopback network of its own, where binding always works");
        if (on_linux && !boundary_.local_binding)
            note("binding local ports cannot be refused on Linux; they exist only inside the sandbox's own loopback network");
        if (boundary_.limits.processes && ::geteuid() == 0)
            note("ProcessLimit has no effect for root: the kernel does not count root's processes");
        for (const auto& name : boundary_.env_credentials)
            note(text::concat({"credential ", name, " is passed through: commands and all they start can read it"}));
    }

    [[nodiscard]] bool is_denied(const std::string& path) const {
        return paths::is_within_any(path, boundary_.read_denials) || paths::is_within_any(path, boundary_.write_denials);
    }

    void add_once(std::vector<std::string>& list, const std::string& path, const std::string& what) {
        if (contains(list, path)) {
            note(text::concat({what, " is dropped: it is named twice"}));
        } else {
            list.push_back(path);
        }
    }

    /// Of what one of the others covers there is a note instead; covers(i, j): that the i-th covers the j-th.
    template <class Covers>
    std::vector<std::string> without_covered(const std::vector<std::string>& list, std::string_view what, Covers covers) {
        std::vector<std::string> kept;
        for (std::size_t i = 0; i < list.size(); ++i) {
            std::size_t wider = 0;
            // Of two that mean the same, as two spellings of an address do, the first stays.
            while (wider < list.size() && (wider == i || !covers(wider, i) || (wider > i && covers(i, wider)))) ++wider;
            if (wider == list.size()) {
                kept.push_back(list[i]);
            } else {
                note(text::concat({what, " ", text::quoted(list[i]), " is dropped: it lies inside ", text::quoted(list[wider])}));
            }
        }
        return kept;
    }
    std::vector<std::string> without_nested(const std::vector<std::string>& list, std::string_view what) {
        auto kept = without_covered(list, what, [&](std::size_t i, std::size_t j) { return paths::is_beneath(list[j], list[i]); });
        paths::sort_once(kept);
        return kept;
    }
    std::vector<std::string> without_covered_domains(std::vector<std::string> list, std::string_view what) {
        remove_duplicates(list, what);
        const auto patterns = hosts::patterns(list);
        return without_covered(list, what, [&](std::size_t i, std::size_t j) { return hosts::covers(patterns[i], patterns[j]); });
    }

    void remove_duplicates(std::vector<std::string>& list, std::string_view what) {
        std::vector<std::string> kept;
        for (const auto& value : list) add_once(kept, value, text::concat({what, " ", text::quoted(value)}));
        list = std::move(kept);
    }

    [[nodiscard]] static bool contains(const std::vector<std::string>& list, const std::string& value) {
        return std::find(list.begin(), list.end(), value) != list.end();
    }
    [[nodiscard]] static std::string not_utf8(std::string_view what, std::string_view path) {
        return text::concat({"bailey: ", what, " ", text::quoted(path), " is not valid UTF-8, which srt's settings cannot hold; rename it"});
    }
    bool refuse(std::string refusal) {
        boundary_.refusals.push_back(std::move(refusal));
        return false;
    }
    std::nullopt_t refuse_path(std::string refusal) {
        refuse(std::move(refusal));
        return std::nullopt;
    }
    void note(std::string note) { boundary_.notes.push_back(std::move(note)); }

    Boundary boundary_;
    std::string spelled_root_;
};

}  // namespace detail

/// The boundary of a workspace in that root, or a PolicyError with every reason why there is none.
[[nodiscard]] inline Result<Boundary> resolve(Boundary declared, std::string_view root) {
    return detail::Resolver{std::move(declared), root}.resolve();
}

}  // namespace bailey
