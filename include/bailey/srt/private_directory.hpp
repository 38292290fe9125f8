// bailey's own directories: outside every default grant, invisible to all sandboxes but their own part, gone with their owner.
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bailey/base/error.hpp>
#include <bailey/base/text.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/process/own_delete.hpp>

namespace bailey::srt {

/// Random hexadecimal digits that nobody can guess.
[[nodiscard]] inline std::string random_hex(std::size_t bytes) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::array<unsigned char, 32> random{};
    (void)!::getentropy(random.data(), random.size());
    std::string result;
    for (std::size_t i = 0; i < bytes && i < random.size(); ++i) {
        result += hex[random[i] >> 4];
        result += hex[random[i] & 15];
    }
    return result;
}

namespace detail {
/// Gives us a directory whose mode its maker took away; never through a link, even one swapped in just now.
inline void open_up(int parent, const char* name) {
#if defined(__linux__)
    const process::Fd directory{::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (directory) ::chmod(text::concat({"/proc/self/fd/", std::to_string(directory.get())}).c_str(), 0700);
#else
    ::fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW);
#endif
}
}  // namespace detail

/// Removes a tree that a hostile command may have built: follows no link, and needs two descriptors however deep it is,
/// because what lies deeper is moved up before it is emptied.
inline void remove_tree(const std::string& path) {
    const process::Fd top{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!top) return;
    const auto list = [](int directory, auto&& each) {
        const std::unique_ptr<DIR, int (*)(DIR*)> open{::fdopendir(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), ::closedir};
        while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) {
            if (const std::string_view name{entry->d_name}; name != "." && name != "..") each(entry->d_name);
        }
    };
    unsigned long moved = 0;
    // A late process of the sandbox may still be adding files: try again, but not for ever.
    for (int pass = 0; pass < 100'000; ++pass) {
        bool left = false;
        list(top.get(), [&](const char* name) {
            if (::unlinkat(top.get(), name, 0) == 0 || ::unlinkat(top.get(), name, AT_REMOVEDIR) == 0) return;
            const process::Fd directory{::openat(top.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
            if (!directory) {
                detail::open_up(top.get(), name);
                left = true;
                return;
            }
            ::fchmod(directory.get(), 0700);
            list(directory.get(), [&](const char* inner) {
                if (::unlinkat(directory.get(), inner, 0) == 0 || ::unlinkat(directory.get(), inner, AT_REMOVEDIR) == 0) return;
                char up[32];
                std::snprintf(up, sizeof up, "~%lu", ++moved);
                detail::open_up(directory.get(), inner);  // moving a directory needs write permission on it
                ::renameat(directory.get(), inner, top.get(), up);
            });
            ::unlinkat(top.get(), name, AT_REMOVEDIR);
            left = true;
        });
        if (!left) break;
    }
    ::rmdir(path.c_str());
}

/// The directory of all workspaces of this user: 0700, and refused when somebody else could have prepared it.
[[nodiscard]] inline Result<std::string> private_base() {
    const auto var_tmp = paths::real("/var/tmp");
    if (!var_tmp) return Error{ErrorCode::process, "bailey: /var/tmp does not exist; bailey keeps its private directories there", errno};
    auto base = text::concat({*var_tmp, "/bailey-", std::to_string(::geteuid())});
    if (::mkdir(base.c_str(), 0700) != 0 && errno != EEXIST) return process::system_error(text::concat({"mkdir ", base}));
    struct stat status {};
    if (::lstat(base.c_str(), &status) != 0) return process::system_error(text::concat({"lstat ", base}));
    if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 0077) != 0)
        return Error{ErrorCode::process, text::concat({"bailey: ", base, " is not a directory that only this user can enter; remove it, it is not bailey's"}), 0};
    return base;
}

/// The directories of one run.
struct RunDirectories {
    std::string top;
    std::string cwd;      ///< srt's working directory: empty
    std::string sockets;  ///< srt's TMPDIR
    std::string script;   ///< what the sandbox reads to start
};

