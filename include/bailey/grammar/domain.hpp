// Which hosts a domain list can name. Stricter than srt, and never wider: all that is accepted here, srt's own validator accepts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <bailey/base/fixed_string.hpp>
#include <bailey/grammar/fault.hpp>
#include <bailey/grammar/scan.hpp>

namespace bailey::grammar {

// entry    := host [":" port]
// host     := name | "*." name | IPv4 | "[" IPv6 "]" | "localhost"       and "*" where hosts are denied
// name     := label ("." label)+, a label being 1 to 63 letters, digits, "-" (not at its ends) and "_"; 253 characters in all
// port     := 1 to 65535 without leading zeros
//
// Case does not matter (`fold_domain` is what srt gets). A host is matched as it is spelled: "example.com" is not
// "*.example.com".
#define BAILEY_DOMAIN_RULES(RULE)                                                                                                \
    RULE(empty, "a domain is empty; write a host such as \"example.com\"")                                                       \
    RULE(control_character, "a domain holds a control character; write the host alone, such as \"example.com\"")                 \
    RULE(space, "a domain holds a space; write one host per entry, such as \"example.com\"")                                     \
    RULE(not_ascii, "a domain is not ASCII; write its punycode form, such as \"xn--mnchen-3ya.example\"")                        \
    RULE(scheme, "a domain has no scheme; write \"example.com\" instead of \"https://example.com\"")                             \
    RULE(path, "a domain has no path or query, requests are bounded by host and port only; write \"example.com\"")               \
    RULE(address_range, "a domain is no address range; write each address, such as \"10.0.0.1\"")                                \
    RULE(user_info, "a domain has no user name; write \"example.com\" instead of \"user@example.com\"")                          \
    RULE(trailing_dot, "a domain does not end in a dot; write \"example.com\" instead of \"example.com.\"")                      \
    RULE(empty_label, "a domain has an empty part; write one dot between parts and none in front, as in \"example.com\"")        \
    RULE(label_too_long, "a part of a domain has more than 63 characters, no such host exists; write a shorter part")            \
    RULE(too_long, "a domain has more than 253 characters, no such host exists; write a shorter name")                           \
    RULE(character, "a domain consists of letters, digits, hyphens, underscores and dots; write a name such as \"example.com\"") \
    RULE(hyphen, "a part of a domain starts or ends with a hyphen; write a name such as \"my-host.example.com\"")                \
    RULE(wildcard_alone, "\"*\" would allow every host; write the domains that are needed, such as \"*.example.com\"")           \
    RULE(wildcard_inside, "a wildcard is the whole first part of a domain; write \"*.example.com\"")                             \
    RULE(wildcard_too_wide, "a wildcard needs two parts behind it, else it spans strangers' hosts; write \"*.example.com\"")     \
    RULE(wildcard_denied, "a whole top-level domain cannot be denied, srt takes no such entry; write \"*\", or the domains")        \
    RULE(public_suffix, "anyone can get a name under this suffix; write the owner's part too, such as \"*.example.co.uk\"")      \
    RULE(wildcard_address, "an address has no wildcard; write each address, such as \"10.0.0.1\"")                               \
    RULE(wildcard_host, "a proxy is one host; write its name instead of a wildcard")                                             \
    RULE(ipv4, "an IPv4 address is four decimal numbers from 0 to 255 without leading zeros; write \"127.0.0.1\"")               \
    RULE(ipv6_without_brackets, "an IPv6 address stands in brackets; write \"[::1]\" or \"[::1]:443\"")                          \
    RULE(ipv6_zone, "an IPv6 address has no zone here; write \"[fe80::1]\" instead of \"[fe80::1%eth0]\"")                       \
    RULE(ipv6, "brackets hold an IPv6 address of eight groups, or fewer with one \"::\"; write \"[::1]\" or \"[2001:db8::1]\"")  \
    RULE(bracket, "brackets enclose an IPv6 address, and only a port follows them; write \"[::1]\" or \"[::1]:443\"")            \
    RULE(port, "a port is a number from 1 to 65535 without leading zeros; write \"example.com:443\"")                            \
    RULE(single_label, "a host name needs a dot, only \"localhost\" has none; write the full name, such as \"example.com\"")

#define BAILEY_ENUMERATOR(kind, sentence) kind,
#define BAILEY_CASE(kind, sentence) \
    case DomainFault::kind:         \
        return sentence;
#define BAILEY_CHECK(kind, sentence) static_assert(Kind != DomainFault::kind, "bailey: " sentence);

enum class DomainFault { none, BAILEY_DOMAIN_RULES(BAILEY_ENUMERATOR) };

[[nodiscard]] constexpr std::string_view sentence(DomainFault fault) {
    switch (fault) {
        BAILEY_DOMAIN_RULES(BAILEY_CASE)
        case DomainFault::none: break;
    }
    return {};
}

/// Made only to fail: its name says what is wrong, where, and with which value.
template <DomainFault Kind, class Position, class Value>
struct refused_domain {
    BAILEY_DOMAIN_RULES(BAILEY_CHECK)
};

#undef BAILEY_CHECK
#undef BAILEY_CASE
#undef BAILEY_ENUMERATOR
#undef BAILEY_DOMAIN_RULES

enum class DomainUse {
    allow,
    deny,   ///< "*" and wildcards over public suffixes too: a wide denial is no danger
    proxy,  ///< one host that need not have a dot; no wildcards
};

/// Suffixes below which strangers get names for the asking; a wildcard over one of them is refused in an allowlist.
/// A short list of those seen in practice, not the whole Public Suffix List: it catches slips, it is no guarantee.
// clang-format off
inline constexpr std::string_view public_suffixes[] = {
    "ac.uk", "co.uk", "gov.uk", "ltd.uk", "me.uk", "net.uk", "org.uk", "plc.uk", "sch.uk",
    "com.au", "edu.au", "gov.au", "id.au", "net.au", "org.au",
    "ac.nz", "co.nz", "govt.nz", "net.nz", "org.nz", "ac.jp", "co.jp", "go.jp", "ne.jp", "or.jp",
    "ac.kr", "co.kr", "go.kr", "or.kr", "ac.in", "co.in", "gov.in", "net.in", "org.in",
    "com.cn", "edu.cn", "gov.cn", "net.cn", "org.cn", "com.hk", "org.hk", "com.tw", "org.tw", "com.sg",
    "com.br", "gov.br", "net.br", "org.br", "com.ar", "com.mx", "org.mx", "com.co", "com.pe", "com.ve",
    "ac.za", "co.za", "org.za", "co.ke", "com.ng", "com.eg", "co.il", "org.il", "com.tr", "org.tr",
    "co.id", "com.my", "com.ph", "co.th", "com.vn", "com.pk", "com.sa", "com.ua", "com.pl", "com.pt",
    "co.at", "or.at", "com.es", "com.fr", "com.gr", "co.it", "com.ru",
    "github.io", "gitlab.io", "pages.dev", "workers.dev", "vercel.app", "netlify.app", "herokuapp.com",
    "web.app", "firebaseapp.com", "appspot.com", "run.app", "fly.dev", "onrender.com", "azurewebsites.net",
    "ngrok.io", "ngrok.app", "ngrok-free.app", "trycloudflare.com", "loca.lt", "duckdns.org",
};
// clang-format on

[[nodiscard]] constexpr bool is_public_suffix(std::string_view name) {
    for (const std::string_view& suffix : public_suffixes)
        if (same_folded(name, suffix)) return true;
    return false;
}

/// Four decimal numbers: what every resolver reads alike ("127.1" and "0x7f.1" are addresses to some and names to others).
[[nodiscard]] constexpr bool is_ipv4(std::string_view text) {
    std::size_t numbers = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const std::size_t start = i;
        unsigned value = 0;
        for (; i < text.size() && is_digit(text[i]) && i - start < 3; ++i)
            value = value * 10 + static_cast<unsigned>(text[i] - '0');
        const bool leading_zero = i - start > 1 && text[start] == '0';
        if (i == start || leading_zero || value > 255 || (i < text.size() && text[i] != '.')) return false;
        ++numbers;
    }
    return numbers == 4;
}

