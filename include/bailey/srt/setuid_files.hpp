// A command that runs as root, or as you, may leave files behind that make others run as root, or as you. Not for long.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bailey/base/text.hpp>
#include <bailey/base/violation.hpp>
#include <bailey/srt/beneath.hpp>

namespace bailey::srt {

namespace detail {

class SetuidSweep {
public:
    explicit SetuidSweep(timespec since) : since_{since}, us_{::geteuid()} {
        since_.tv_nsec -= 20'000'000;  // the kernel stamps files with a clock that ticks, so it may lag behind ours
        if (since_.tv_nsec < 0) {
            since_.tv_nsec += 1'000'000'000;
            --since_.tv_sec;
        }
    }

    void sweep(const std::string& directory) {
        const process::Fd fd{::open(directory.c_str(), search_only | O_DIRECTORY | no_follow)};
        struct stat status {};
        if (!fd || ::fstat(fd.get(), &status) != 0) return;
        file_system_ = status.st_dev;
        std::vector<std::string> deeper{""};
        while (!deeper.empty() && names_ < most_names) {
            const std::string below = std::move(deeper.back());
            deeper.pop_back();
            if (const process::Fd start = open_beneath(fd.get(), below)) visit(start.get(), directory, below, 0, deeper);
        }
        if (names_ < most_names) return;
        report(directory, "more files than are looked at", "files that run as another user may be among the rest: find them with find -perm /6000", false);
    }

    [[nodiscard]] std::vector<Violation> take() { return std::move(violations_); }

private:
    static constexpr std::size_t most_names = 5'000'000;

    void report(std::string path, std::string rule, std::string remedy, bool certain) {
        violations_.push_back({ViolationKind::setuid_file, std::move(path), std::move(rule), std::move(remedy), certain});
    }
    [[nodiscard]] bool is_new(const struct stat& status) const {
        const timespec changed = changed_at(status);
        if (status.st_uid != us_ && us_ != 0) return false;
        return changed.tv_sec != since_.tv_sec ? changed.tv_sec > since_.tv_sec : changed.tv_nsec >= since_.tv_nsec;
    }
    [[nodiscard]] static bool is_setuid(const struct stat& status) {
        return S_ISREG(status.st_mode) && (status.st_mode & (S_ISUID | S_ISGID)) != 0;
    }

    // `below` is relative to the swept directory. Beyond 50 levels a directory is opened anew from the top: each level holds a descriptor.
    void visit(int directory, const std::string& top, const std::string& below, int depth, std::vector<std::string>& deeper) {
        std::vector<std::string> directories;
        const bool listed = list_directory(directory, [&](std::string_view name, unsigned char type) {
            if (type == DT_DIR) {
                directories.emplace_back(name);
            } else if (type == DT_REG || type == DT_UNKNOWN) {
                struct stat status {};
                const bool known = ::fstatat(directory, name.data(), &status, AT_SYMLINK_NOFOLLOW) == 0;  // ends in NUL: it is d_name
                if (known && S_ISDIR(status.st_mode)) directories.emplace_back(name);
                if (known && is_setuid(status) && is_new(status)) strip(directory, std::string{name}, join(join(top, below), name));
            }
            return ++names_ < most_names;
        });
        if (!listed) {
            struct stat status {};
            if (::fstat(directory, &status) == 0 && is_new(status)) {
                report(join(top, below), "a directory that cannot be listed", "files that run as another user may be in it: make it readable and look", false);
            }
            return;
        }
        for (const std::string& name : directories) {
            if (names_ >= most_names) return;
            const std::string path = below.empty() ? name : join(below, name);
            if (depth == 50) {
                deeper.push_back(path);
                continue;
            }
            const process::Fd child = open_listable_at(directory, name);
            if (!child && (errno == EMFILE || errno == ENFILE)) names_ = most_names;  // said to be incomplete, not passed over
            struct stat status {};
            if (!child || ::fstat(child.get(), &status) != 0 || status.st_dev != file_system_) continue;
            visit(child.get(), top, path, depth + 1, deeper);
        }
    }

    // The file that was looked at is the file that is changed, whatever its name has come to mean.
    void strip(int directory, const std::string& name, const std::string& path) {
        struct stat status {};
#if defined(__linux__)
        const process::Fd file{::openat(directory, name.c_str(), search_only | no_follow)};
        if (!file || ::fstat(file.get(), &status) != 0 || !is_setuid(status)) return;
        const bool done = ::chmod(text::concat({"/proc/self/fd/", std::to_string(file.get())}).c_str(), status.st_mode & 01777) == 0;
#else
        if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !is_setuid(status)) return;
        const bool done = ::fchmodat(directory, name.c_str(), status.st_mode & 01777, AT_SYMLINK_NOFOLLOW) == 0;
#endif
        const std::string which = (status.st_mode & S_ISUID) != 0 ? "setuid" : "setgid";
        report(path, which + " files are not left for the host",
               done ? "the bits were removed; the file was otherwise left as it is" : "the bits could NOT be removed: remove the file", true);
    }

    timespec since_;
    uid_t us_;
    dev_t file_system_{};
    std::size_t names_ = 0;
    std::vector<Violation> violations_;
};

}  // namespace detail

/// Takes the setuid and setgid bits from every regular file under `directories` that has been changed since (CLOCK_REALTIME)
/// and is ours (anybody's, when we are root). Follows no links and stays on each directory's own file system. The
/// directories are absolute and free of links; one within another is not walked twice.
[[nodiscard]] inline std::vector<Violation> strip_setuid_files(const std::vector<std::string>& directories, timespec since) {
    detail::SetuidSweep sweep{since};
    for (const std::string& directory : directories) {
        const auto holds_it = [&](const std::string& other) { return other.size() < directory.size() && is_within(directory, other); };
        if (std::none_of(directories.begin(), directories.end(), holds_it)) sweep.sweep(directory);
    }
    return sweep.take();
}

}  // namespace bailey::srt
