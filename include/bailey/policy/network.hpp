// Which hosts a command can reach. Without any of these there is no network at all.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bailey/base/fixed_string.hpp>
#include <bailey/base/platform.hpp>
#include <bailey/base/text.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/grammar/domain.hpp>
#include <bailey/grammar/path.hpp>
#include <bailey/grammar/url.hpp>

namespace bailey {

namespace policy {

// Entries that passed the grammar.
inline void allow_domain(Boundary& b, std::string_view entry) { b.allowed_domains.push_back(grammar::fold_domain(entry)); }
inline void deny_domain(Boundary& b, std::string_view entry) { b.denied_domains.push_back(grammar::fold_domain(entry)); }

inline void allow_unix_socket(Boundary& boundary, std::string_view path) {
    if constexpr (on_linux)
        boundary.refusals.push_back(
            "bailey: on Linux, Unix sockets cannot be allowed by path, because the seccomp filter that stops them sees no paths; "
            "use AllUnixSockets, which gives up that filter, or do without (in UnixSocketAllowlist: " +
            text::quoted(path) + ")");
    else
        boundary.unix_sockets.emplace_back(path);
}

/// A URL as messages may show it: without the user and the password that a run-time URL can have.
[[nodiscard]] inline std::string without_user_info(std::string_view url) {
    std::size_t at = url.size();
    while (at > 0 && url[at - 1] != '@') --at;
    if (at == 0) return std::string{url};
    const std::size_t scheme = url.find("://");
    return std::string{url.substr(0, scheme < at ? scheme + 3 : 0)}.append("...@").append(url.substr(at));
}

inline void upstream_proxy(Boundary& boundary, std::string_view url) {
    if (!boundary.upstream_proxy.empty() && boundary.upstream_proxy != url)
        boundary.refusals.push_back("bailey: a workspace has one upstream proxy; remove one of " +
                                    text::quoted(without_user_info(boundary.upstream_proxy)) + " and " +
                                    text::quoted(without_user_info(url)) + " (in UpstreamProxy)");
    else
        boundary.upstream_proxy = url;
}

}  // namespace policy

/// Hosts that a command can reach: `DomainAllowlist<"api.github.com", "*.pypi.example", "localhost:8080", "[::1]:443">`.
///
/// An entry names one host as it is spelled in requests, or with `*.` all hosts below a domain, at any depth and without the
/// domain itself; a port narrows it to that port. Upper and lower case are alike. `DomainDenylist` wins over it. Default: no
/// host. Errors: what is no host and what is too wide (`"*"`, `"*.com"`, `"*.co.uk"`) does not compile. Limits: hosts are
/// compared by name at srt's proxy, so a program that ignores `HTTP_PROXY` and its kin reaches nothing; nor does one that heeds srt's
/// `NO_PROXY` reach `localhost` and private addresses, until `EnvValue<"NO_PROXY", "">` and `EnvValue<"no_proxy", "">` empty it. An IP address and a name
/// are two entries, even where one resolves to the other.
template <fixed_string... Domains>
struct DomainAllowlist {
    static_assert(grammar::all({grammar::accepts_domain<Domains, grammar::DomainUse::allow>()...}));
    void apply(Boundary& boundary) const {
        for (const std::string_view entry : std::initializer_list<std::string_view>{Domains.view()...})
            policy::allow_domain(boundary, entry);
    }
};

/// Hosts that a command cannot reach, whatever an allowlist says: `DomainDenylist<"metadata.example.com", "*.corp.example",
/// "*:22">`.
///
/// Entries as in `DomainAllowlist`, and also `"*"`: every host. Default: none beyond what is not allowed.
/// Errors: what is no host does not compile.
template <fixed_string... Domains>
struct DomainDenylist {
    static_assert(grammar::all({grammar::accepts_domain<Domains, grammar::DomainUse::deny>()...}));
    void apply(Boundary& boundary) const {
        for (const std::string_view entry : std::initializer_list<std::string_view>{Domains.view()...})
            policy::deny_domain(boundary, entry);
    }
};

/// Unix sockets of the host that a command can connect to, by path: `UnixSocketAllowlist<"/var/run/postgres/.s.PGSQL.5432">`.
///
/// Default: none. Errors: what is no path does not compile. Limits: macOS only. On Linux srt stops the system call that makes a
/// Unix socket, and that filter sees no paths: a workspace with this policy is refused there, and `AllUnixSockets` is the only
/// widening. A socket of a powerful daemon (docker, ssh-agent) hands its power to the command.
template <fixed_string... Paths>
struct UnixSocketAllowlist {
    static_assert(grammar::all({grammar::accepts_path<Paths, grammar::PathUse::socket>()...}));
    void apply(Boundary& boundary) const {
        for (const std::string_view path : std::initializer_list<std::string_view>{Paths.view()...})
            policy::allow_unix_socket(boundary, path);
    }
};

/// The HTTP proxy through which srt's own proxy reaches the hosts that are allowed:
/// `UpstreamProxy<"http://proxy.corp.example:3128">`.
///
/// Allows nothing by itself. Default: connect directly. Errors: anything but `http://` or `https://`, host and port does not
/// compile; neither does a user or a password, which belong in `runtime::UpstreamProxy`; two different proxies are refused at run
/// time.
template <fixed_string Url>
struct UpstreamProxy {
    static_assert(grammar::accepts_proxy_url<Url>());
    void apply(Boundary& boundary) const { policy::upstream_proxy(boundary, Url.view()); }
};

}  // namespace bailey
