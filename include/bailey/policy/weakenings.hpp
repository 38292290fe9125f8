// Every policy that gives up a protection, in one place and each by a word of its own: what a reviewer greps for.
#pragma once

#include <initializer_list>
#include <string_view>

#include <bailey/base/fixed_string.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/grammar/environment.hpp>

namespace bailey {

/// WEAKENING. The command reads everything that the host user can read.
///
/// Lost: the secrecy of homes, keys, tokens and other projects. With any host allowed, the command can send them there; without
/// one, they still reach whoever reads the command's output. `ReadPolicy<Deny<...>>` still hides what it names. Writes are as
/// before.
struct AllReads {
    void apply(Boundary& boundary) const { boundary.all_reads = true; }
};

/// WEAKENING. The command connects to every Unix socket that it can see.
///
/// Lost: the distance to the host's daemons. A docker, systemd, D-Bus or ssh-agent socket lets the command act as the host user,
/// or as root, outside every bound set here. On Linux srt then runs without its seccomp filter, so other socket families are open
/// as well.
struct AllUnixSockets {
    void apply(Boundary& boundary) const { boundary.all_unix_sockets = true; }
};

/// WEAKENING. The command binds and serves local ports.
///
/// Lost: on macOS, where there is one network for all, other programs of the host can connect to the command, and it to local
/// ports. On Linux the command has a loopback of its own, where it can bind in any case: nothing changes.
struct LocalBinding {
    void apply(Boundary& boundary) const { boundary.local_binding = true; }
};

/// WEAKENING. Names of secrets that a command gets with the host's values, on purpose: `EnvCredential<"GH_TOKEN">`.
///
/// Lost: the secrecy of that value. The command can print it, write it down, and send it to every host that is allowed: pair it
/// with a `DomainAllowlist` of the one host it is for. Default: none. Errors, while compiling: names that are none, that bash or
/// bailey keep, or that steer programs (see `EnvAllowlist`).
template <fixed_string... Names>
struct EnvCredential {
    static_assert(grammar::all({grammar::accepts_env_name<Names, grammar::EnvUse::credential>()...}));
    void apply(Boundary& boundary) const {
        for (const std::string_view name : std::initializer_list<std::string_view>{Names.view()...})
            boundary.env_credentials.emplace_back(name);
    }
};

}  // namespace bailey
