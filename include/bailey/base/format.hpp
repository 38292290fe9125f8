// The one place that knows which formatting library is used: fmt, or <format> when BAILEY_USE_STD_FORMAT is defined.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#if defined(BAILEY_USE_STD_FORMAT)
#include <format>
#else
#include <fmt/format.h>
#endif

namespace bailey::text {

/// For the library's own sentences: a format string would cost every user's compiler an instantiation for each of them.
[[nodiscard]] inline std::string concat(std::initializer_list<std::string_view> parts) {
    std::string joined;
    for (const auto part : parts) joined += part;
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
