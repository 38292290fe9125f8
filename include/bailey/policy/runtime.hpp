// The policies whose values are known only at run time: the same rules and sentences, said when the workspace is made.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bailey/boundary/boundary.hpp>
#include <bailey/grammar/domain.hpp>
#include <bailey/grammar/environment.hpp>
#include <bailey/grammar/limits.hpp>
#include <bailey/grammar/path.hpp>
#include <bailey/grammar/url.hpp>
#include <bailey/policy/limits.hpp>
#include <bailey/policy/network.hpp>
#include <bailey/policy/refuse.hpp>

namespace bailey {

namespace policy {

/// Made from a braced list of strings or from a vector of them.
struct Strings {
    Strings() = default;
    Strings(std::initializer_list<std::string_view> entries) : values{entries.begin(), entries.end()} {}
    explicit Strings(std::vector<std::string> entries) : values{std::move(entries)} {}

    std::vector<std::string> values;
};

inline void paths(Boundary& boundary, std::string_view where, const Strings& list, grammar::PathUse use,
                  std::vector<std::string>& target) {
    for (const std::string& path : list.values)
        if (!refused(boundary, where, path, grammar::path_fault(path, use))) target.push_back(path);
}

inline void names(Boundary& boundary, std::string_view where, const Strings& list, grammar::EnvUse use,
                  std::vector<std::string>& target) {
    for (const std::string& name : list.values)
        if (!refused(boundary, where, name, grammar::env_name_fault(name, use))) target.push_back(name);
}

inline void limit(Boundary& boundary, std::string_view where, const std::optional<std::uint64_t>& value,
                  std::optional<std::uint64_t>& target, grammar::LimitUse use = grammar::LimitUse::any) {
    if (value && !refused(boundary, where, std::to_string(*value), grammar::limit_fault(*value, use))) tighten(target, *value);
}

}  // namespace policy

/// Values of an operator's configuration, say. Making one never fails; a workspace that is given a bad value throws one
/// `PolicyError` that holds the sentence for each.
namespace runtime {

/// As `bailey::DomainAllowlist`: `runtime::DomainAllowlist{"api.example.com"}` or from a `std::vector<std::string>`.
struct DomainAllowlist : policy::Strings {
    using Strings::Strings;
    void apply(Boundary& boundary) const {
        for (const std::string& entry : values)
            if (!policy::refused(boundary, "runtime::DomainAllowlist", entry,
                                 grammar::domain_fault(entry, grammar::DomainUse::allow)))
                policy::allow_domain(boundary, entry);
    }
};

/// As `bailey::DomainDenylist`.
struct DomainDenylist : policy::Strings {
    using Strings::Strings;
    void apply(Boundary& boundary) const {
        for (const std::string& entry : values)
            if (!policy::refused(boundary, "runtime::DomainDenylist", entry,
                                 grammar::domain_fault(entry, grammar::DomainUse::deny)))
                policy::deny_domain(boundary, entry);
    }
};

/// As `ReadPolicy<Allow<...>>`.
struct AllowRead : policy::Strings {
    using Strings::Strings;
    void apply(Boundary& b) const { policy::paths(b, "runtime::AllowRead", *this, grammar::PathUse::read, b.read_grants); }
};

/// As `ReadPolicy<Deny<...>>`.
struct DenyRead : policy::Strings {
    using Strings::Strings;
    void apply(Boundary& b) const { policy::paths(b, "runtime::DenyRead", *this, grammar::PathUse::deny, b.read_denials); }
};

/// As `WritePolicy<Allow<...>>`.
struct AllowWrite : policy::Strings {
    using Strings::Strings;
    void apply(Boundary& b) const { policy::paths(b, "runtime::AllowWrite", *this, grammar::PathUse::write, b.write_grants); }
};

/// As `WritePolicy<Deny<...>>`.
struct DenyWrite : policy::Strings {
    using Strings::Strings;
    void apply(Boundary& b) const { policy::paths(b, "runtime::DenyWrite", *this, grammar::PathUse::deny, b.write_denials); }
};

/// As `bailey::UnixSocketAllowlist`: macOS only, refused on Linux.
struct UnixSocketAllowlist : policy::Strings {
    using Strings::Strings;
    void apply(Boundary& boundary) const {
        for (const std::string& path : values)
            if (!policy::refused(boundary, "runtime::UnixSocketAllowlist", path,
                                 grammar::path_fault(path, grammar::PathUse::socket)))
                policy::allow_unix_socket(boundary, path);
    }
};

/// As `bailey::EnvAllowlist`.
struct EnvAllowlist : policy::Strings {
    using Strings::Strings;
    void apply(Boundary& b) const { policy::names(b, "runtime::EnvAllowlist", *this, grammar::EnvUse::pass, b.env_passed); }
};

/// WEAKENING. As `bailey::EnvCredential`: the command can print, keep and send these secrets.
struct EnvCredential : policy::Strings {
    using Strings::Strings;
    void apply(Boundary& b) const {
        policy::names(b, "runtime::EnvCredential", *this, grammar::EnvUse::credential, b.env_credentials);
    }
};

/// Variables with values given at run time: `runtime::Env{{"NODE_ENV", "test"}}`, or from a vector of pairs. They override the
/// baseline and `EnvValue`; of two values for one name the later holds. Names as for `EnvValue`; values are any bytes but NUL and
/// appear in no message.
struct Env {
    Env() = default;
    Env(std::initializer_list<EnvironmentEntry> entries) : values{entries} {}
    explicit Env(std::vector<EnvironmentEntry> entries) : values{std::move(entries)} {}

