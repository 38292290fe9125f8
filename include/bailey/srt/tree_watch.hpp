// Tells by inotify that nothing has happened in a tree, so that nobody has to look again. Linux only.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/inotify.h>
#include <sys/vfs.h>
#endif

#include <bailey/base/text.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/srt/beneath.hpp>

namespace bailey::srt {

/// Counts what happens to names, modes and contents. The kernel queues an event within the system call that causes it: when a command
/// has ended, what it did has been counted. A new directory is not watched: then the count is no longer known, until a new watch.
class TreeWatch {
public:
    /// `directory` is absolute and free of links. Null: not everything in it can be seen (a network's file system, too many directories,
    /// one of ours that cannot be listed).
    [[nodiscard]] static std::unique_ptr<TreeWatch> open([[maybe_unused]] const std::string& directory) {
#if defined(__linux__)
        std::unique_ptr<TreeWatch> watch{new TreeWatch};
        watch->queue_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
        const process::Fd top{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | detail::no_follow)};
        if (watch->queue_ && top && watch->add(top, 0)) return watch;
#endif
        return nullptr;
    }

    /// How much has happened so far, as far as it is known.
    [[nodiscard]] std::optional<std::uint64_t> count() {
#if defined(__linux__)
        alignas(inotify_event) char bytes[16 * 1024];
        for (ssize_t size; !blind_ && (size = ::read(queue_.get(), bytes, sizeof bytes)) > 0;) {
            for (ssize_t at = 0; at < size;) {
                inotify_event event;
                std::memcpy(&event, bytes + at, sizeof event);
                at += static_cast<ssize_t>(sizeof event + event.len);
                ++count_;
                const bool new_directory = (event.mask & IN_ISDIR) != 0 && (event.mask & (IN_CREATE | IN_MOVED_TO)) != 0;
                if (new_directory || (event.mask & (IN_Q_OVERFLOW | IN_UNMOUNT | IN_MOVE_SELF)) != 0) blind_ = true;
            }
        }
#endif
        if (blind_) return std::nullopt;
        return count_;
    }

private:
    static constexpr std::size_t most_directories = 30'000;

    TreeWatch() = default;

#if defined(__linux__)
    bool add(const process::Fd& directory, int depth) {
        struct stat status {};
        if (depth > 100 || ++directories_ > most_directories || ::fstat(directory.get(), &status) != 0) return false;
        if (status.st_dev != device_) {
            struct statfs file_system {};
            if (::fstatfs(directory.get(), &file_system) != 0 || !tells_of_everything(static_cast<std::uint64_t>(file_system.f_type))) return false;
            device_ = status.st_dev;
        }
        // Watched before it is listed: a directory that is made in between is an event. By descriptor: its name may be swapped.
        if (::inotify_add_watch(queue_.get(), text::concat({"/proc/self/fd/", std::to_string(directory.get())}).c_str(),
                                IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR) < 0)
            return false;
        bool all = true;
        const bool listed = list_directory(directory.get(), [&](std::string_view name, unsigned char type) {
            if (type != DT_DIR && type != DT_UNKNOWN) return true;
            const std::string entry{name};
            const process::Fd below{::openat(directory.get(), entry.c_str(), O_RDONLY | O_DIRECTORY | detail::no_follow)};
            if (below) {
                all = add(below, depth + 1);
            } else if (errno != ENOTDIR && errno != ELOOP && errno != ENOENT) {
                // What others keep to themselves no command of ours can change either.
                struct stat closed {};
                all = errno == EACCES && ::fstatat(directory.get(), entry.c_str(), &closed, AT_SYMLINK_NOFOLLOW) == 0 && closed.st_uid != ::geteuid() && (closed.st_mode & S_IWOTH) == 0;
            }
            return all;
        });
        return listed && all;
    }

    /// Others change without this kernel's doing.
    [[nodiscard]] static bool tells_of_everything(std::uint64_t file_system) {
        for (const std::uint64_t known : {0xEF53ULL /* ext */, 0x58465342ULL /* xfs */, 0x9123683EULL /* btrfs */, 0x01021994ULL /* tmpfs */, 0xF2F52010ULL /* f2fs */})
            if ((file_system & 0xFFFFFFFFULL) == known) return true;
        return false;
    }
#endif

    process::Fd queue_;
    dev_t device_{};
    std::size_t directories_ = 0;
    std::uint64_t count_ = 0;
    bool blind_ = false;
};

}  // namespace bailey::srt