[[nodiscard]] constexpr bool is_ipv6(std::string_view text) {
    std::size_t groups = 0;
    bool shortened = false;
    std::size_t i = 0;
    if (starts_with(text, "::")) {
        shortened = true;
        i = 2;
    }
    while (i < text.size()) {
        const std::size_t start = i;
        while (i < text.size() && is_hex(text[i])) ++i;
        if (i < text.size() && text[i] == '.') {  // the last 32 bits may be written as IPv4
            groups += 2;
            if (!is_ipv4(text.substr(start))) return false;
            break;
        }
        if (i == start || i - start > 4) return false;
        ++groups;
        if (i == text.size()) break;
        if (text[i] != ':' || ++i == text.size()) return false;
        if (text[i] == ':') {
            if (shortened) return false;
            shortened = true;
            ++i;
        }
    }
    return shortened ? groups <= 7 : groups == 8;
}

/// "1.2.3.4", "256.1.1.1", "127.1", "x.0x7f": a resolver takes a name whose last part is a number for an address.
[[nodiscard]] constexpr bool ends_in_number(std::string_view host) {
    std::size_t start = host.size();
    while (start > 0 && host[start - 1] != '.') --start;
    const std::string_view last = host.substr(start);
    const bool hex = last.size() >= 2 && last[0] == '0' && lower(last[1]) == 'x';
    for (std::size_t i = hex ? 2 : 0; i < last.size(); ++i)
        if (!(hex ? is_hex(last[i]) : is_digit(last[i]))) return false;
    return !last.empty();
}

