// Which URLs can name an upstream proxy.
#pragma once

#include <cstddef>
#include <string_view>

#include <bailey/base/fixed_string.hpp>
#include <bailey/grammar/domain.hpp>
#include <bailey/grammar/fault.hpp>
#include <bailey/grammar/scan.hpp>

namespace bailey::grammar {

// url := ("http://" | "https://") [user [":" password] "@"] host [":" port] ["/"]; a user only at run time
#define BAILEY_URL_RULES(RULE)                                                                                                   \
    RULE(character,                                                                                                              \
         "a proxy URL holds a space, a control character or a letter outside ASCII; write \"http://proxy.example:3128\"")        \
    RULE(scheme, "a proxy URL starts with http:// or https://; write \"http://proxy.example:3128\"")                             \
    RULE(credential, "a password does not belong in source code; give the URL at run time: runtime::UpstreamProxy")              \
    RULE(path, "a proxy URL ends behind host and port; write \"http://proxy.example:3128\"")                                     \
    RULE(host,                                                                                                                   \
         "a proxy URL names one host: a name, an IPv4 address or a bracketed IPv6 address; write \"http://proxy.example:3128\"") \
    RULE(port, "a port is a number from 1 to 65535 without leading zeros; write \"http://proxy.example:3128\"")

#define BAILEY_ENUMERATOR(kind, sentence) kind,
#define BAILEY_CASE(kind, sentence) \
    case UrlFault::kind:            \
        return sentence;
#define BAILEY_CHECK(kind, sentence) static_assert(Kind != UrlFault::kind, "bailey: " sentence);

enum class UrlFault { none, BAILEY_URL_RULES(BAILEY_ENUMERATOR) };

[[nodiscard]] constexpr std::string_view sentence(UrlFault fault) {
    switch (fault) {
        BAILEY_URL_RULES(BAILEY_CASE)
        case UrlFault::none: break;
    }
    return {};
}

/// Made only to fail: its name says what is wrong, where, and with which value.
template <UrlFault Kind, class Position, class Value>
struct refused_url {
    BAILEY_URL_RULES(BAILEY_CHECK)
};

#undef BAILEY_CHECK
#undef BAILEY_CASE
#undef BAILEY_ENUMERATOR
#undef BAILEY_URL_RULES

enum class UrlUse { literal, runtime };

[[nodiscard]] constexpr Fault<UrlFault> proxy_url_fault(std::string_view url, UrlUse use) {
    for (std::size_t i = 0; i < url.size(); ++i)
        if (is_control(url[i]) || url[i] == ' ' || !is_ascii(url[i])) return {UrlFault::character, i};
    std::size_t host = 0;
    if (starts_with(url, "http://")) host = 7;
    if (starts_with(url, "https://")) host = 8;
    if (host == 0) return {UrlFault::scheme, 0};

    std::size_t end = host;
    while (end < url.size() && url[end] != '/' && url[end] != '?' && url[end] != '#') ++end;
    if (end + 1 < url.size() || (end < url.size() && url[end] != '/')) return {UrlFault::path, end};
    for (std::size_t i = end; i > host; --i) {
        if (url[i - 1] != '@') continue;
        if (use == UrlUse::literal) return {UrlFault::credential, host};
        host = i;
        break;
    }
    const auto fault = domain_fault(url.substr(host, end - host), DomainUse::proxy);
    if (!fault) return {};
    return {fault.kind == DomainFault::port ? UrlFault::port : UrlFault::host, host + fault.position};
}

template <fixed_string Value>
inline constexpr auto judged_proxy_url = proxy_url_fault(Value.view(), UrlUse::literal);

/// Compiles to true, or not at all.
template <fixed_string Value>
consteval bool accepts_proxy_url() {
    if constexpr (constexpr auto fault = judged_proxy_url<Value>; fault.kind != UrlFault::none) {
        using refused = refused_url<fault.kind, at<fault.position>, spelled<Value>>;
        look_into(static_cast<refused*>(nullptr));
    }
    return true;
}

}  // namespace bailey::grammar
