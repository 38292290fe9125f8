// The host's own reading and writing on the agent's behalf: beneath the workspace root, by descriptor, never through a link.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bailey/base/error.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/srt/beneath.hpp>
#include <bailey/srt/private_directory.hpp>

namespace bailey::files {

/// The largest file that read_text returns.
inline constexpr std::size_t largest_read = 64 * 1024 * 1024;

namespace detail {

/// The path's components; refused where one could leave the root.
[[nodiscard]] inline Result<std::vector<std::string>> components(const Boundary& boundary, std::string_view path) {
    const auto refused = [&](std::string_view why) {
        return Error{ErrorCode::policy, text::concat({"bailey: the path ", paths::quoted(path), " ", why, "; name a file inside the workspace ", paths::quoted(boundary.root)})};
    };
    if (path.empty()) return refused("is empty");
    if (path.find('\0') != std::string_view::npos) return refused("contains a NUL byte");
    if (path.starts_with('/')) {
        if (!paths::is_beneath(path, boundary.root)) return refused("is outside");
        path.remove_prefix(boundary.root.size() + 1);
    }
    std::vector<std::string> names;
    while (!path.empty()) {
        const auto name = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(name.size() + 1, path.size()));
        if (name == "..") return refused("climbs with \"..\"");
        if (!name.empty() && name != ".") names.emplace_back(name);
    }
    if (names.empty()) return refused("is the root itself");
    return names;
}

[[nodiscard]] inline Result<void> check_denials(const Boundary& boundary, const std::vector<std::string>& names,
                                                const std::vector<std::string>& denials, std::string_view verb) {
    std::string path = boundary.root;
    for (const auto& name : names) path = paths::join(path, name);
    for (const auto& denial : denials) {
        if (paths::is_within(path, denial))
            return Error{ErrorCode::policy, text::concat({"bailey: ", verb, " ", paths::quoted(path), " is denied by the rule ", paths::quoted(denial)})};
    }
    return {};
}

/// The directory that holds the last component. No link is followed anywhere, so a denied path cannot be reached by another name.
[[nodiscard]] inline process::Fd open_parent(const process::Fd& root, const std::vector<std::string>& names) {
    process::Fd directory{::openat(root.get(), ".", srt::detail::search_only | O_DIRECTORY | O_CLOEXEC)};
    for (auto name = names.begin(); directory && name + 1 != names.end(); ++name)
        directory = srt::open_directory_at(directory.get(), *name);
    return directory;
}

[[nodiscard]] inline Error cannot(std::string_view verb, std::string_view path) {
    const char* reason = errno == ELOOP ? "it is a symlink, or leads through one" : errno == ENOTDIR ? "it leads through a symlink or a file" : std::strerror(errno);
    return {errno == ELOOP || errno == ENOTDIR ? ErrorCode::policy : ErrorCode::process,
            text::concat({"bailey: cannot ", verb, " ", paths::quoted(path), ": ", reason}), errno};
}

}  // namespace detail

/// The path without what does not matter; for comparing only.
[[nodiscard]] inline std::string absolute(const Boundary& boundary, std::string_view path) {
    std::string absolute = boundary.root;
    if (const auto names = detail::components(boundary, path)) {
        for (const auto& name : *names) absolute = paths::join(absolute, name);
    }
    return absolute;
}

[[nodiscard]] inline Result<std::string> read_text(const process::Fd& root, const Boundary& boundary, std::string_view path) {
    const auto names = detail::components(boundary, path);
    if (!names) return names.error();
    if (auto allowed = detail::check_denials(boundary, *names, boundary.read_denials, "reading"); !allowed) return allowed.error();
    const auto directory = detail::open_parent(root, *names);
    if (!directory) return detail::cannot("read", path);
    const process::Fd file{::openat(directory.get(), names->back().c_str(), O_RDONLY | srt::detail::no_follow)};
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return detail::cannot("read", path);
    if (!S_ISREG(status.st_mode)) return Error{ErrorCode::policy, text::concat({"bailey: cannot read ", paths::quoted(path), ": it is not a regular file"})};
    if (static_cast<std::uint64_t>(status.st_size) > largest_read)
        return Error{ErrorCode::policy, text::concat({"bailey: cannot read ", paths::quoted(path), ": it has ", std::to_string(status.st_size), " bytes, more than the ", std::to_string(largest_read), " that read_text returns"})};
    auto content = srt::read_file_at(directory.get(), names->back(), largest_read);
    if (!content) return detail::cannot("read", path);
    return std::move(*content);
}

/// Replaces the file as a whole, or creates it; the directory must exist. A reader sees the old content or the new, never half.
[[nodiscard]] inline Result<void> write_text(const process::Fd& root, const Boundary& boundary, std::string_view path, std::string_view content) {
    const auto names = detail::components(boundary, path);
    if (!names) return names.error();
    if (boundary.read_only)
        return Error{ErrorCode::policy, text::concat({"bailey: writing ", paths::quoted(path), " is denied by the rule ReadOnly"})};
    for (const auto* denials : {&boundary.write_denials, &boundary.read_denials}) {
        if (auto allowed = detail::check_denials(boundary, *names, *denials, "writing"); !allowed) return allowed.error();
    }
    const auto directory = detail::open_parent(root, *names);
    if (!directory) return detail::cannot("write", path);
    const auto& name = names->back();
    struct stat status {};
    const bool exists = ::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && !S_ISREG(status.st_mode))
        return Error{ErrorCode::policy, text::concat({"bailey: cannot write ", paths::quoted(path), ": it is ", S_ISLNK(status.st_mode) ? "a symlink" : "not a regular file"})};
    const std::string draft = ".bailey-" + srt::random_hex(8);
    process::Fd file{::openat(directory.get(), draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | srt::detail::no_follow, exists ? 0600 : 0666)};
    if (!file) return detail::cannot("write", path);
    auto written = process::write_all(file, content);
    if (written && exists && ::fchmod(file.get(), status.st_mode & 0777) != 0) written = process::system_error("fchmod");
    if (written && ::renameat(directory.get(), draft.c_str(), directory.get(), name.c_str()) != 0) written = detail::cannot("write", path);
    if (!written) ::unlinkat(directory.get(), draft.c_str(), 0);
    return written;
}

}  // namespace bailey::files
