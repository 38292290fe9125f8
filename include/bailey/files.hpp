// The host's own access to files on the agent's behalf: beneath the workspace root, by descriptor, never through a link.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bailey/base/error.hpp>
#include <bailey/base/text.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/permits.hpp>
#include <bailey/boundary/places.hpp>
#include <bailey/boundary/verdict.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/srt/beneath.hpp>
#include <bailey/srt/private_directory.hpp>

namespace bailey::files {

/// The largest file that read_text returns, and the most bytes of names that list does.
inline constexpr std::size_t largest_read = 64 * 1024 * 1024;

namespace detail {

/// A path inside the workspace, by its names alone.
struct Place {
    std::string path;    ///< absolute
    std::string parent;  ///< relative to the root; empty: the root
    std::string name;    ///< empty: the root itself
    bool directory = false;  ///< spelled as one, with "/" or "/." at its end
    [[nodiscard]] std::string below() const { return parent.empty() ? name : paths::join(parent, name); }
};

[[nodiscard]] inline Result<Place> place(const Boundary& boundary, std::string_view path) {
    const auto refused = [&](std::string_view why) {
        return Error{ErrorCode::policy, text::concat({"bailey: the path ", text::quoted(path), " ", why, "; name a file inside the workspace ", text::quoted(boundary.root)})};
    };
    if (path.empty()) return refused("is empty");
    if (path.find('\0') != std::string_view::npos) return refused("contains a NUL byte");
    auto rest = path;
    if (path.starts_with('/')) {
        if (!paths::is_within(path, boundary.root)) return refused("is outside");
        rest.remove_prefix(boundary.root.size());
    }
    Place place{boundary.root, {}, {}, rest.empty() || rest.ends_with('/') || rest == "." || rest.ends_with("/.")};
    while (!rest.empty()) {
        const auto name = rest.substr(0, rest.find('/'));
        rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        if (name == "..") return refused("climbs with \"..\"");
        if (name.empty() || name == ".") continue;
        place.parent = place.below();
        place.name = name;
        place.path = paths::join(place.path, name);
    }
    return place;
}

/// The same for a file with content.
[[nodiscard]] inline Result<Place> place_of_file(const Boundary& boundary, std::string_view path) {
    auto found = place(boundary, path);
    if (found && found->directory) return Error{ErrorCode::policy, text::concat({"bailey: the path ", text::quoted(path), " names a directory; name a file in it"})};
    return found;
}

/// The same for what is to be removed, which the root is not.
[[nodiscard]] inline Result<Place> place_below_root(const Boundary& boundary, std::string_view path) {
    auto found = place(boundary, path);
    if (found && found->name.empty())
        return Error{ErrorCode::policy, text::concat({"bailey: the path ", text::quoted(path), " is the root itself; name a file inside the workspace ", text::quoted(boundary.root)})};
    return found;
}

[[nodiscard]] inline Result<void> checked(const verdict::Verdict& verdict, std::string_view doing, std::string_view path) {
    if (verdict.allowed) return {};
    return Error{ErrorCode::policy, text::concat({"bailey: ", doing, " ", text::quoted(path), " is denied: ", bailey::detail::in_words(verdict.rule, verdict.subject)})};
}
// What decides inside the workspace needs no other places.
[[nodiscard]] inline Result<void> check_read(const Boundary& boundary, const Place& place, std::string_view doing) {
    return checked(verdict::read(boundary, Places{}, place.path), doing, place.path);
}
[[nodiscard]] inline Result<void> check_write(const Boundary& boundary, const Place& place, std::string_view doing) {
    return checked(verdict::write(boundary, Places{}, place.path), doing, place.path);
}

[[nodiscard]] inline Error cannot(std::string_view verb, std::string_view path, int error) {
    std::string reason;
    switch (error) {
        case ELOOP: reason = "it is a symlink, or leads through one"; break;
        case ENOTDIR: reason = "it, or what it leads through, is no directory"; break;
        case EINVAL: reason = "it is not a regular file"; break;
        case EFBIG: reason = text::concat({"it has more than the ", std::to_string(largest_read), " bytes that are read at once"}); break;
        case ENXIO: reason = "it is a FIFO, a socket or a device"; break;
        default: reason = std::strerror(error);
    }
    const bool refused = error == ELOOP || error == ENOTDIR || error == EINVAL || error == EFBIG || error == ENXIO;
    return {refused ? ErrorCode::policy : ErrorCode::process, text::concat({"bailey: cannot ", verb, " ", text::quoted(path), ": ", reason}), error};
}

}  // namespace detail

/// The path without what does not matter; for comparing only.
[[nodiscard]] inline std::string absolute(const Boundary& boundary, std::string_view path) {
    const auto place = detail::place(boundary, path);
    return place ? place->path : boundary.root;
}

[[nodiscard]] inline Result<std::string> read_text(const process::Fd& root, const Boundary& boundary, std::string_view path) {
    const auto place = detail::place_of_file(boundary, path);
    if (!place) return place.error();
    if (auto allowed = detail::check_read(boundary, *place, "reading"); !allowed) return allowed.error();
    const auto file = srt::open_beneath(root.get(), place->below(), O_RDONLY);
    if (!file) return detail::cannot("read", path, errno);
    auto content = srt::read_file(file, largest_read);
    if (!content) return detail::cannot("read", path, errno);
    return std::move(*content);
}

/// Replaces the file as a whole, or creates it; the directory must exist. A reader sees the old content or the new, never half.
[[nodiscard]] inline Result<void> write_text(const process::Fd& root, const Boundary& boundary, std::string_view path, std::string_view content) {
    const auto place = detail::place_of_file(boundary, path);
    if (!place) return place.error();
    if (auto allowed = detail::check_write(boundary, *place, "writing"); !allowed) return allowed.error();
    const auto directory = srt::open_beneath(root.get(), place->parent);
    if (!directory) return detail::cannot("write", path, errno);
    struct stat status {};
    const bool exists = ::fstatat(directory.get(), place->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && !S_ISREG(status.st_mode)) return detail::cannot("write", path, S_ISLNK(status.st_mode) ? ELOOP : EINVAL);
    const std::string draft = ".bailey-" + srt::random_hex(8);
    process::Fd file{::openat(directory.get(), draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | srt::detail::no_follow, exists ? 0600 : 0666)};
    if (!file) return detail::cannot("write", path, errno);
    auto written = process::write_all(file, content);
    if (written && exists && ::fchmod(file.get(), status.st_mode & 0777) != 0) written = process::system_error("fchmod");
    if (written && ::renameat(directory.get(), draft.c_str(), directory.get(), place->name.c_str()) != 0) written = detail::cannot("write", path, errno);
    if (!written) ::unlinkat(directory.get(), draft.c_str(), 0);
    return written;
}

/// The names in a directory, sorted; those of directories end in "/".
[[nodiscard]] inline Result<std::vector<std::string>> list(const process::Fd& root, const Boundary& boundary, std::string_view path) {
    const auto place = detail::place(boundary, path);
    if (!place) return place.error();
    if (auto allowed = detail::check_read(boundary, *place, "listing"); !allowed) return allowed.error();
    const auto directory = srt::open_beneath(root.get(), place->below(), O_RDONLY | O_DIRECTORY);
    if (!directory) return detail::cannot("list", path, errno);
    std::vector<std::string> names;
    std::size_t size = 0;
    const bool listed = srt::list_directory(directory.get(), [&](std::string_view name, unsigned char) {
        size += name.size() + 1;
        names.emplace_back(name);
        return size <= largest_read;
    });
    if (!listed) return detail::cannot("list", path, errno);
    if (size > largest_read) return detail::cannot("list", path, EFBIG);
    for (auto& name : names)
        if (srt::identity_at(directory.get(), name).type == srt::FileType::directory) name += '/';
    std::sort(names.begin(), names.end());
    return names;
}

/// Something bears the name: a file, a directory, a symlink, whatever it leads to; with "/" at the end of the path, a directory.
[[nodiscard]] inline Result<bool> exists(const process::Fd& root, const Boundary& boundary, std::string_view path) {
    const auto place = detail::place(boundary, path);
    if (!place) return place.error();
    if (auto allowed = detail::check_read(boundary, *place, "looking for"); !allowed) return allowed.error();
    if (place->name.empty()) return true;
    const auto directory = srt::open_beneath(root.get(), place->parent);
    struct stat status {};
    if (directory && ::fstatat(directory.get(), place->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return !place->directory || S_ISDIR(status.st_mode);
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return detail::cannot("look for", path, errno);
}

/// Removes a file, a symlink (not what it leads to) or an empty directory.
[[nodiscard]] inline Result<void> remove(const process::Fd& root, const Boundary& boundary, std::string_view path) {
    const auto place = detail::place_below_root(boundary, path);
    if (!place) return place.error();
    if (auto allowed = detail::check_write(boundary, *place, "removing"); !allowed) return allowed.error();
    // A denial keeps the directories above it where they are, also when what it names does not exist yet.
    for (const auto& denial : boundary.read_denials)
        if (paths::is_beneath(denial, place->path)) return detail::checked({false, verdict::Rule::read_denial, denial}, "removing", place->path);
    for (const auto& denial : boundary.write_denials)
        if (paths::is_beneath(denial, place->path)) return detail::checked({false, verdict::Rule::write_denial, denial}, "removing", place->path);
    const auto directory = srt::open_beneath(root.get(), place->parent);
    if (!directory) return detail::cannot("remove", path, errno);
    const auto type = srt::identity_at(directory.get(), place->name).type;
    const bool is_directory = type == srt::FileType::directory;
    if (place->directory && !is_directory && type != srt::FileType::none) return detail::cannot("remove", path, ENOTDIR);
    if (::unlinkat(directory.get(), place->name.c_str(), is_directory ? AT_REMOVEDIR : 0) != 0) return detail::cannot("remove", path, errno);
    return {};
}

}  // namespace bailey::files
