// Whether a sandbox that was prepared a while ago is what would be prepared now: what srt and bubblewrap looked at is still the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <time.h>
#include <unistd.h>

#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/settings/settings.hpp>
#include <bailey/srt/beneath.hpp>

namespace bailey::srt {

/// The rules, what stands at every path in them and above, and what a child of this process inherits.
class Fingerprint {
public:
    Fingerprint() = default;
    Fingerprint(settings::FilesystemRules rules, const std::vector<std::string>& pinned, std::string_view own_directories) : rules_{std::move(rules)}, inherited_{inherited(this_thread())} {
        std::vector<std::string> paths;
        for (const auto* list : {&rules_.deny_read, &rules_.allow_read, &rules_.allow_write, &rules_.deny_write}) {
            for (const auto& path : *list) {
                for (std::string at = path; at != "/"; at = paths::parent(at)) paths.push_back(at);
            }
        }
        paths::sort_once(paths);
        for (const auto& path : paths) {
            // Only where a command can swap names. Not for what is pinned: the sandbox itself sees that it was given that, and not
            // in bailey's own directories, where names come and go all the time.
            const auto above = paths::parent(path);
            if (paths::is_within_any(above, rules_.allow_write) && !paths::is_within(path, own_directories) &&
                std::find(pinned.begin(), pinned.end(), path) == pinned.end())
                directories_.emplace_back(above);
        }
        paths::sort_once(directories_);
        paths.emplace_back(defaults::srt_tmp);  // srt looks at it uncalled
        places_.reserve(paths.size());
        for (const auto& path : paths) places_.push_back(place(path));
    }

    [[nodiscard]] const settings::FilesystemRules& rules() const { return rules_; }
    [[nodiscard]] bool operator==(const Fingerprint&) const = default;
    /// Whether a child of that thread of ours would inherit the same.
    [[nodiscard]] bool is_inherited_by(int thread) const { return inherited(thread) == inherited_; }

    [[nodiscard]] static int this_thread() {
#if defined(__linux__)
        return static_cast<int>(::syscall(SYS_gettid));
#else
        return 1;  // nothing is known of threads
#endif
    }

    /// Whether no name on the way to any of the paths has been given, taken or changed since (CLOCK_REALTIME). Two fingerprints
    /// that are alike do not tell: what is swapped and swapped back in between may have been mounted.
    [[nodiscard]] bool still_since(timespec moment) const {
        // The kernel stamps with a clock that ticks, and may lag behind ours.
        moment.tv_nsec -= 20'000'000;
        if (moment.tv_nsec < 0) {
            moment.tv_nsec += 1'000'000'000;
            --moment.tv_sec;
        }
        for (const auto& directory : directories_) {
            struct stat status {};
            if (::lstat(directory.c_str(), &status) != 0) return false;
            const timespec changed = detail::changed_at(status);
            if (changed.tv_sec != moment.tv_sec ? changed.tv_sec > moment.tv_sec : changed.tv_nsec >= moment.tv_nsec) return false;
        }
        return true;
    }

private:
    /// A number can come again: what the host removes is unmounted in every sandbox, and its inode freed. The time of birth cannot.
    struct Place {
        std::uint64_t device = 0, inode = 0, mode = 0;
        std::int64_t seconds = 0, nanoseconds = 0;
        [[nodiscard]] bool operator==(const Place&) const = default;
    };

    [[nodiscard]] static Place place(const std::string& path) {
#if defined(__linux__)
        struct statx status {};
        if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) return {};
        // File systems that do not know it: any change makes it another.
        const auto& time = (status.stx_mask & STATX_BTIME) != 0 ? status.stx_btime : status.stx_ctime;
        return {std::uint64_t{status.stx_dev_major} << 32 | status.stx_dev_minor, status.stx_ino, status.stx_mode, time.tv_sec, time.tv_nsec};
#else
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) return {};
        return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino), status.st_mode, status.st_birthtimespec.tv_sec, status.st_birthtimespec.tv_nsec};
#endif
    }

    [[nodiscard]] static std::string inherited([[maybe_unused]] int thread) {
        std::string all;
#if defined(__linux__)
        const process::Fd file{::open(("/proc/self/task/" + std::to_string(thread) + "/status").c_str(), O_RDONLY | O_CLOEXEC)};
        std::array<char, 4096> bytes;
        const auto size = ::read(file.get(), bytes.data(), bytes.size());
        std::string_view status{bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
        while (!status.empty()) {
            const auto line = status.substr(0, status.find('\n'));
            status.remove_prefix(std::min(line.size() + 1, status.size()));
            for (const std::string_view name : {"Umask:", "Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp:"}) {
                if (line.starts_with(name)) all.append(line) += '\n';
            }
        }
        for (int resource = 0; resource < static_cast<int>(RLIM_NLIMITS); ++resource) {
            rlimit limit{};
            ::getrlimit(static_cast<__rlimit_resource>(resource), &limit);
            all += std::to_string(limit.rlim_cur) + ' ' + std::to_string(limit.rlim_max) + '\n';
        }
#endif
        return all;
    }

    settings::FilesystemRules rules_;
    std::vector<Place> places_;
    std::vector<std::string> directories_;
    std::string inherited_;
};

}  // namespace bailey::srt
