// Wakes whoever waits on a Readiness, from any thread.
#pragma once

#include <utility>

#include <unistd.h>

#include <bailey/base/error.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/process/readiness.hpp>

namespace bailey::process {

class Wakeup {
public:
    [[nodiscard]] Result<void> attach(Readiness& readiness) {
        auto pipe = make_pipe();
        if (!pipe) return pipe.error();
        pipe_ = std::move(*pipe);
        set_nonblocking(pipe_.read);
        set_nonblocking(pipe_.write);
        readiness.watch_readable(pipe_.read);
        return {};
    }
    void ring() const { (void)!::write(pipe_.write.get(), "", 1); }

    /// The wake-up has been heard.
    void quiet() const {
        char bytes[64];
        while (::read(pipe_.read.get(), bytes, sizeof bytes) > 0) {
        }
    }

private:
    Pipe pipe_;
};

}  // namespace bailey::process
