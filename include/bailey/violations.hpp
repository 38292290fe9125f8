// Violations in words for a model, and as JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bailey/base/text.hpp>
#include <bailey/base/violation.hpp>
#include <bailey/settings/json.hpp>

namespace bailey {

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
        text += text::concat({"- ", violation.certain ? "" : "probably ", what, " ", text::quoted(violation.subject), ": ", text::plain(violation.rule), ". Remedy: ", text::plain(violation.remedy), ".\n"});
    }
    return text + "Do not try to get around it; where the remedy is a policy, only the user can grant it.\n";
}

/// An array of objects with kind, subject, rule, remedy and certain. Bytes of a subject that are no UTF-8 become U+FFFD.
[[nodiscard]] inline std::string to_json(std::span<const Violation> violations) {
    std::string json = "[";
    for (const auto& violation : violations) {
        settings::JsonObject object;
        object.string("kind", to_string(violation.kind));
        object.string("subject", text::to_utf8(violation.subject));
        object.string("rule", text::to_utf8(violation.rule));
        object.string("remedy", text::to_utf8(violation.remedy));
        object.truth("certain", violation.certain);
        json += (json.size() == 1 ? "" : ", ") + object.str();
    }
    return json + "]";
}

}  // namespace bailey
