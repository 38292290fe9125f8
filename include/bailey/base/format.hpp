// The one place that knows which formatting library is used: fmt, or <format> when BAILEY_USE_STD_FORMAT is defined.
#pragma once

#include <string_view>

#if defined(BAILEY_USE_STD_FORMAT)
#include <format>
#else
#include <fmt/format.h>
#endif

namespace bailey::text {

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
