// What a forked child inherits is its parent's, and must outlive the child.
#pragma once

#include <sys/types.h>
#include <unistd.h>

namespace bailey::process {

/// Deletes in the process that made the object and in no other: there it would end its maker's processes, remove its directories, or
/// wait for threads that a fork does not take along.
struct OwnDelete {
    pid_t maker = ::getpid();

    [[nodiscard]] bool is_maker() const { return ::getpid() == maker; }
    template <class Object>
    void operator()(Object* object) const {
        if (is_maker()) delete object;
    }
};

}  // namespace bailey::process
