// Which hosts an entry of a domain list stands for, and whether one entry covers another: as srt's proxy decides, when it decides.
// Loops of our own: gcc 12 rejects string_view::find and == on a template argument under UBSan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bailey::hosts {

/// An IP address as one number of 128 bits; IPv4 stands at the end, as in ::ffff:1.2.3.4, to which srt takes it for equal.
struct Address {
    std::uint64_t high = 0, low = 0;
    bool valid = false;

    constexpr void append(unsigned bits, std::uint64_t value) {
        high = high << bits | low >> (64 - bits);
        low = low << bits | value;
    }
    [[nodiscard]] constexpr bool operator==(const Address&) const = default;
};

namespace detail {
[[nodiscard]] constexpr unsigned hex_digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return 16;
}
[[nodiscard]] constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// `text` from there on, as far as it is compared; either case.
[[nodiscard]] constexpr bool same_from(std::string_view text, std::size_t from, std::string_view other) {
    if (text.size() - from != other.size()) return false;
    for (std::size_t i = other.size(); i > 0; --i)  // hosts differ in front; but most pairs differ in their last letters already
        if (lower(text[from + i - 1]) != lower(other[i - 1])) return false;
    return true;
}

[[nodiscard]] constexpr bool append_ipv4(Address& address, std::string_view text) {
    unsigned value = 0, digits = 0, numbers = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && text[i] != '.') {
            const unsigned digit = hex_digit(text[i]);
            if (digit > 9 || ++digits > 3) return false;
            value = value * 10 + digit;
        } else {
            if (digits == 0 || value > 255 || ++numbers > 4) return false;
            address.append(8, value);
            value = digits = 0;
        }
    }
    return numbers == 4;
}
}  // namespace detail

/// Invalid for what is a name.
[[nodiscard]] constexpr Address address_of(std::string_view host) {
    Address address;
    if (host.empty()) return address;
    if (host[0] != '[') {
        if (detail::hex_digit(host[0]) > 9) return address;
        address.low = 0xffff;
        address.valid = detail::append_ipv4(address, host);
        return address;
    }
    // The groups before "::" and those behind it, put together at the end.
    host = host.substr(1, host.size() - 2);
    Address parts[2];
    unsigned bits[2] = {0, 0};
    std::size_t part = 0;
    for (std::size_t i = 0; i < host.size();) {
        if (host[i] == ':') {
            if (i + 1 < host.size() && host[i + 1] == ':') {
                if (part == 1) return address;
                part = 1;
                ++i;
            }
            ++i;
            continue;
        }
        std::size_t end = i;
        std::uint64_t group = 0;
        while (end < host.size() && detail::hex_digit(host[end]) < 16) group = group << 4 | detail::hex_digit(host[end++]);
        if (end < host.size() && host[end] == '.') {
            if (!detail::append_ipv4(parts[part], host.substr(i))) return address;
            bits[part] += 32;
            break;
        }
        if (end == i || end - i > 4) return address;
        parts[part].append(16, group);
        bits[part] += 16;
        i = end;
    }
    if (bits[0] + bits[1] > 128 || (part == 0 && bits[0] != 128)) return address;
    address = parts[0];
    for (unsigned left = 128 - bits[0]; left > 0; left -= 16) address.append(16, 0);
    address.high |= parts[1].high;
    address.low |= parts[1].low;
    address.valid = true;
    return address;
}

/// "*.example.com:443" taken apart. Port 0: any; asked for as a destination it means "a port that no entry names".
struct Pattern {
    std::string_view host{};  ///< without "*." and port; an IPv6 address keeps its brackets; empty with `below`: every host
    bool below = false;       ///< not the host but every host below it
    unsigned port = 0;
    std::uint64_t key = 0;  ///< equal for equal hosts, so that most pairs are told apart at once (clang counts a constant's steps)
};

[[nodiscard]] constexpr std::uint64_t key_of(std::string_view host) {
    const Address address = address_of(host);
    std::uint64_t key = 14695981039346656037U;
    if (address.valid) return key ^ address.high ^ (address.low << 1 | 1U);
    for (const char c : host) key = (key ^ static_cast<unsigned char>(detail::lower(c))) * 1099511628211U;
    return key;
}

[[nodiscard]] constexpr Pattern split(std::string_view entry) {
    Pattern pattern{entry};
    std::size_t colon = entry.size();
    for (std::size_t i = entry.size(); i > 0 && entry[i - 1] != ']'; --i)
        if (entry[i - 1] == ':') colon = i - 1;
    for (std::size_t i = colon + 1; i < entry.size(); ++i) pattern.port = pattern.port * 10 + static_cast<unsigned>(entry[i] - '0');
    pattern.host = entry.substr(0, colon);
    pattern.below = !pattern.host.empty() && pattern.host[0] == '*';
    if (pattern.below) pattern.host = pattern.host.substr(pattern.host.size() > 1 ? 2 : 1);
    pattern.key = key_of(pattern.host);
    return pattern;
}

/// They point into the entries.
[[nodiscard]] inline std::vector<Pattern> patterns(const std::vector<std::string>& entries) {
    std::vector<Pattern> list;
    for (const auto& entry : entries) list.push_back(split(entry));
    return list;
}

[[nodiscard]] inline std::string to_string(const Pattern& pattern) {
    std::string text{pattern.host};
    if (pattern.below) text.insert(0, text.empty() ? "*" : "*.");
    return pattern.port == 0 ? text : text.append(":").append(std::to_string(pattern.port));
}

[[nodiscard]] constexpr bool same_host(std::string_view a, std::string_view b) {
    if (detail::same_from(a, 0, b)) return true;
    if ((a.empty() || a[0] != '[') && (b.empty() || b[0] != '[')) return false;
    const Address address = address_of(a);
    return address.valid && address == address_of(b);
}

[[nodiscard]] constexpr bool covers_host(const Pattern& wide, const Pattern& narrow) {
    if (!wide.below) return wide.key == narrow.key && !narrow.below && same_host(wide.host, narrow.host);
    if (wide.host.empty()) return true;
    const std::string_view name = narrow.host;
    if (name.size() <= wide.host.size()) return narrow.below && detail::same_from(name, 0, wide.host);
    const std::size_t dot = name.size() - wide.host.size() - 1;
    return name[dot] == '.' && detail::same_from(name, dot + 1, wide.host);
}

/// Every host and port of `narrow` is one of `wide`.
[[nodiscard]] constexpr bool covers(const Pattern& wide, const Pattern& narrow) {
    return (wide.port == 0 || wide.port == narrow.port) && covers_host(wide, narrow);
}

/// What two patterns have in common: they overlap only where one's host covers the other's.
struct Overlap {
    bool any = false;
    Pattern common{};
};
[[nodiscard]] constexpr Overlap overlap(const Pattern& a, const Pattern& b) {
    if (a.port != 0 && b.port != 0 && a.port != b.port) return {};
    Overlap result;
    if (covers_host(a, b)) {
        result = {true, b};
    } else if (covers_host(b, a)) {
        result = {true, a};
    }
    result.common.port = a.port != 0 ? a.port : b.port;
    return result;
}

}  // namespace bailey::hosts
