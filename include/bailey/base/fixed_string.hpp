// A string literal as a template argument: Allow<"/tmp/build">.
#pragma once

#include <cstddef>
#include <string_view>

namespace bailey {

template <std::size_t Size>
struct fixed_string {
    char chars[Size]{};

    consteval fixed_string(const char (&literal)[Size]) {  // NOLINT: implicit on purpose, so that a literal can be an argument
        for (std::size_t i = 0; i < Size; ++i) chars[i] = literal[i];
    }

    /// The text without the terminating NUL; a NUL inside stays, so that the grammar can refuse it.
    [[nodiscard]] constexpr std::string_view view() const { return {chars, Size - 1}; }
};

}  // namespace bailey
