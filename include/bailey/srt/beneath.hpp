// Looking into a tree that others may be changing: by descriptor, one name at a time, never through a link.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

/// The bytes of an open file, or nothing and an errno: EINVAL when it is no regular file, EFBIG when it has more than `limit`.
[[nodiscard]] inline std::optional<std::string> read_file(const process::Fd& file, std::size_t limit) {
    const auto refused = [](int why) {
        errno = why;
        return std::nullopt;
    };
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return std::nullopt;
    if (!S_ISREG(status.st_mode)) return refused(EINVAL);
    if (static_cast<std::uint64_t>(status.st_size) > limit) return refused(EFBIG);
    std::string bytes;
    bytes.resize(static_cast<std::size_t>(status.st_size) + 1);  // one more, to see the end without another round
    std::size_t size = 0;
    while (true) {
        const auto count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return std::nullopt;
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
        if (size > limit) return refused(EFBIG);  // it grew meanwhile
        if (size == bytes.size()) bytes.resize(2 * size);
    }
    bytes.resize(size);
    return bytes;
}

/// The bytes of a regular file of at most `limit`; nothing for whatever else bears the name.
[[nodiscard]] inline std::optional<std::string> read_file_at(int directory, const std::string& name, std::size_t limit) {
    const process::Fd file{::openat(directory, name.c_str(), O_RDONLY | detail::no_follow)};
    if (!file) return std::nullopt;
    return read_file(file, limit);
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
            if (!reopened) return errno == ENOENT;
            directory = reopened.get();
            continue;
        }
        if (size < 0) return !first || errno == ENOENT;  // removed meanwhile: nothing is left to list
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

namespace detail {

#if defined(__linux__)
/// One call of the kernel's for the whole path, where it has one (Linux 5.6) and a container's filter lets it through.
[[nodiscard]] inline process::Fd open_in_one_call(int start, const std::string& relative, int how) {
    constexpr long openat2 = 437;  // on every architecture that bailey knows; older headers have no name for it,
    constexpr std::uint64_t no_symlinks = 0x04, beneath = 0x08;  // nor for these
    const int flags = how | O_CLOEXEC | ((how & search_only) != 0 ? 0 : O_NONBLOCK | O_NOCTTY);  // here O_PATH goes with few others
    struct {
        std::uint64_t flags, mode, resolve;
    } const request{static_cast<std::uint64_t>(flags), 0, no_symlinks | beneath};
    return process::Fd{static_cast<int>(::syscall(openat2, start, relative.c_str(), &request, sizeof request))};
}
#endif

/// The same with one call a name.
[[nodiscard]] inline process::Fd open_by_walking(int start, std::string_view relative, int how) {
    process::Fd here;
    while (true) {
        const auto slash = relative.find('/');
        const std::string name{relative.substr(0, slash)};
        relative.remove_prefix(slash == relative.npos ? relative.size() : slash + 1);
        const int at = here ? here.get() : start;
        process::Fd next{::openat(at, name.c_str(), (relative.empty() ? how : search_only | O_DIRECTORY) | no_follow)};
        if (!next && errno == ENOTDIR) errno = identity_at(at, name).type == FileType::symlink ? ELOOP : ENOTDIR;
        if (!next || relative.empty()) return next;
        here = std::move(next);
    }
}

}  // namespace detail

/// Opens what the path names below `start`, an open directory; the empty path names `start` itself. No name may be a link
/// (ELOOP), and none leads up (EXDEV).
[[nodiscard]] inline process::Fd open_beneath(int start, std::string_view path, int how = detail::search_only | O_DIRECTORY) {
    std::string relative;
    while (!path.empty()) {
        const auto slash = path.find('/');
        const auto name = path.substr(0, slash);
        path.remove_prefix(slash == path.npos ? path.size() : slash + 1);
        if (name.empty() || name == ".") continue;
        if (name == "..") {
            errno = EXDEV;
            return {};
        }
        if (!relative.empty()) relative += '/';
        relative += name;
    }
    if (relative.empty()) relative = ".";
#if defined(__linux__)
    process::Fd opened = detail::open_in_one_call(start, relative, how);
    // Every other answer is one about the call, not about the path; a path too long for one call can be walked.
    if (opened || errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EACCES) return opened;
#endif
    return detail::open_by_walking(start, relative, how);
}

}  // namespace bailey::srt
