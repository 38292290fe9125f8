// Whether a sandbox that was prepared a while ago is what would be prepared now: what srt and bubblewrap looked at is still the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/settings/settings.hpp>

namespace bailey::srt {

/// The rules, what stands at every path in them and above, and what a child of this process inherits.
class Fingerprint {
public:
    Fingerprint() = default;
    explicit Fingerprint(settings::FilesystemRules rules) : rules_{std::move(rules)}, inherited_{inherited()} {
        std::vector<std::string> paths{std::string{defaults::srt_tmp}};
        for (const auto* list : {&rules_.deny_read, &rules_.allow_read, &rules_.allow_write, &rules_.deny_write}) {
            for (const auto& path : *list) {
                for (std::string at = path; at != "/"; at = paths::parent(at)) paths.push_back(at);
            }
        }
        paths::sort_once(paths);
        places_.reserve(paths.size());
        for (const auto& path : paths) places_.push_back(place(path));
    }

    [[nodiscard]] const settings::FilesystemRules& rules() const { return rules_; }
    [[nodiscard]] bool operator==(const Fingerprint&) const = default;

private:
    /// What is mounted is pinned by the mount, so that its number cannot come again; a link's can, and what it says may be another.
    struct Place {
        std::uint64_t device = 0, inode = 0, mode = 0, seconds = 0, nanoseconds = 0;
        [[nodiscard]] bool operator==(const Place&) const = default;
    };

    [[nodiscard]] static Place place(const std::string& path) {
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) return {};
        Place place{static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino), static_cast<std::uint64_t>(status.st_mode)};
#if defined(__linux__)
        if (S_ISLNK(status.st_mode)) {
            place.seconds = static_cast<std::uint64_t>(status.st_ctim.tv_sec);
            place.nanoseconds = static_cast<std::uint64_t>(status.st_ctim.tv_nsec);
        }
#endif
        return place;
    }

    [[nodiscard]] static std::string inherited() {
        std::string all;
#if defined(__linux__)
        const process::Fd file{::open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC)};
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
    std::string inherited_;
};

}  // namespace bailey::srt
