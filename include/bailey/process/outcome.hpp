// How a run came to its end: written once, by the first evidence.
#pragma once

#include <string_view>

#include <bailey/base/format.hpp>

namespace bailey {

enum class Outcome {
    exited,     ///< the command ended by itself: exit_code says how
    timed_out,  ///< RunOptions::timeout passed; the command was stopped
    cancelled,  ///< the caller stopped it, or a callback threw
};

[[nodiscard]] constexpr std::string_view to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::exited: return "exited";
        case Outcome::timed_out: return "timed_out";
        case Outcome::cancelled: return "cancelled";
    }
    return "unknown";
}

}  // namespace bailey

#if defined(BAILEY_USE_STD_FORMAT)
template <>
struct std::formatter<bailey::Outcome> : bailey::text::named_formatter<bailey::Outcome> {};
#else
template <>
struct fmt::formatter<bailey::Outcome> : bailey::text::named_formatter<bailey::Outcome> {};
#endif
