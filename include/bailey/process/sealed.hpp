// Text that a child can read and nobody can change: no file, no name.
#pragma once

#include <string_view>
#include <utility>

#include <fcntl.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <bailey/base/error.hpp>
#include <bailey/process/fd.hpp>

namespace bailey::process {

/// Linux: a memfd under every seal. macOS has none: a pipe that holds the text and has no writer any more.
[[nodiscard]] inline Result<Fd> sealed_text(std::string_view text) {
#if defined(__linux__)
    Fd fd{::memfd_create("bailey", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (!fd) return system_error("memfd_create");
    if (auto written = write_all(fd, text); !written) return written.error();
    if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) return system_error("fcntl(F_ADD_SEALS)");
    return fd;
#else
    auto pipe = make_pipe();
    if (!pipe) return pipe.error();
    set_nonblocking(pipe->write);  // more than the pipe holds is an error, not a wait for a reader that has not started
    if (auto written = write_all(pipe->write, text); !written) return written.error();
    return std::move(pipe->read);
#endif
}

}  // namespace bailey::process