    void apply(Boundary& boundary) const {
        for (const auto& [name, value] : values) {
            if (policy::refused(boundary, "runtime::Env", name, grammar::env_name_fault(name, grammar::EnvUse::value))) continue;
            if (policy::refused(boundary, "runtime::Env, value of", name, grammar::env_value_fault(value))) continue;
            set(boundary.env_runtime_values, name, value);
        }
    }

    std::vector<EnvironmentEntry> values;

private:
    static void set(std::vector<EnvironmentEntry>& list, const std::string& name, const std::string& value) {
        for (auto& entry : list) {
            if (entry.first != name) continue;
            entry.second = value;
            return;
        }
        list.emplace_back(name, value);
    }
};

/// As `bailey::UpstreamProxy`; here the URL can have a user and a password:
/// `runtime::UpstreamProxy{"http://user:word@proxy.example:3128"}`. No message shows them, the settings that srt receives do.
struct UpstreamProxy {
    explicit UpstreamProxy(std::string proxy_url) : url{std::move(proxy_url)} {}

    void apply(Boundary& boundary) const {
        const auto fault = grammar::proxy_url_fault(url, grammar::UrlUse::runtime);
        if (!policy::refused(boundary, "runtime::UpstreamProxy", policy::without_user_info(url), fault))
            policy::upstream_proxy(boundary, url);
    }

    std::string url;
};

/// As `CpuTimeLimit`, `MemoryLimit` and so on, what is not set being not limited: `runtime::Limits{.cpu_seconds = 60,
/// .memory_bytes = 4_GiB}`.
struct Limits {
    std::optional<std::uint64_t> cpu_seconds{};
    std::optional<std::uint64_t> memory_bytes{};
    std::optional<std::uint64_t> processes{};
    std::optional<std::uint64_t> file_size_bytes{};
    std::optional<std::uint64_t> open_files{};

    void apply(Boundary& boundary) const {
        policy::limit(boundary, "runtime::Limits, cpu_seconds", cpu_seconds, boundary.limits.cpu_seconds);
        policy::limit(boundary, "runtime::Limits, memory_bytes", memory_bytes, boundary.limits.memory_bytes,
                      grammar::LimitUse::memory);
        policy::limit(boundary, "runtime::Limits, processes", processes, boundary.limits.processes);
        policy::limit(boundary, "runtime::Limits, file_size_bytes", file_size_bytes, boundary.limits.file_size_bytes);
        policy::limit(boundary, "runtime::Limits, open_files", open_files, boundary.limits.open_files,
                      grammar::LimitUse::open_files);
    }
};

}  // namespace runtime
}  // namespace bailey
