// Text that is put together, and text from outside that is shown to people and models.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace bailey::text {

/// For the library's own sentences: a format string would cost every user's compiler an instantiation for each of them.
[[nodiscard]] inline std::string concat(std::initializer_list<std::string_view> parts) {
    std::string joined;
    for (const auto part : parts) joined += part;
    return joined;
}

/// The size of the character that the text begins with, or 0 where that is no UTF-8.
[[nodiscard]] constexpr std::size_t utf8_character(std::string_view text) {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
    const auto follows = [&](std::size_t at) { return (byte(at) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0);
    if (first < 0x80U) return text.empty() ? 0 : 1;
    if (first >= 0xC2U && first <= 0xDFU && follows(1)) return 2;
    if (first >= 0xE0U && first <= 0xEFU && follows(1) && follows(2) && !(first == 0xE0U && byte(1) < 0xA0U) && !(first == 0xEDU && byte(1) > 0x9FU)) return 3;
    if (first >= 0xF0U && first <= 0xF4U && follows(1) && follows(2) && follows(3) && !(first == 0xF0U && byte(1) < 0x90U) && !(first == 0xF4U && byte(1) > 0x8FU)) return 4;
    return 0;
}

[[nodiscard]] constexpr bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto size = utf8_character(text);
        if (size == 0) return false;
        text.remove_prefix(size);
    }
    return true;
}

/// Each byte that is no UTF-8 becomes U+FFFD.
[[nodiscard]] inline std::string to_utf8(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const auto size = utf8_character(text);
        result += size == 0 ? std::string_view{"\xEF\xBF\xBD"} : text.substr(0, size);
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return result;
}

/// Where control characters (C0, DEL, C1) would steer a terminal, separators and marks of direction (U+2000-206F, U+FEFF) deceive a
/// reader, and bytes that are no UTF-8 spoil what holds them.
[[nodiscard]] constexpr bool is_plain(std::string_view character) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(character[at]); };
    switch (utf8_character(character)) {
        case 0: return false;
        case 1: return byte(0) >= 0x20 && byte(0) != 0x7F;
        case 2: return !(byte(0) == 0xC2 && byte(1) < 0xA0);
        case 3: return !(byte(0) == 0xE2 && (byte(1) == 0x80 || (byte(1) == 0x81 && byte(2) < 0xB0))) && character != "\xEF\xBB\xBF";
        default: return true;
    }
}

/// On one line, as it is but for what is not plain: its bytes are written \xNN. A backslash goes before what is in `escaped`.
[[nodiscard]] inline std::string plain(std::string_view text, std::string_view escaped = {}) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string result;
    while (!text.empty()) {
        const auto size = utf8_character(text);
        const auto character = text.substr(0, size == 0 ? 1 : size);
        text.remove_prefix(character.size());
        if (escaped.find(character[0]) != escaped.npos) result += '\\';
        if (is_plain(character)) {
            result += character;
        } else {
            for (const char byte : character) result += concat({"\\x", hex.substr(static_cast<unsigned char>(byte) >> 4, 1), hex.substr(static_cast<unsigned char>(byte) & 15, 1)});
        }
    }
    return result;
}

[[nodiscard]] inline std::string quoted(std::string_view text) { return concat({"\"", plain(text, "\"\\"), "\""}); }

}  // namespace bailey::text
