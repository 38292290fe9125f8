// How much a command can use, each of its processes. Without these only its time and its output are bounded (RunOptions).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <bailey/boundary/boundary.hpp>
#include <bailey/grammar/limits.hpp>
#include <bailey/grammar/scan.hpp>

namespace bailey {

namespace policy {

/// Two limits of one kind: the smaller holds.
inline void tighten(std::optional<std::uint64_t>& limit, std::uint64_t value) {
    if (!limit || value < *limit) limit = value;
}

template <std::uint64_t Unit, char... Digits>
consteval std::uint64_t size_literal() {
    constexpr char digits[] = {Digits...};
    constexpr bool whole = [&] {
        for (const char c : digits)
            if (!grammar::is_digit(c) && c != '\'') return false;
        return sizeof...(Digits) == 1 || digits[0] != '0';
    }();
    static_assert(whole, "bailey: a size is a whole decimal number; write 512_MiB");
    constexpr std::uint64_t most = ~std::uint64_t{0} / Unit;
    constexpr std::optional<std::uint64_t> value = [&]() -> std::optional<std::uint64_t> {
        std::uint64_t sum = 0;
        for (const char c : digits) {
            if (!grammar::is_digit(c)) continue;
            const auto digit = static_cast<std::uint64_t>(c - '0');
            if (sum > (most - digit) / 10) return std::nullopt;
            sum = sum * 10 + digit;
        }
        return sum;
    }();
    static_assert(!whole || value.has_value(), "bailey: a size fits into 64 bits; write a smaller one, or leave the limit out");
    return value.value_or(1024) * Unit;  // one error is enough
}

}  // namespace policy

inline namespace literals {
/// Sizes in bytes: `512_KiB`, `512_MiB`, `4_GiB`. Whole decimal numbers that fit into 64 bits; others do not compile.
template <char... Digits>
consteval std::uint64_t operator""_KiB() {
    return policy::size_literal<(std::uint64_t{1} << 10), Digits...>();
}
template <char... Digits>
consteval std::uint64_t operator""_MiB() {
    return policy::size_literal<(std::uint64_t{1} << 20), Digits...>();
}
template <char... Digits>
consteval std::uint64_t operator""_GiB() {
    return policy::size_literal<(std::uint64_t{1} << 30), Digits...>();
}
}  // namespace literals

/// CPU time of each process, in seconds: `CpuTimeLimit<60>`. The kernel kills a process that used more. Default: no limit.
/// Errors: 0 and more than 2^60 do not compile, here and below. Limits: per process, so a command that starts many is bounded by `RunOptions::timeout`.
/// Of two limits of one kind the smaller holds, here and below.
template <std::uint64_t Seconds>
struct CpuTimeLimit {
    static_assert(grammar::accepts_limit<Seconds>());
    void apply(Boundary& boundary) const { policy::tighten(boundary.limits.cpu_seconds, Seconds); }
};

/// Address space of each process, in bytes: `MemoryLimit<4_GiB>`. Allocations beyond fail. Default: no limit.
/// Errors: less than 1_MiB does not compile. Limits: per process, and reserved space counts: node, Java and Go want several GiB.
/// macOS does not enforce it.
template <std::uint64_t Bytes>
struct MemoryLimit {
    static_assert(grammar::accepts_limit<Bytes, grammar::LimitUse::memory>());
    void apply(Boundary& boundary) const { policy::tighten(boundary.limits.memory_bytes, Bytes); }
};

/// Processes and threads of the user: `ProcessLimit<256>`. Default: no limit. Errors: 0 does not compile.
/// Limits: the kernel counts all that the host user runs, not this command's alone, and exempts root.
template <std::uint64_t Count>
struct ProcessLimit {
    static_assert(grammar::accepts_limit<Count>());
    void apply(Boundary& boundary) const { policy::tighten(boundary.limits.processes, Count); }
};

/// The largest file that can be written, in bytes, rounded up to a whole KiB: `FileSizeLimit<100_MiB>`. Writes beyond fail, and by default end the program.
/// Default: no limit. Errors: 0 does not compile.
template <std::uint64_t Bytes>
struct FileSizeLimit {
    static_assert(grammar::accepts_limit<Bytes>());
    void apply(Boundary& boundary) const { policy::tighten(boundary.limits.file_size_bytes, Bytes); }
};

/// Files, pipes and sockets that each process can hold open: `OpenFileLimit<256>`. Default: the host's limit. Errors: less than
/// 8 does not compile.
template <std::uint64_t Count>
struct OpenFileLimit {
    static_assert(grammar::accepts_limit<Count, grammar::LimitUse::open_files>());
    void apply(Boundary& boundary) const { policy::tighten(boundary.limits.open_files, Count); }
};

}  // namespace bailey
