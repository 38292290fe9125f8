// The one place that knows which formatting library is used: fmt, or <format> when BAILEY_USE_STD_FORMAT is defined.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#if defined(BAILEY_USE_STD_FORMAT)
#include <format>
#else
#include <fmt/format.h>
#endif

namespace bailey::text {

/// A piece of a sentence: text, or a whole number written out.
class Part {
public:
    Part(std::string_view text) : text_{text} {}      // NOLINT: implicit, all four, so that a sentence reads as a list
    Part(const char* text) : text_{text} {}           // NOLINT
    Part(const std::string& text) : text_{text} {}    // NOLINT
    template <class Number>
        requires std::is_integral_v<Number>
    Part(Number number) : digits_{std::to_string(number)} {}  // NOLINT

    [[nodiscard]] std::string_view view() const { return digits_.empty() ? text_ : std::string_view{digits_}; }

private:
    std::string_view text_;
    std::string digits_;  // short enough never to be allocated
};

/// For the library's own sentences: a format string would cost every user's compiler an instantiation for each of them.
[[nodiscard]] inline std::string concat(std::initializer_list<Part> parts) {
    std::string joined;
    for (const auto& part : parts) joined += part.view();
    return joined;
}

#if defined(BAILEY_USE_STD_FORMAT)
template <class T>
using formatter = std::formatter<T>;
#else
template <class T>
using formatter = fmt::formatter<T>;
#endif

/// What a type with a `to_string(T) -> std::string_view` needs to be formatted; honours width and fill.
template <class T>
struct named_formatter : formatter<std::string_view> {
    template <class Context>
    auto format(const T& value, Context& context) const {
        return formatter<std::string_view>::format(to_string(value), context);
    }
};
}  // namespace bailey::text
