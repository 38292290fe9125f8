// What the policies of a workspace add up to: plain data, written by Policy::apply, read by settings, launch plan and explain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bailey {

/// Resources of each process of a command; what is not set is not limited.
struct ResourceLimits {
    std::optional<std::uint64_t> cpu_seconds{};      ///< CPU time of each process
    std::optional<std::uint64_t> memory_bytes{};     ///< address space of each process
    std::optional<std::uint64_t> processes{};        ///< processes of the user; no effect for root (the kernel exempts it)
    std::optional<std::uint64_t> file_size_bytes{};  ///< the largest file that can be written
    std::optional<std::uint64_t> open_files{};       ///< file descriptors of each process
};

using EnvironmentEntry = std::pair<std::string, std::string>;

/// The answer to "may a command …?", and the rule that decides.
struct Permission {
    bool allowed = false;
    std::string rule{};

    [[nodiscard]] explicit operator bool() const { return allowed; }
};

enum class WideningKind { root, read, write, network, proxy, unix_socket, local_binding, environment, limit };

/// Something that one boundary permits and another does not.
struct Widening {
    WideningKind kind{};
    std::string subject{};  ///< a path, "*.host:port", the name of a variable or of a limit
    std::string rule{};     ///< why the other boundary does not permit it
    std::string text{};     ///< all of it in words
};

/// Whether one boundary is narrower than another, and if not, everything that is wider.
struct Comparison {
    std::vector<Widening> reasons{};

    [[nodiscard]] explicit operator bool() const { return reasons.empty(); }
};

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

    // What follows asks a resolved boundary, such as Workspace::boundary().

    /// Whether a command could read or write that path: absolute, `~/…`, or relative to the root; links are followed as they lead
    /// now. `permits_write("/etc/x")` is about the host's file: writes that vanish with the sandbox are no writes. Of a directory
    /// that is hidden only the way to what is granted can be seen. Not part of a boundary, so not known here: the private TMPDIR.
    [[nodiscard]] Permission permits_read(std::string_view path) const;
    [[nodiscard]] Permission permits_write(std::string_view path) const;
    /// Whether a command could ask srt's proxy for that host and port. A name that is allowed can still be refused when it leads to
    /// the host itself.
    [[nodiscard]] Permission permits_host(std::string_view host, std::uint16_t port) const;
    /// All that this boundary permits, the other one permits.
    [[nodiscard]] Comparison narrower_than(const Boundary& other) const;
};

}  // namespace bailey
