// Which paths a grant or a denial can name: exact names of files and directories, never patterns.
#pragma once

#include <cstddef>
#include <string_view>

#include <bailey/base/fixed_string.hpp>
#include <bailey/grammar/fault.hpp>
#include <bailey/grammar/scan.hpp>

namespace bailey::grammar {

// A path is absolute, below the host user's home ("~", "~/x"), or relative to the workspace root. It names itself and, for a
// directory, everything beneath. "." and ".." are taken as they read ("a/../b" is "b"); a relative path that leaves where it
// starts is refused, so that what a grant covers can be seen from its spelling. All bytes but NUL are legal in names, also
// newlines, spaces, brackets and braces; "*" and "?" are refused, because who writes them means a pattern and would get a name.
#define BAILEY_PATH_RULES(RULE)                                                                                             \
    RULE(empty, "a path is empty; write \".\" for the workspace root")                                                      \
    RULE(nul, "a path holds a NUL character, which no file name has; write the path without it")                            \
    RULE(pattern,                                                                                                           \
         "grants and denials are exact paths, not patterns; write the directory, such as \"src\" instead of \"src/*.c\"")   \
    RULE(other_home,                                                                                                        \
         "only \"~\" and \"~/...\" stand for a home, the host user's; write another home as an absolute path, a file of "   \
         "this name as \"./~name\"")                                                                                        \
    RULE(climbs, "a relative path does not leave the directory it starts from; write an absolute path")                     \
    RULE(root_read, "\"/\" would grant reads of the whole file system; write the directories that are needed, or AllReads") \
    RULE(root_write,                                                                                                        \
         "\"/\" would grant writes to the whole file system, which no policy can; write the directories that are needed")   \
    RULE(root_denied,                                                                                                       \
         "\"/\" cannot be denied, no command starts without system files; remove AllReads, or write the directories")       \
    RULE(root_socket, "\"/\" is no socket; write the path of one, or AllUnixSockets")

#define BAILEY_ENUMERATOR(kind, sentence) kind,
#define BAILEY_CASE(kind, sentence) \
    case PathFault::kind:           \
        return sentence;
#define BAILEY_CHECK(kind, sentence) static_assert(Kind != PathFault::kind, "bailey: " sentence);

enum class PathFault { none, BAILEY_PATH_RULES(BAILEY_ENUMERATOR) };

[[nodiscard]] constexpr std::string_view sentence(PathFault fault) {
    switch (fault) {
        BAILEY_PATH_RULES(BAILEY_CASE)
        case PathFault::none: break;
    }
    return {};
}

/// Made only to fail: its name says what is wrong, where, and with which value.
template <PathFault Kind, class Position, class Value>
struct refused_path {
    BAILEY_PATH_RULES(BAILEY_CHECK)
};

#undef BAILEY_CHECK
#undef BAILEY_CASE
#undef BAILEY_ENUMERATOR
#undef BAILEY_PATH_RULES

enum class PathUse { read, write, deny, socket };

/// The rule for one path, as far as its spelling goes; whether it exists and where its links lead is seen when a workspace is
/// made.
[[nodiscard]] constexpr Fault<PathFault> path_fault(std::string_view path, PathUse use) {
    if (path.empty()) return {PathFault::empty, 0};
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] == '\0') return {PathFault::nul, i};
        if (path[i] == '*' || path[i] == '?') return {PathFault::pattern, i};
    }
    const bool absolute = path[0] == '/';
    const bool home = path[0] == '~';
    if (home && path.size() > 1 && path[1] != '/') return {PathFault::other_home, 1};

    std::size_t depth = 0;  // directories below the one the path starts from
    for (std::size_t start = home ? 1 : 0; start < path.size();) {
        std::size_t end = index_of(path, '/', start);
        if (end == npos) end = path.size();
        const std::string_view name = path.substr(start, end - start);
        if (same(name, "..")) {
            if (depth > 0)
                --depth;
            else if (!absolute)
                return {PathFault::climbs, start};
        } else if (!name.empty() && !same(name, ".")) {
            ++depth;
        }
        start = end + 1;
    }
    if (!absolute || depth > 0) return {};
    switch (use) {
        case PathUse::read: return {PathFault::root_read, 0};
        case PathUse::write: return {PathFault::root_write, 0};
        case PathUse::deny: return {PathFault::root_denied, 0};
        case PathUse::socket: break;
    }
    return {PathFault::root_socket, 0};
}

template <fixed_string Value, PathUse Use>
inline constexpr auto judged_path = path_fault(Value.view(), Use);

/// Compiles to true, or not at all.
template <fixed_string Value, PathUse Use>
consteval bool accepts_path() {
    if constexpr (constexpr auto fault = judged_path<Value, Use>; fault.kind != PathFault::none) {
        using refused = refused_path<fault.kind, at<fault.position>, spelled<Value>>;
        look_into(static_cast<refused*>(nullptr));
    }
    return true;
}

}  // namespace bailey::grammar
