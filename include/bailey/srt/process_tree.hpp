// Processes and all that descend from them, counted and weighed; Linux only, elsewhere there is nothing to count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/types.h>

#include <bailey/base/text.hpp>
#include <bailey/process/descendants.hpp>
#include <bailey/srt/tools.hpp>

namespace bailey::srt {

class ProcessTree {
public:
    void add(pid_t pid) {
        if (pid <= 0 || processes_ > 10'000) return;
        // Its share of what it shares, as the kernel reckons it.
        const auto memory = detail::read_small_file(text::concat({"/proc/", std::to_string(pid), "/smaps_rollup"}));
        if (const auto at = memory.find("\nPss:"); at != std::string::npos) memory_ += std::strtoull(memory.c_str() + at + 5, nullptr, 10) * 1024;
        ++processes_;
        for (const pid_t child : process::children_of(pid)) add(child);
    }

    [[nodiscard]] std::size_t processes() const { return processes_; }
    [[nodiscard]] std::uint64_t memory() const { return memory_; }

private:
    std::size_t processes_ = 0;
    std::uint64_t memory_ = 0;
};

}  // namespace bailey::srt
