// Looking at characters, in loops of our own: gcc 12 rejects string_view::find and == on a template argument under UBSan.
#pragma once

#include <cstddef>
#include <string_view>

namespace bailey::grammar {

inline constexpr std::size_t npos = std::string_view::npos;

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
[[nodiscard]] constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
[[nodiscard]] constexpr bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
[[nodiscard]] constexpr bool is_hex(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }
[[nodiscard]] constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
[[nodiscard]] constexpr bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

[[nodiscard]] constexpr std::size_t index_of(std::string_view text, char wanted, std::size_t from = 0) {
    for (std::size_t i = from; i < text.size(); ++i)
        if (text[i] == wanted) return i;
    return npos;
}

[[nodiscard]] constexpr bool contains(std::string_view text, char wanted) { return index_of(text, wanted) != npos; }

[[nodiscard]] constexpr std::size_t count(std::string_view text, char wanted) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < text.size(); ++i) found += text[i] == wanted;
    return found;
}

[[nodiscard]] constexpr bool starts_with(std::string_view text, std::string_view prefix) {
    if (text.size() < prefix.size()) return false;
    for (std::size_t i = 0; i < prefix.size(); ++i)
        if (text[i] != prefix[i]) return false;
    return true;
}

[[nodiscard]] constexpr bool same(std::string_view a, std::string_view b) { return a.size() == b.size() && starts_with(a, b); }

[[nodiscard]] constexpr bool ends_with(std::string_view text, std::string_view suffix) {
    return text.size() >= suffix.size() && same(text.substr(text.size() - suffix.size()), suffix);
}

/// As same(), upper and lower case alike; `folded` is in lower case already.
[[nodiscard]] constexpr bool same_folded(std::string_view text, std::string_view folded) {
    if (text.size() != folded.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (lower(text[i]) != folded[i]) return false;
    return true;
}

/// Neither `text` nor an entry of the list is empty; the first character is compared at once, to keep the compiler's steps few.
template <std::size_t Size>
[[nodiscard]] constexpr bool one_of(std::string_view text, const std::string_view (&list)[Size]) {
    const char first = text[0];
    for (const std::string_view& entry : list)
        if (entry[0] == first && same(text, entry)) return true;
    return false;
}

}  // namespace bailey::grammar
