// What a command was refused, or did that the host should know of.
#pragma once

#include <string>
#include <string_view>

#include <bailey/base/format.hpp>

namespace bailey {

enum class ViolationKind { network, file_write, file_read, unix_socket, planted_file, setuid_file, limit };

[[nodiscard]] constexpr std::string_view to_string(ViolationKind kind) {
    switch (kind) {
        case ViolationKind::network: return "network";
        case ViolationKind::file_write: return "file_write";
        case ViolationKind::file_read: return "file_read";
        case ViolationKind::unix_socket: return "unix_socket";
        case ViolationKind::planted_file: return "planted_file";
        case ViolationKind::setuid_file: return "setuid_file";
        case ViolationKind::limit: return "limit";
    }
    return "unknown";
}

struct Violation {
    ViolationKind kind{};
    std::string subject;   ///< "host:443", or a path
    std::string rule;      ///< which rule decided
    std::string remedy;    ///< what to change, or what was done
    bool certain = false;  ///< false: a good guess
};

}  // namespace bailey

#if defined(BAILEY_USE_STD_FORMAT)
template <>
struct std::formatter<bailey::ViolationKind> : bailey::text::named_formatter<bailey::ViolationKind> {};
#else
template <>
struct fmt::formatter<bailey::ViolationKind> : bailey::text::named_formatter<bailey::ViolationKind> {};
#endif