/// `from`: where the digits start, behind the colon.
[[nodiscard]] constexpr Fault<DomainFault> port_fault(std::string_view entry, std::size_t from) {
    const Fault<DomainFault> bad{DomainFault::port, from};
    if (from == entry.size() || entry.size() - from > 5 || entry[from] == '0') return bad;
    unsigned port = 0;
    for (std::size_t i = from; i < entry.size(); ++i) {
        if (!is_digit(entry[i])) return bad;
        port = port * 10 + static_cast<unsigned>(entry[i] - '0');
    }
    return port > 65535 ? bad : Fault<DomainFault>{};
}

/// What cannot be part of any host: said first, because it tells best what the author meant.
[[nodiscard]] constexpr Fault<DomainFault> foreign_character(std::string_view entry) {
    for (std::size_t i = 0; i < entry.size(); ++i) {
        const char c = entry[i];
        if (is_control(c)) return {DomainFault::control_character, i};
        if (c == ' ') return {DomainFault::space, i};
        if (!is_ascii(c)) return {DomainFault::not_ascii, i};
        if (c == '@') return {DomainFault::user_info, i};
        if (c == '?' || c == '#') return {DomainFault::path, i};
        if (c == ':' && starts_with(entry.substr(i), "://")) return {DomainFault::scheme, i};
        if (c == '/') {
            const std::string_view before = entry.substr(0, i);
            const bool address = entry[0] == '[' || ends_in_number(before) || contains(before, ':');
            const bool range = address && i + 1 < entry.size() && is_digit(entry[i + 1]);
            return {range ? DomainFault::address_range : DomainFault::path, i};
        }
    }
    return {};
}

[[nodiscard]] constexpr Fault<DomainFault> bracketed_fault(std::string_view entry) {
    const std::size_t close = index_of(entry, ']');
    if (close == npos) return {DomainFault::bracket, 0};
    const std::string_view address = entry.substr(1, close - 1);
    if (const std::size_t zone = index_of(address, '%'); zone != npos) return {DomainFault::ipv6_zone, zone + 1};
    if (!is_ipv6(address)) return {DomainFault::ipv6, 1};
    if (close + 1 == entry.size()) return {};
    if (entry[close + 1] != ':') return {DomainFault::bracket, close + 1};
    return port_fault(entry, close + 2);
}

