// How much a limit can be.
#pragma once

#include <cstdint>
#include <string_view>

#include <bailey/grammar/fault.hpp>

namespace bailey::grammar {

#define BAILEY_LIMIT_RULES(RULE)                                                                        \
    RULE(zero, "a limit of 0 lets no command start; write how much it may use, or leave the limit out") \
    RULE(tiny, "a memory limit counts bytes, and below 1_MiB no program starts; write a unit, such as 512_MiB") \
    RULE(huge, "a limit this large bounds nothing; leave the limit out")                                       \
    RULE(few, "a shell needs 8 open files to set the others right; write 8 or more")

#define BAILEY_ENUMERATOR(kind, sentence) kind,
#define BAILEY_CASE(kind, sentence) \
    case LimitFault::kind:          \
        return sentence;
#define BAILEY_CHECK(kind, sentence) static_assert(Kind != LimitFault::kind, "bailey: " sentence);

enum class LimitFault { none, BAILEY_LIMIT_RULES(BAILEY_ENUMERATOR) };

[[nodiscard]] constexpr std::string_view sentence(LimitFault fault) {
    switch (fault) {
        BAILEY_LIMIT_RULES(BAILEY_CASE)
        case LimitFault::none: break;
    }
    return {};
}

/// Made only to fail: its name says what is wrong with which value.
template <LimitFault Kind, std::uint64_t Value>
struct refused_limit {
    BAILEY_LIMIT_RULES(BAILEY_CHECK)
};

#undef BAILEY_CHECK
#undef BAILEY_CASE
#undef BAILEY_ENUMERATOR
#undef BAILEY_LIMIT_RULES

enum class LimitUse { any, memory, open_files };

[[nodiscard]] constexpr Fault<LimitFault> limit_fault(std::uint64_t value, LimitUse use) {
    if (value == 0) return {LimitFault::zero, 0};
    if (use == LimitUse::memory && value < (std::uint64_t{1} << 20)) return {LimitFault::tiny, 0};
    if (use == LimitUse::open_files && value < 8) return {LimitFault::few, 0};
    if (value > (std::uint64_t{1} << 60)) return {LimitFault::huge, 0};
    return {};
}

template <std::uint64_t Value, LimitUse Use = LimitUse::any>
inline constexpr auto judged_limit = limit_fault(Value, Use);

/// Compiles to true, or not at all.
template <std::uint64_t Value, LimitUse Use = LimitUse::any>
consteval bool accepts_limit() {
    if constexpr (constexpr auto fault = judged_limit<Value, Use>; fault.kind != LimitFault::none) {
        using refused = refused_limit<fault.kind, Value>;
        look_into(static_cast<refused*>(nullptr));
    }
    return true;
}

}  // namespace bailey::grammar
