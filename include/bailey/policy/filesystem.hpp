// What a command can read and write beyond, or short of, the workspace and /tmp.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <bailey/base/fixed_string.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/grammar/path.hpp>

namespace bailey {

namespace policy {

// What Allow and Deny have in common; no policy in itself, since a path alone says neither "read" nor "write".
template <fixed_string... Paths>
struct PathList {
    template <grammar::PathUse Use>
    static consteval bool accepts() {
        return grammar::all({grammar::accepts_path<Paths, Use>()...});
    }
    static void append_to(std::vector<std::string>& list) {
        for (const std::string_view path : std::initializer_list<std::string_view>{Paths.view()...}) list.emplace_back(path);
    }
    // The return type is deduced, so that asking whether this is a Policy already says the sentence.
    template <class AnyBoundary>
    auto apply(AnyBoundary&) const {
        static_assert(sizeof(AnyBoundary) == 0,
                      "bailey: Allow and Deny need to know what for; write ReadPolicy<Allow<...>> or WritePolicy<Allow<...>>");
    }
};

}  // namespace policy

/// Paths to grant, inside `ReadPolicy` or `WritePolicy`: absolute, `~/...` (the host user's home), or relative to the workspace
/// root.
///
/// A path names a file or a directory with everything beneath. There are no patterns: a path with `*` or `?` does not compile,
/// nor does an empty one, `~user`, a relative one that climbs out (`../x`), or `/`. Links are resolved once, when the workspace
/// is made.
template <fixed_string... Paths>
struct Allow : policy::PathList<Paths...> {};

/// Paths to deny, inside `ReadPolicy` or `WritePolicy`; spelled as for `Allow`. A denial wins over every grant.
template <fixed_string... Paths>
struct Deny : policy::PathList<Paths...> {};

namespace policy {

enum class Access { read, write };

template <class T>
struct path_rule {
    static constexpr bool known = false;
    template <Access>
    static consteval bool accepts() {  // said already
        return true;
    }
};

template <fixed_string... Paths>
struct path_rule<Allow<Paths...>> {
    static constexpr bool known = true;
    template <Access For>
    static consteval bool accepts() {
        constexpr auto use = For == Access::read ? grammar::PathUse::read : grammar::PathUse::write;
        return PathList<Paths...>::template accepts<use>();
    }
    static void read(Boundary& boundary) { PathList<Paths...>::append_to(boundary.read_grants); }
    static void write(Boundary& boundary) { PathList<Paths...>::append_to(boundary.write_grants); }
};

template <fixed_string... Paths>
struct path_rule<Deny<Paths...>> {
    static constexpr bool known = true;
    template <Access>
    static consteval bool accepts() {
        return PathList<Paths...>::template accepts<grammar::PathUse::deny>();
    }
    static void read(Boundary& boundary) { PathList<Paths...>::append_to(boundary.read_denials); }
    static void write(Boundary& boundary) { PathList<Paths...>::append_to(boundary.write_denials); }
};

}  // namespace policy

/// What can be read beyond the workspace, `/tmp` and the system paths, and what cannot: `ReadPolicy<Allow<"~/.cargo">,
/// Deny<"keys">>`.
///
/// Default: the workspace, `/tmp` and the system paths without their secrets; all else looks empty. A denied file cannot be
/// opened, a denied directory looks empty, and what does not exist yet cannot be made where the command could make it. Errors: see
/// `Allow`; all reads are `AllReads`, not `Allow<"/">`. Limits: a hard link that already leads to a denied file stays readable.
template <class... AllowOrDeny>
struct ReadPolicy {
    static_assert(grammar::all({policy::path_rule<AllowOrDeny>::known...}),
                  "bailey: ReadPolicy takes Allow<...> and Deny<...>; write ReadPolicy<Allow<\"/etc/ssl\">, Deny<\"secrets\">>");
    static_assert(grammar::all({policy::path_rule<AllowOrDeny>::template accepts<policy::Access::read>()...}));
    void apply(Boundary& boundary) const { (policy::path_rule<AllowOrDeny>::read(boundary), ...); }
};

/// What can be written beyond the workspace and `/tmp`, and what cannot: `WritePolicy<Allow<"~/.cache/app">, Deny<".env",
/// "ci">>`.
///
/// Default: the workspace and `/tmp`. What can be written can be read. A denied path that does not exist cannot be made either.
/// Errors: see `Allow`; there is no way to grant writes to the whole file system.
template <class... AllowOrDeny>
struct WritePolicy {
    static_assert(grammar::all({policy::path_rule<AllowOrDeny>::known...}),
                  "bailey: WritePolicy takes Allow<...> and Deny<...>; write WritePolicy<Allow<\"/tmp/build\">, Deny<\".env\">>");
    static_assert(grammar::all({policy::path_rule<AllowOrDeny>::template accepts<policy::Access::write>()...}));
    void apply(Boundary& boundary) const { (policy::path_rule<AllowOrDeny>::write(boundary), ...); }
};

/// The workspace and `/tmp` can be read but not written; the private `TMPDIR` can. Paths of `WritePolicy<Allow<...>>` stay
/// writable. Default: both are writable.
struct ReadOnly {
    void apply(Boundary& boundary) const { boundary.read_only = true; }
};

/// The host's `/tmp` can be neither read nor written; `TMPDIR`, the workspace's own, remains. For commands that must not see, or
/// leave anything to, other programs of the host. Default: `/tmp` is shared.
struct PrivateTmp {
    void apply(Boundary& boundary) const { boundary.private_tmp = true; }
};

}  // namespace bailey
