// Alternating A/B runs and their medians: the machines are noisy, so only ratios taken in one run mean something.
#pragma once

#include <bailey/bailey.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>

#include <fmt/core.h>

namespace measure {

inline std::string environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) {
        fmt::print(stderr, "{} is not set; see tools/setup --print-env\n", name);
        std::exit(2);
    }
    return value;
}
inline bailey::Tools tools() { return {.srt = environment("BAILEY_SRT"), .node = environment("BAILEY_NODE")}; }

class TempDir {
public:
    TempDir() {
        if (::mkdtemp(path_) == nullptr) std::exit(2);
    }
    ~TempDir() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string path() const { return path_; }

private:
    char path_[32] = "/var/tmp/bailey-bench-XXXXXX";
};

template <class Work>
double milliseconds(Work&& work) {
    const auto began = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Runs both in turn, swapping who goes first, and prints medians and the median of the rounds' ratios.
template <class A, class B>
double compare(const char* a_name, A&& a, const char* b_name, B&& b, int rounds) {
    std::vector<double> as, bs, ratios;
    for (int round = 0; round < rounds; ++round) {
        double ta = 0, tb = 0;
        if (round % 2 == 0) {
            ta = milliseconds(a);
            tb = milliseconds(b);
        } else {
            tb = milliseconds(b);
            ta = milliseconds(a);
        }
        as.push_back(ta);
        bs.push_back(tb);
        ratios.push_back(ta / tb);
    }
    fmt::print("{}: {:.1f} ms, {}: {:.1f} ms, ratio {:.3f} (medians of {} alternating rounds)\n", a_name, median(as), b_name, median(bs),
               median(ratios), rounds);
    return median(ratios);
}

/// The most memory this process ever had, in KiB.
inline long peak_memory() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

}  // namespace measure
