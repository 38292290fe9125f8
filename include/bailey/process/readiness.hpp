// One descriptor that becomes readable when there is something to do: any of several descriptors, or a moment in time.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>

#include <poll.h>

#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/timerfd.h>
#else
#include <sys/event.h>
#endif

#include <bailey/base/error.hpp>
#include <bailey/process/fd.hpp>

namespace bailey::process {

using Clock = std::chrono::steady_clock;

/// That much later, and never more than a hundred years: `milliseconds::max()` is how hosts say "no limit", and no clock can add it.
[[nodiscard]] inline Clock::time_point later(Clock::time_point from, std::chrono::milliseconds by) {
    constexpr std::chrono::milliseconds most = std::chrono::hours{24 * 365 * 100};
    return from + std::clamp(by, -most, most);
}

class Readiness {
public:
    [[nodiscard]] static Result<Readiness> open() {
        Readiness readiness;
#if defined(__linux__)
        readiness.queue_.reset(::epoll_create1(EPOLL_CLOEXEC));
        if (!readiness.queue_) return system_error("epoll_create1");
        readiness.timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
        if (!readiness.timer_) return system_error("timerfd_create");
        readiness.watch(readiness.timer_, EPOLLIN);
#else
        readiness.queue_.reset(::kqueue());
        if (!readiness.queue_) return system_error("kqueue");
#endif
        return readiness;
    }

    [[nodiscard]] int fd() const { return queue_.get(); }

#if defined(__linux__)
    void watch_readable(const Fd& fd) { watch(fd, EPOLLIN); }
    void watch_writable(const Fd& fd) { watch(fd, EPOLLOUT); }
    void forget(const Fd& fd) { ::epoll_ctl(queue_.get(), EPOLL_CTL_DEL, fd.get(), nullptr); }

    /// steady_clock is CLOCK_MONOTONIC in libstdc++ and libc++.
    void wake_at(std::optional<Clock::time_point> moment) {
        if (polls_) moment = std::min(moment.value_or(Clock::time_point::max()), Clock::now() + std::chrono::milliseconds{20});
        itimerspec timer{};
        if (moment) {
            const auto since_boot = std::max(moment->time_since_epoch(), Clock::duration{1});  // 0 is never, and before it is no time
            const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
            timer.it_value.tv_sec = static_cast<time_t>(seconds.count());
            timer.it_value.tv_nsec =
                static_cast<long>(std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot - seconds).count());
        }
        ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &timer, nullptr);
    }
#else
    void watch_readable(const Fd& fd) { change(fd, EVFILT_READ, EV_ADD); }
    void watch_writable(const Fd& fd) { change(fd, EVFILT_WRITE, EV_ADD); }
    void forget(const Fd& fd) {
        change(fd, EVFILT_READ, EV_DELETE);
        change(fd, EVFILT_WRITE, EV_DELETE);
    }
    void wake_at(std::optional<Clock::time_point> moment) {
        struct kevent timer;
        EV_SET(&timer, 0, EVFILT_TIMER, EV_DELETE, 0, 0, nullptr);
        ::kevent(queue_.get(), &timer, 1, nullptr, 0, nullptr);
        if (!moment) return;
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*moment - Clock::now()).count() + 1;
        EV_SET(&timer, 0, EVFILT_TIMER, EV_ADD, 0, left > 0 ? left : 1, nullptr);
        ::kevent(queue_.get(), &timer, 1, nullptr, 0, nullptr);
    }
#endif

    /// Blocks until there is something to do, or for that long.
    void wait(std::optional<std::chrono::milliseconds> at_most) const {
        pollfd ready{queue_.get(), POLLIN, 0};
        const auto limit = at_most ? std::min<std::int64_t>(at_most->count(), 1'000'000'000) : -1;
        ::poll(&ready, 1, static_cast<int>(limit));
    }

private:
#if defined(__linux__)
    void watch(const Fd& fd, std::uint32_t events) {
        epoll_event event{};
        event.events = events;
        event.data.fd = fd.get();
        polls_ |= ::epoll_ctl(queue_.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0 && errno != EEXIST;
    }
    Fd timer_;
    bool polls_ = false;  // something could not be watched, as when the user's epoll watches are used up: it is looked at now and then
#else
    void change(const Fd& fd, short filter, unsigned short action) {
        struct kevent event;
        EV_SET(&event, static_cast<uintptr_t>(fd.get()), filter, action, 0, 0, nullptr);
        ::kevent(queue_.get(), &event, 1, nullptr, 0, nullptr);
    }
#endif
    Fd queue_;
};

}  // namespace bailey::process
