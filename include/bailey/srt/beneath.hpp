// Looking into a tree that others may be changing: by descriptor, one name at a time, never through a link.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include <bailey/base/platform.hpp>
#include <bailey/process/fd.hpp>

namespace bailey::srt {

namespace detail {
#if defined(__linux__)
inline constexpr int search_only = O_PATH;  // needs no read permission, as git needs none to open .git/config
[[nodiscard]] inline timespec changed_at(const struct stat& status) { return status.st_ctim; }
#else
inline constexpr int search_only = O_SEARCH;
[[nodiscard]] inline timespec changed_at(const struct stat& status) { return status.st_ctimespec; }
#endif
inline constexpr int no_follow = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;  // nor wait for a FIFO
}  // namespace detail

enum class FileType { none, regular, directory, symlink, other };

/// Tells one file from another, and a file from itself before a change: no command can set ctime back.
struct FileIdentity {
    FileType type = FileType::none;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;  ///< this and the times stay 0 for a directory, whose entries may come and go
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;

    [[nodiscard]] explicit operator bool() const { return type != FileType::none; }
    bool operator==(const FileIdentity&) const = default;
};

[[nodiscard]] inline FileIdentity identity_of(const struct stat& status) {
    FileIdentity identity;
    identity.type = S_ISREG(status.st_mode)   ? FileType::regular
                    : S_ISDIR(status.st_mode) ? FileType::directory
                    : S_ISLNK(status.st_mode) ? FileType::symlink
                                              : FileType::other;
    identity.device = static_cast<std::uint64_t>(status.st_dev);
    identity.inode = static_cast<std::uint64_t>(status.st_ino);
    if (identity.type == FileType::directory) return identity;
    const timespec changed = detail::changed_at(status);
    identity.size = static_cast<std::int64_t>(status.st_size);
    identity.seconds = static_cast<std::int64_t>(changed.tv_sec);
    identity.nanoseconds = static_cast<std::int64_t>(changed.tv_nsec);
    return identity;
}

[[nodiscard]] inline FileIdentity identity_at(int directory, const std::string& name) {
    struct stat status {};
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
    return identity_of(status);
}

/// What a link or a path leads to. Only looked at, never opened.
[[nodiscard]] inline FileIdentity target_identity_at(int directory, const std::string& path) {
    struct stat status {};
    if (::fstatat(directory, path.c_str(), &status, 0) != 0) return {};
    return identity_of(status);
}

[[nodiscard]] inline process::Fd open_directory_at(int directory, const std::string& name, int how = detail::search_only) {
    return process::Fd{::openat(directory, name.c_str(), how | O_DIRECTORY | detail::no_follow)};
}

/// The bytes of a regular file of at most `limit`; nothing for whatever else bears the name.
[[nodiscard]] inline std::optional<std::string> read_file_at(int directory, const std::string& name, std::size_t limit) {
    const process::Fd file{::openat(directory, name.c_str(), O_RDONLY | detail::no_follow)};
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    if (static_cast<std::uint64_t>(status.st_size) > limit) return std::nullopt;
    std::string bytes;
    bytes.resize(static_cast<std::size_t>(status.st_size) + 1);  // one more, to see the end without another round
    std::size_t size = 0;
    while (true) {
        const auto count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return std::nullopt;
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
        if (size > limit) return std::nullopt;
        if (size == bytes.size()) bytes.resize(2 * size);
    }
    bytes.resize(size);
    return bytes;
}

/// Opens for listing if that is allowed, else for searching only.
[[nodiscard]] inline process::Fd open_listable_at(int directory, const std::string& name) {
    process::Fd fd = open_directory_at(directory, name, O_RDONLY);
    if (!fd && errno == EACCES) fd = open_directory_at(directory, name);
    return fd;
}

/// Calls `visit(name, d_type)` for every entry but "." and ".." until it returns false; the names end in NUL.
/// False: the directory cannot be listed.
template <class Visit>
[[nodiscard]] bool list_directory(int directory, Visit&& visit) {
    const auto wanted = [](std::string_view name) { return name != "." && name != ".."; };
#if defined(__linux__)
    // The call beneath readdir: on thousands of directories, half the time.
    struct Entry {
        std::uint64_t inode;
        std::int64_t offset;
        unsigned short size;
        unsigned char type;
        char name[1];
    };
    std::string buffer(16384, '\0');  // not on the stack: callers recurse
    process::Fd reopened;
    bool first = true;
    while (true) {
        const long size = ::syscall(SYS_getdents64, directory, buffer.data(), buffer.size());
        if (size < 0 && errno == EBADF && first && !reopened) {  // opened for searching only
            reopened = open_directory_at(directory, ".", O_RDONLY);
            if (!reopened) return false;
            directory = reopened.get();
            continue;
        }
        if (size < 0) return !first;  // removed meanwhile
        if (size == 0) return true;
        first = false;
        for (long at = 0; at < size;) {
            const auto* entry = reinterpret_cast<const Entry*>(buffer.data() + at);
            at += entry->size;
            const char* name = reinterpret_cast<const char*>(entry) + offsetof(Entry, name);
            if (wanted(name) && !visit(std::string_view{name}, entry->type)) return true;
        }
    }
#else
    process::Fd fd = open_directory_at(directory, ".", O_RDONLY);
    if (!fd) return false;
    DIR* stream = ::fdopendir(fd.get());
    if (stream == nullptr) return false;
    static_cast<void>(fd.release());
    while (const dirent* entry = ::readdir(stream)) {
        if (wanted(entry->d_name) && !visit(std::string_view{entry->d_name}, entry->d_type)) break;
    }
    ::closedir(stream);
    return true;
#endif
}

[[nodiscard]] inline std::string join(std::string_view directory, std::string_view name) {
    std::string path{directory};
    if (path.empty() || path.back() != '/') path += '/';
    return path += name;
}

/// The path is the directory or lies in it. Both absolute, without "." and "..".
[[nodiscard]] inline bool is_within(std::string_view path, std::string_view directory) {
    if (directory == "/") return true;
    return path.substr(0, directory.size()) == directory && (path.size() == directory.size() || path[directory.size()] == '/');
}

[[nodiscard]] inline std::string_view parent_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}
[[nodiscard]] inline std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The absolute path that `path` names when read in `base`. ".." only at the front, where `base` is known to have no
/// links: after another name it would lead wherever a link of that name leads.
[[nodiscard]] inline std::optional<std::string> resolve_in(std::string_view base, std::string_view path) {
    if (path.empty()) return std::nullopt;
    std::string result{path.front() == '/' ? std::string_view{"/"} : base};
    bool up_allowed = path.front() != '/';
    while (!path.empty()) {
        const auto slash = path.find('/');
        const auto part = path.substr(0, slash);
        path.remove_prefix(slash == path.npos ? path.size() : slash + 1);
        if (part.empty() || part == ".") continue;
        if (part == "..") {
            if (!up_allowed || result == "/") return std::nullopt;
            result = parent_of(result);
            continue;
        }
        up_allowed = false;
        result = join(result, part);
    }
    return result;
}

/// Opens a directory by its absolute path, each name below `start` without following links. `start` is an open directory.
[[nodiscard]] inline process::Fd open_beneath(int start, std::string_view relative) {
    process::Fd here = open_directory_at(start, ".");
    while (here && !relative.empty()) {
        const auto slash = relative.find('/');
        const std::string name{relative.substr(0, slash)};
        relative.remove_prefix(slash == relative.npos ? relative.size() : slash + 1);
        if (name.empty()) continue;
        here = open_directory_at(here.get(), name);
    }
    return here;
}

}  // namespace bailey::srt