/// The directory of one workspace. Locked while it is in use, so that a later workspace can sweep what a crash has left.
class PrivateDirectory {
public:
    [[nodiscard]] static Result<std::shared_ptr<PrivateDirectory>> make() {
        auto base = private_base();
        if (!base) return base.error();
        // Held while directories come and go, so that none is swept between its making and its locking.
        const auto gate = locked_file(*base + "/lock", LOCK_EX);
        if (!gate) return process::system_error(text::concat({"locking ", *base, "/lock"}));
        sweep(*base);

        std::shared_ptr<PrivateDirectory> made{new PrivateDirectory{*base, paths::join(*base, random_hex(8))}, process::OwnDelete{}};
        if (::mkdir(made->path_.c_str(), 0700) != 0) return process::system_error(text::concat({"mkdir ", made->path_}));
        made->lock_ = locked_file(made->path_ + "/lock", LOCK_EX | LOCK_NB);
        if (!made->lock_) return process::system_error(text::concat({"locking ", made->path_, "/lock"}));
        if (::mkdir(made->tmp().c_str(), 0700) != 0) return process::system_error(text::concat({"mkdir ", made->tmp()}));
        return made;
    }

    ~PrivateDirectory() { remove_tree(path_); }
    PrivateDirectory(const PrivateDirectory&) = delete;
    PrivateDirectory& operator=(const PrivateDirectory&) = delete;

    [[nodiscard]] const std::string& base() const { return base_; }
    [[nodiscard]] std::string tmp() const { return path_ + "/tmp"; }
    [[nodiscard]] std::string quarantine() const { return base_ + "/quarantine"; }

    [[nodiscard]] Result<RunDirectories> make_run() const {
        const auto next = [this] { return directories_of(next_run_.fetch_add(1, std::memory_order_relaxed)); };
        const auto failed = [](const std::string& directory) { return process::system_error(text::concat({"mkdir ", directory})); };
        RunDirectories run = next();
        while (::mkdir(run.top.c_str(), 0700) != 0) {
            if (errno != EEXIST) return failed(run.top);
            run = next();  // a fork of this process counts from the same number
        }
        for (const auto* directory : {&run.cwd, &run.sockets, &run.script})
            if (::mkdir(directory->c_str(), 0700) != 0) return failed(*directory);
        return run;
    }
    /// What make_run would make now.
    [[nodiscard]] RunDirectories next_run() const { return directories_of(next_run_.load(std::memory_order_relaxed)); }

private:
    PrivateDirectory(std::string base, std::string path) : base_{std::move(base)}, path_{std::move(path)} {}

    [[nodiscard]] RunDirectories directories_of(unsigned run) const {
        // Short, because srt binds sockets beneath it and a socket's path holds 108 bytes.
        const auto top = text::concat({path_, "/r", std::to_string(run)});
        return {top, top + "/cwd", top + "/s", top + "/run"};
    }

    [[nodiscard]] static process::Fd locked_file(const std::string& path, int operation) {
        process::Fd file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
        while (file && ::flock(file.get(), operation) != 0) {
            if (errno != EINTR) file.reset();
        }
        return file;
    }

    /// Removes the directories whose owner died.
    static void sweep(const std::string& base) {
        const std::unique_ptr<DIR, int (*)(DIR*)> open{::opendir(base.c_str()), ::closedir};
        while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) {
            const std::string_view name{entry->d_name};
            if (name.size() != 16 || name.find_first_not_of("0123456789abcdef") != std::string_view::npos) continue;
            const auto directory = paths::join(base, name);
            if (locked_file(directory + "/lock", LOCK_EX | LOCK_NB)) remove_tree(directory);
        }
    }

    std::string base_;
    std::string path_;
    process::Fd lock_;
    mutable std::atomic<unsigned> next_run_{1};
};

}  // namespace bailey::srt
