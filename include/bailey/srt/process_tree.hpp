// Processes and all that descend from them, counted and weighed; Linux only, elsewhere there is nothing to count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <bailey/base/format.hpp>
#include <bailey/srt/tools.hpp>

namespace bailey::srt {

class ProcessTree {
public:
    void add(pid_t pid) {
        if (pid <= 0 || processes_ > 10'000) return;
        const auto directory = text::concat({"/proc/", std::to_string(pid)});
        // Its share of what it shares, as the kernel reckons it.
        const auto memory = detail::read_small_file(directory + "/smaps_rollup");
        if (const auto at = memory.find("\nPss:"); at != std::string::npos) memory_ += std::strtoull(memory.c_str() + at + 5, nullptr, 10) * 1024;
        ++processes_;
        const std::unique_ptr<DIR, int (*)(DIR*)> threads{::opendir((directory + "/task").c_str()), ::closedir};
        while (const dirent* thread = threads ? ::readdir(threads.get()) : nullptr) {
            if (thread->d_name[0] == '.') continue;
            const auto children = detail::read_small_file(text::concat({directory, "/task/", thread->d_name, "/children"}));
            for (const char* at = children.c_str(); *at != '\0';) {
                char* end = nullptr;
                add(static_cast<pid_t>(std::strtol(at, &end, 10)));
                at = *end == ' ' ? end + 1 : end;
            }
        }
    }

    [[nodiscard]] std::size_t processes() const { return processes_; }
    [[nodiscard]] std::uint64_t memory() const { return memory_; }

private:
    std::size_t processes_ = 0;
    std::uint64_t memory_ = 0;
};

}  // namespace bailey::srt
