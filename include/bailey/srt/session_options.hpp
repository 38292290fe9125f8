// What a session can be told and asked, and what it tells of itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <bailey/base/callback.hpp>
#include <bailey/base/text.hpp>
#include <bailey/boundary/hosts.hpp>

namespace bailey {

/// A host that a command wants to reach and that no rule decides.
struct NetworkRequest {
    std::string host;  ///< a name, or an address without brackets
    std::uint16_t port = 0;

    /// As a DomainAllowlist names it.
    [[nodiscard]] std::string entry() const {
        std::string_view name = host;
        if (name.size() > 1 && name.ends_with('.')) name.remove_suffix(1);  // srt takes it away too
        const bool is_ipv6 = name.find(':') != name.npos;
        std::string entry = text::concat({is_ipv6 ? "[" : "", name, is_ipv6 ? "]:" : ":", std::to_string(port)});
        for (char& c : entry) c = hosts::detail::lower(c);
        return entry;
    }
};

class NetworkAnswer {
public:
    /// For this connection; the next one is asked about again.
    [[nodiscard]] static NetworkAnswer allow_once() { return NetworkAnswer{Kind::once, {}}; }
    /// That host at that port, for all commands of the session from now on. What no DomainAllowlist could name, as a name without a
    /// dot, is allowed once.
    [[nodiscard]] static NetworkAnswer allow_for_session() { return NetworkAnswer{Kind::session, {}}; }
    /// The command is told why, in the proxy's answer.
    [[nodiscard]] static NetworkAnswer deny(std::string reason = "denied") { return NetworkAnswer{Kind::denied, reason.empty() ? "denied" : std::move(reason)}; }

    enum class Kind { once, session, denied };
    [[nodiscard]] Kind kind() const { return kind_; }
    [[nodiscard]] const std::string& reason() const { return reason_; }

private:
    NetworkAnswer(Kind kind, std::string reason) : kind_{kind}, reason_{std::move(reason)} {}

    Kind kind_;
    std::string reason_;
};

struct SessionOptions {
    std::size_t prepared{1};                          ///< sandboxes that wait for the next commands, at most 64; 0 = none is prepared
    std::chrono::milliseconds time_to_live{30'000};   ///< of a sandbox that waits; with no command for as long, none is prepared anew
    /// Asked about hosts that are neither allowed nor denied; without it they are refused. Called in a thread of the session, one
    /// question at a time; an exception denies. It may use the session, and must return for the session to close.
    Callback<NetworkAnswer(const NetworkRequest&)> on_network_request{};
    std::chrono::milliseconds answer_within{30'000};  ///< what is not answered by then is denied; more than 0, as the time above
};

struct SessionStats {
    std::uint64_t commands = 0;    ///< that were started in this session, of which
    std::uint64_t prepared = 0;    ///< … found a sandbox waiting,
    std::uint64_t wrapped = 0;     ///< … had one made by the broker,
    std::uint64_t cold = 0;        ///< … were started by srt alone: docs/sessions.md says when
    std::uint64_t stale = 0;       ///< sandboxes that were thrown away because preparing them again would have given another
    std::uint64_t brokers = 0;     ///< started so far
    std::size_t waiting = 0;       ///< sandboxes that wait now
    std::size_t processes = 0;     ///< of the broker and of the sandboxes that wait
    std::uint64_t memory = 0;      ///< bytes of these processes, shared ones in proportion (Linux; what this user may not see is left out)
};

}  // namespace bailey
