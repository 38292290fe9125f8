// Violations in words for a model, and as JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bailey/base/violation.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/settings/json.hpp>

namespace bailey {

namespace detail {
/// In quotes, and in printable ASCII but for letters of other scripts: no line of its own, and nothing that turns the text around.
[[nodiscard]] inline std::string plain(std::string_view subject) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string text;
    const auto spell_out = [&](std::string_view bytes) {
        for (const char byte : bytes) text += text::concat({"\\x", hex.substr(static_cast<unsigned char>(byte) >> 4, 1), hex.substr(byte & 15, 1)});
    };
    const auto quoted = paths::quoted(subject);
    for (std::string_view rest = quoted; !rest.empty();) {
        const auto size = paths::utf8_character(rest);
        const auto character = rest.substr(0, size == 0 ? 1 : size);
        rest.remove_prefix(character.size());
        // C1 controls (U+0080-9F), U+2000-206F (separators, marks of direction) and U+FEFF; what is no UTF-8
        const bool steers = size == 0 || (size == 2 && character[0] == '\xC2' && static_cast<unsigned char>(character[1]) < 0xA0) ||
                            (size == 3 && character[0] == '\xE2' && (character[1] == '\x80' || (character[1] == '\x81' && static_cast<unsigned char>(character[2]) < 0xB0))) ||
                            character == "\xEF\xBB\xBF";
        if (steers) {
            spell_out(character);
        } else {
            text += character;
        }
    }
    return text;
}
}  // namespace detail

/// A paragraph that tells a model what stopped its command and what could be done, one line for each; empty when there is nothing to
/// tell. Subjects are quoted, so that a file's name cannot pretend to be an instruction on a line of its own.
[[nodiscard]] inline std::string to_model_text(std::span<const Violation> violations) {
    if (violations.empty()) return {};
    std::string text = "The sandbox bounded this command:\n";
    for (const auto& violation : violations) {
        std::string_view what;
        switch (violation.kind) {
            case ViolationKind::network: what = "could not reach"; break;
            case ViolationKind::file_write: what = "could not write"; break;
            case ViolationKind::file_read: what = "could not read"; break;
            case ViolationKind::unix_socket: what = "could not use the socket"; break;
            case ViolationKind::planted_file: what = "may not leave for the host"; break;
            case ViolationKind::setuid_file: what = "may not leave setuid or setgid"; break;
            case ViolationKind::limit: what = "ran into a limit on"; break;
        }
        text += text::concat({"- ", violation.certain ? "" : "probably ", what, " ", detail::plain(violation.subject), ": ", violation.rule, ". Remedy: ", violation.remedy, ".\n"});
    }
    return text + "Do not try to get around it; where the remedy is a policy, only the user can grant it.\n";
}

/// An array of objects with kind, subject, rule, remedy and certain. Bytes of a subject that are no UTF-8 become U+FFFD.
[[nodiscard]] inline std::string to_json(std::span<const Violation> violations) {
    std::string json = "[";
    for (const auto& violation : violations) {
        settings::JsonObject object;
        object.string("kind", to_string(violation.kind));
        object.string("subject", paths::to_utf8(violation.subject));
        object.string("rule", paths::to_utf8(violation.rule));
        object.string("remedy", paths::to_utf8(violation.remedy));
        object.truth("certain", violation.certain);
        json += (json.size() == 1 ? "" : ", ") + object.str();
    }
    return json + "]";
}

}  // namespace bailey
