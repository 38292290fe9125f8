// An owned file descriptor, and the few calls on descriptors that need more than one line to be right.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <bailey/base/error.hpp>
#include <bailey/base/platform.hpp>
#include <bailey/base/text.hpp>

namespace bailey::process {

class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : fd_{fd} {}
    Fd(Fd&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) reset(std::exchange(other.fd_, -1));
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }
    void reset(int fd = -1) {
        if (fd_ >= 0) ::close(fd_);
        fd_ = fd;
    }

private:
    int fd_ = -1;
};

/// The current errno as an Error that names the call.
[[nodiscard]] inline Error system_error(std::string_view call, int error_number = errno) {
    return {ErrorCode::process, text::concat({"bailey: ", call, " failed: ", std::strerror(error_number)}), error_number};
}

struct Pipe {
    Fd read;
    Fd write;
};

/// Both ends are close-on-exec from birth, so that a fork of another thread cannot carry them away.
[[nodiscard]] inline Result<Pipe> make_pipe() {
    int ends[2];
#if defined(__linux__)
    if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe2");
    return Pipe{Fd{ends[0]}, Fd{ends[1]}};
#else
    if (::pipe(ends) != 0) return system_error("pipe");  // macOS has no pipe2; spawn there closes all it does not list
    Pipe pipe{Fd{ends[0]}, Fd{ends[1]}};
    for (int end : ends) {
        if (::fcntl(end, F_SETFD, FD_CLOEXEC) != 0) return system_error("fcntl");
    }
    return pipe;
#endif
}

inline void set_nonblocking(const Fd& fd) {
    const int flags = ::fcntl(fd.get(), F_GETFL);
    if (flags >= 0) ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK);
}

/// Writes all of it, or says why not.
[[nodiscard]] inline Result<void> write_all(const Fd& fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto written = ::write(fd.get(), bytes.data(), bytes.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return system_error("write");
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

/// write(2) that cannot raise SIGPIPE in the host: the signal is blocked in this thread, and taken back if we caused it.
[[nodiscard]] inline ssize_t write_without_sigpipe(const Fd& fd, std::string_view bytes) {
    sigset_t sigpipe, before, pending;
    ::sigemptyset(&sigpipe);
    ::sigaddset(&sigpipe, SIGPIPE);
    ::sigpending(&pending);
    const bool was_pending = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
    const auto written = ::write(fd.get(), bytes.data(), bytes.size());
    const int saved = errno;
    if (written < 0 && saved == EPIPE && !was_pending) {
#if defined(__linux__)
        const timespec now{};
        while (::sigtimedwait(&sigpipe, nullptr, &now) < 0 && errno == EINTR) {
        }
#else
        ::sigpending(&pending);
        int taken = 0;
        if (::sigismember(&pending, SIGPIPE) == 1) ::sigwait(&sigpipe, &taken);
#endif
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = saved;
    return written;
}

}  // namespace bailey::process
