// Questions about absolute paths as text, and the one about the file system: what does this path really name?
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <limits.h>
#include <sys/stat.h>

namespace bailey::paths {

/// path is directory, or beneath it. Both absolute and without trailing slash.
[[nodiscard]] constexpr bool is_within(std::string_view path, std::string_view directory) {
    if (directory == "/") return true;
    return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

[[nodiscard]] constexpr bool is_beneath(std::string_view path, std::string_view directory) {
    return path != directory && is_within(path, directory);
}

template <class Directories>
[[nodiscard]] constexpr bool is_within_any(std::string_view path, const Directories& directories) {
    return std::any_of(directories.begin(), directories.end(), [&](const auto& directory) { return is_within(path, directory); });
}

[[nodiscard]] constexpr std::string_view parent(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == 0 || slash == std::string_view::npos ? std::string_view{"/"} : path.substr(0, slash);
}

[[nodiscard]] inline std::string join(std::string_view directory, std::string_view name) {
    std::string path{directory};
    if (!path.ends_with('/')) path += '/';
    path += name;
    return path;
}

inline void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
    for (const auto& path : more) list.push_back(path);
}

/// A directory before what is beneath it, and nothing twice.
inline void sort_once(std::vector<std::string>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Something is there, a dangling symlink included.
[[nodiscard]] inline bool exists(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

[[nodiscard]] inline std::optional<std::string> real(const std::string& path) {
    char* const resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return std::nullopt;
    std::string result{resolved};
    std::free(resolved);
    return result;
}

/// The real path of what exists, followed by what does not; nothing where the missing part climbs with "..".
[[nodiscard]] inline std::optional<std::string> real_as_far_as_it_exists(std::string path) {
    std::vector<std::string> missing;
    for (;;) {
        if (auto found = real(path)) {
            for (auto left = missing.size(); left > 0; --left) *found = join(*found, missing[left - 1]);
            return found;
        }
        if (errno != ENOENT && errno != ENOTDIR) return std::nullopt;
        while (path.size() > 1 && path.ends_with('/')) path.pop_back();
        const std::string name = path.substr(path.rfind('/') + 1);
        if (name == ".." || path == "/") return std::nullopt;
        if (name != "." && !name.empty()) {
            if (exists(path)) return std::nullopt;  // a symlink to nothing names nothing yet
            missing.push_back(name);
        }
        path.resize(std::max<std::size_t>(path.rfind('/'), 1));
    }
}

[[nodiscard]] inline bool is_directory(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// Where a placeholder for an absolute path would stand: its first component that does not exist, or is no directory.
[[nodiscard]] inline std::string place_of(const std::string& path) {
    for (auto slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        auto component = path.substr(0, slash);
        if (!is_directory(component)) return component;
    }
    return path;
}

}  // namespace bailey::paths
