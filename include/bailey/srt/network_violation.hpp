// What srt's proxy refused, in bailey's words. Its lines read "deny network-outbound host:port (reason)".
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bailey/base/text.hpp>
#include <bailey/base/violation.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/permits.hpp>

namespace bailey::srt {

/// What would permit a host that this rule refuses; with a port, there alone.
[[nodiscard]] inline std::string network_remedy(std::string_view rule, std::string_view entry) {
    if (rule.starts_with("the denied")) return "take it from the DomainDenylist if it is meant to be reached";
    const auto host = entry.substr(0, entry.rfind(':'));
    if (!entry.starts_with('[') && host != "localhost" && host.find('.') == host.npos) return "none: a host without a dot in its name cannot be allowed; ask for its full name";
    return text::concat({"add DomainAllowlist<", text::quoted(entry), ">"});
}

[[nodiscard]] inline Violation network_violation(std::string_view line, const Boundary& boundary) {
    constexpr std::string_view beginning = "deny network-outbound ";
    const auto open = line.find(" (");
    if (!line.starts_with(beginning) || open == line.npos)
        return {ViolationKind::network, std::string{line}, "srt refused it", "see the words of srt", true};
    std::string subject{line.substr(beginning.size(), open - beginning.size())};
    std::string reason{line.substr(open + 2)};
    if (reason.ends_with(')')) reason.pop_back();

    const auto colon = subject.rfind(':');
    const auto host = subject.substr(0, colon);
    const auto port = colon == subject.npos ? 0UL : std::strtoul(subject.c_str() + colon + 1, nullptr, 10);
    if (host.find(':') != host.npos && !host.starts_with('[')) subject = text::concat({"[", host, "]", subject.substr(colon)});
    const auto permission = boundary.permits_host(host, static_cast<std::uint16_t>(port <= 65535 ? port : 0));
    const bool decided = reason == "host is not on the allow list" || reason == "host is on the deny list";
    std::string rule = permission.allowed ? reason : permission.rule;
    if (!permission.allowed && !decided) rule += text::concat({" (", reason, ")"});
    std::string remedy = permission.allowed ? "the name may lead to an address that is refused" : network_remedy(permission.rule, subject);
    return {ViolationKind::network, std::move(subject), std::move(rule), std::move(remedy), true};
}

/// Each once: a program that tries again says nothing new.
[[nodiscard]] inline std::vector<Violation> network_violations(const std::vector<std::string>& lines, const Boundary& boundary) {
    std::vector<Violation> violations;
    for (const auto& line : lines) {
        auto violation = network_violation(line, boundary);
        const auto same = [&](const Violation& other) { return other.subject == violation.subject && other.rule == violation.rule; };
        if (std::none_of(violations.begin(), violations.end(), same)) violations.push_back(std::move(violation));
    }
    return violations;
}

}  // namespace bailey::srt
