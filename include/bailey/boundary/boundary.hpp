// What the policies of a workspace add up to: plain data, written by Policy::apply, read by settings, launch plan and explain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bailey {

/// Resources that one command may use; what is not set is not limited.
struct ResourceLimits {
    std::optional<std::uint64_t> cpu_seconds{};      ///< CPU time of each process
    std::optional<std::uint64_t> memory_bytes{};     ///< address space of each process
    std::optional<std::uint64_t> processes{};        ///< processes of the user; no effect for root (the kernel exempts it)
    std::optional<std::uint64_t> file_size_bytes{};  ///< the largest file that can be written
    std::optional<std::uint64_t> open_files{};       ///< file descriptors of each process
};

using EnvironmentEntry = std::pair<std::string, std::string>;

/// Grants add up, denials win. Policies append to the lists as they were spelled (relative paths and `~` included);
/// the workspace resolves them once, when it is made: its boundary() has absolute, real paths without duplicates.
struct Boundary {
    std::string root{};  ///< absolute and real; empty until resolved

    std::vector<std::string> read_grants{};
    std::vector<std::string> read_denials{};
    std::vector<std::string> write_grants{};
    std::vector<std::string> write_denials{};
    bool read_only = false;    ///< the root and /tmp are not writable; write_grants still are
    bool private_tmp = false;  ///< the host's /tmp is neither readable nor writable
    bool all_reads = false;    ///< weakening: everything the host user can read

    std::vector<std::string> allowed_domains{};
    std::vector<std::string> denied_domains{};  ///< win over allowed_domains
    std::string upstream_proxy{};               ///< URL, or empty: connect directly
    std::vector<std::string> unix_sockets{};    ///< macOS only
    bool all_unix_sockets = false;            ///< weakening: any Unix socket, and no seccomp filter on Linux
    bool local_binding = false;

    std::vector<std::string> env_passed{};              ///< names whose values come from the host, when set
    std::vector<std::string> env_credentials{};         ///< the same for names that look like secrets
    std::vector<EnvironmentEntry> env_values{};         ///< fixed values
    std::vector<EnvironmentEntry> env_runtime_values{}; ///< values of runtime::Env; win over env_values

    ResourceLimits limits{};

    std::vector<std::string> refusals{};  ///< why this boundary is unusable; a workspace with any is not made
    std::vector<std::string> notes{};     ///< what was dropped, does not exist or cannot be enforced; part of explain()
};

}  // namespace bailey