/// The parts of a host from offset `from` on.
[[nodiscard]] constexpr Fault<DomainFault> labels_fault(std::string_view host, std::size_t from) {
    for (std::size_t start = from; start <= host.size();) {
        std::size_t end = start;
        for (; end < host.size() && host[end] != '.'; ++end) {
            const char c = host[end];
            if (c == '*') return {DomainFault::wildcard_inside, end};
            if (c == '[' || c == ']') return {DomainFault::bracket, end};
            if (!is_letter(c) && !is_digit(c) && c != '-' && c != '_') return {DomainFault::character, end};
        }
        if (end == start) return {DomainFault::empty_label, start};
        if (end - start > 63) return {DomainFault::label_too_long, start + 63};
        if (host[start] == '-') return {DomainFault::hyphen, start};
        if (host[end - 1] == '-') return {DomainFault::hyphen, end - 1};
        start = end + 1;
    }
    return {};
}

[[nodiscard]] constexpr Fault<DomainFault> host_fault(std::string_view host, DomainUse use) {
    if (host.empty()) return {DomainFault::empty, 0};
    if (same(host, "*")) {
        if (use == DomainUse::deny) return {};
        return {use == DomainUse::allow ? DomainFault::wildcard_alone : DomainFault::wildcard_host, 0};
    }
    if (host.size() > 253) return {DomainFault::too_long, 253};
    if (host.size() > 1 && host[host.size() - 1] == '.') return {DomainFault::trailing_dot, host.size() - 1};

    const bool wildcard = starts_with(host, "*.");
    if (wildcard && use == DomainUse::proxy) return {DomainFault::wildcard_host, 0};
    const std::size_t name = wildcard ? 2 : 0;
    if (const auto fault = labels_fault(host, name)) return fault;

    if (ends_in_number(host)) {
        if (wildcard) return {DomainFault::wildcard_address, 0};
        return is_ipv4(host) ? Fault<DomainFault>{} : Fault<DomainFault>{DomainFault::ipv4, 0};
    }
    const bool single = !contains(host.substr(name), '.');
    if (wildcard) {
        if (single) return {use == DomainUse::deny ? DomainFault::wildcard_denied : DomainFault::wildcard_too_wide, 0};
        if (use == DomainUse::allow && is_public_suffix(host.substr(name))) return {DomainFault::public_suffix, name};
    } else if (single && use != DomainUse::proxy && !same_folded(host, "localhost")) {
        return {DomainFault::single_label, 0};
    }
    return {};
}

/// The rule for one entry of a domain list.
[[nodiscard]] constexpr Fault<DomainFault> domain_fault(std::string_view entry, DomainUse use) {
    if (entry.empty()) return {DomainFault::empty, 0};
    if (const auto fault = foreign_character(entry)) return fault;
    if (entry[0] == '[') return bracketed_fault(entry);

    const std::size_t colon = index_of(entry, ':');
    if (colon == npos) return host_fault(entry, use);
    if (const std::size_t second = index_of(entry, ':', colon + 1); second != npos) {
        for (std::size_t i = 0; i < entry.size() && entry[i] != '%'; ++i) {
            if (entry[i] == '[' || entry[i] == ']') {
                return {DomainFault::bracket, i};
            } else if (!is_hex(entry[i]) && entry[i] != ':' && entry[i] != '.') {
                return {DomainFault::port, colon + 1};
            }
        }
        return {DomainFault::ipv6_without_brackets, 0};
    }
    if (const auto fault = host_fault(entry.substr(0, colon), use)) return fault;
    return port_fault(entry, colon + 1);
}

template <fixed_string Value, DomainUse Use>
inline constexpr auto judged_domain = domain_fault(Value.view(), Use);

/// Compiles to true, or not at all.
template <fixed_string Value, DomainUse Use>
consteval bool accepts_domain() {
    if constexpr (constexpr auto fault = judged_domain<Value, Use>; fault.kind != DomainFault::none) {
        using refused = refused_domain<fault.kind, at<fault.position>, spelled<Value>>;
        look_into(static_cast<refused*>(nullptr));
    }
    return true;
}

/// The spelling that srt gets: lower case.
[[nodiscard]] inline std::string fold_domain(std::string_view entry) {
    std::string result{entry};
    for (char& c : result) c = lower(c);
    return result;
}

}  // namespace bailey::grammar
