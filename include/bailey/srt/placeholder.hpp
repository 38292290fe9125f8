// Keeps the place of a denied path that does not exist yet. srt's own placeholder goes when the run that made it ends, and
// takes the protection of every overlapping run with it; this one is counted, across processes, by locks on the file itself.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bailey/base/error.hpp>
#include <bailey/base/text.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/process/spawn.hpp>
#include <bailey/srt/beneath.hpp>
#include <bailey/srt/private_directory.hpp>

namespace bailey::srt {

/// A directory by its real path, from the root of the file system and through no link: one that has been swapped in is refused.
[[nodiscard]] inline process::Fd open_real_directory(std::string_view path) {
    const process::Fd top{::open("/", detail::search_only | O_DIRECTORY | O_CLOEXEC)};
    return open_beneath(top.get(), path);
}

class Placeholder {
public:
    /// What a leftover is recognised by, after a crash or by a person.
    static constexpr std::string_view content =
        "# placeholder made by bailey: a policy denies this path while a command runs; safe to delete when none does\n";

    /// Joins the runs that hold it already, or readies a placeholder without a name. The path must be real up to its last component.
    [[nodiscard]] static Result<Placeholder> ready(const std::string& path) {
        Placeholder held;
        held.path_ = path;
        held.name_ = path.substr(path.rfind('/') + 1);
        held.directory_ = open_real_directory(paths::parent(path));
        if (!held.directory_) return failed(path);
#if defined(O_TMPFILE)
        struct stat status {};
        if (::fstatat(held.directory_.get(), held.name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
            held.file_.reset(::openat(held.directory_.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0444));
            if (held.file_ && process::write_all(held.file_, content) && ::flock(held.file_.get(), LOCK_SH) == 0) return held;
            held.file_.reset();  // a file system without such files: the name is given here and now
        }
#endif
        if (auto settled = held.settle(); !settled) return settled.error();
        return held;
    }

    /// Gives it its name, or joins whoever was faster. Nothing to do when the child has given it (process::NewName).
    [[nodiscard]] Result<void> settle() {
        // Whoever ends last removes the file between our open and our lock: then begin again.
        for (int attempt = 0; attempt < 100; ++attempt) {
            if (file_ && still_names(file_)) return {};
            file_.reset();
            if (auto made = make(); !made) return made.error();
            if (file_) return {};
            process::Fd file{::openat(directory_.get(), name_.c_str(), O_RDONLY | detail::no_follow)};
            if (!file && errno == ENOENT) continue;
            if (!file || ::flock(file.get(), LOCK_SH) != 0) return failed(path_);
            if (!still_names(file)) continue;
            // What is not a placeholder was made meanwhile: it is denied as it is, and not ours to remove.
            if (read_file_at(directory_.get(), name_, content.size()) == content) file_ = std::move(file);
            return {};
        }
        return failed(path_);
    }

    /// For the child that is to give the name.
    [[nodiscard]] process::NewName new_name() const { return {file_.get(), directory_.get(), name_}; }

    [[nodiscard]] const std::string& path() const { return path_; }
    /// Holds the lock; -1 when there is nothing to hold.
    [[nodiscard]] int fd() const { return file_.get(); }

    /// A leftover, or one that another run holds just now.
    [[nodiscard]] static bool stands_at(const std::string& path) { return read_file_at(AT_FDCWD, path, content.size()) == content; }

    Placeholder(Placeholder&&) = default;
    Placeholder& operator=(Placeholder&&) = delete;
    ~Placeholder() {
        // The last one out can have the lock for itself.
        if (file_ && ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0 && still_names(file_)) ::unlinkat(directory_.get(), name_.c_str(), 0);
    }

private:
    Placeholder() = default;

    /// The file appears with its content and its lock, or not at all because the name is taken.
    Result<void> make() {
        const std::string draft = ".bailey-" + random_hex(8);
        process::Fd file{::openat(directory_.get(), draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | detail::no_follow, 0444)};
        if (!file) return failed(name_);
        const auto written = process::write_all(file, content);
        const bool locked = ::flock(file.get(), LOCK_SH) == 0;
        const bool linked = written && locked && ::linkat(directory_.get(), draft.c_str(), directory_.get(), name_.c_str(), 0) == 0;
        const int reason = errno;
        ::unlinkat(directory_.get(), draft.c_str(), 0);
        if (linked) {
            file_ = std::move(file);
        } else if (written && locked && reason != EEXIST) {
            errno = reason;
            return failed(name_);
        }
        return written;
    }

    [[nodiscard]] bool still_names(const process::Fd& file) const {
        struct stat open_file {};
        struct stat named {};
        return ::fstat(file.get(), &open_file) == 0 && ::fstatat(directory_.get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
               open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
    }
    [[nodiscard]] static Error failed(const std::string& path) {
        return process::system_error(text::concat({"keeping the denied path ", text::quoted(path), " from being created"}));
    }

    std::string path_;
    process::Fd directory_;
    std::string name_;
    process::Fd file_;
};

}  // namespace bailey::srt
