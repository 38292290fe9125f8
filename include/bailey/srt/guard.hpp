// What the guard (scripts/guard.js) is given and what it notes: it runs in node before srt and ties srt's life to the host's.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <bailey/srt/scripts.hpp>

namespace bailey::srt {

/// Descriptors of srt, by number; the placeholders' follow.
inline constexpr int settings_fd = 3;
inline constexpr int lifeline_fd = 4;

/// What the guard noted under that letter.
[[nodiscard]] inline std::optional<std::string> guard_note(std::string_view notes, char letter) {
    while (!notes.empty()) {
        const auto end = notes.find('\n');
        if (end == std::string_view::npos) return std::nullopt;
        if (notes.front() == letter) return std::string{notes.substr(1, end - 1)};
        notes.remove_prefix(end + 1);
    }
    return std::nullopt;
}

[[nodiscard]] inline std::optional<int> noted_number(std::string_view notes, char letter) {
    const auto note = guard_note(notes, letter);
    int number = 0;
    if (!note || std::from_chars(note->data(), note->data() + note->size(), number).ec != std::errc{}) return std::nullopt;
    return number;
}

}  // namespace bailey::srt
