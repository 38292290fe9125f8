// How many sandboxes may start at once, among all who share it. A pipe full of tokens: waiting for one is waiting for a descriptor.
#pragma once

#include <utility>

#include <unistd.h>

#include <bailey/base/error.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/process/readiness.hpp>

namespace bailey {

/// Starting a sandbox costs about 0.6 s of CPU; a Limiter keeps a burst of commands from starving each other. A slot is held from
/// the start of srt until the command begins or is over, as whoever drives its handle sees it: wait for all handles that share a
/// Limiter in turns, or in threads of their own. Must outlive the runs that use it.
class Limiter {
public:
    /// At least one slot; 4096 at most. Where the process is out of descriptors it has none, and a run that is to use it is a ProcessError.
    explicit Limiter(unsigned slots) {
        if (auto pipe = process::make_pipe()) tokens_ = std::move(*pipe);
        process::set_nonblocking(tokens_.read);
        process::set_nonblocking(tokens_.write);
        for (unsigned slot = 0; slot == 0 || (slot < slots && slot < 4096); ++slot) give_back();
    }
    Limiter(const Limiter&) = delete;
    Limiter& operator=(const Limiter&) = delete;

    /// Gives its slot back when it goes.
    class Slot {
    public:
        Slot() = default;
        explicit Slot(Limiter* limiter) : limiter_{limiter} {}
        Slot(Slot&& other) noexcept : limiter_{std::exchange(other.limiter_, nullptr)} {}
        Slot& operator=(Slot&& other) noexcept {
            release();
            limiter_ = std::exchange(other.limiter_, nullptr);
            return *this;
        }
        ~Slot() { release(); }
        void release() {
            if (auto* limiter = std::exchange(limiter_, nullptr)) limiter->give_back();
        }
        [[nodiscard]] explicit operator bool() const { return limiter_ != nullptr; }

    private:
        Limiter* limiter_ = nullptr;
    };

    /// A slot, or an empty one when none is free just now; then `fd()` becomes readable.
    [[nodiscard]] Slot try_acquire() {
        char token = 0;
        return ::read(tokens_.read.get(), &token, 1) == 1 ? Slot{this} : Slot{};
    }
    [[nodiscard]] const process::Fd& fd() const { return tokens_.read; }

private:
    void give_back() { (void)!::write(tokens_.write.get(), "", 1); }

    process::Pipe tokens_;
};

}  // namespace bailey
