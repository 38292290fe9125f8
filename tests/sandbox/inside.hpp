// Questions to a running sandbox: several in one command, each answered by a labelled line.
#pragma once

#include "support.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {

/// Shell functions for a command's text. `try LABEL TEXT` runs the text and prints LABEL=yes or LABEL=no; `say LABEL WORDS` prints
/// LABEL=WORDS.
inline const std::string ask = "try() { if (eval \"$2\") >/dev/null 2>&1 </dev/null; then echo \"$1=yes\"; else echo \"$1=no\"; fi; }\n"
                               "say() { printf '%s=%s\\n' \"$1\" \"${*:2}\"; }\n";

/// What such a command answered. A label that was never printed is "missing", which equals no expectation.
class Answers {
public:
    explicit Answers(std::string_view output) {
        while (!output.empty()) {
            const auto line = output.substr(0, output.find('\n'));
            output.remove_prefix(std::min(line.size() + 1, output.size()));
            if (const auto equals = line.find('='); equals != line.npos) values_[std::string{line.substr(0, equals)}] = line.substr(equals + 1);
        }
    }
    [[nodiscard]] std::string operator[](const std::string& label) const {
        const auto found = values_.find(label);
        return found == values_.end() ? "missing" : found->second;
    }

private:
    std::map<std::string, std::string> values_;
};

/// Runs the text after `ask`; a command that does not end with 0 answers nothing.
template <class W>
Answers answers(const W& workspace, const std::string& text, bailey::RunOptions options = {}) {
    const auto result = workspace.run(ask + text, std::move(options));
    CHECK_MESSAGE(result.ok(), shown(result));
    return Answers{result.ok() ? result.out : ""};
}

/// What of the host's /tmp a sandbox with PrivateTmp still lists: srt shows its own directory to every sandbox, where there is one.
inline std::string left_in_private_tmp() { return fs::exists("/tmp/claude") ? "claude" : ""; }

/// A word of the shell.
inline std::string shell_word(std::string_view text) {
    std::string word = "'";
    for (const char c : text) {
        if (c == '\'') {
            word += "'\\''";
        } else {
            word += c;
        }
    }
    return word + "'";
}

inline bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

inline bool noted(const bailey::Boundary& boundary, std::string_view part) {
    return std::any_of(boundary.notes.begin(), boundary.notes.end(), [&](const auto& note) { return holds(note, part); });
}

/// A variable of the test's own environment, put back at the end.
class HostVariable {
public:
    HostVariable(std::string name, const char* value) : name_{std::move(name)} {
        if (const char* before = std::getenv(name_.c_str())) before_ = before;
        value != nullptr ? ::setenv(name_.c_str(), value, 1) : ::unsetenv(name_.c_str());
    }
    ~HostVariable() { before_ ? ::setenv(name_.c_str(), before_->c_str(), 1) : ::unsetenv(name_.c_str()); }
    HostVariable(const HostVariable&) = delete;
    HostVariable& operator=(const HostVariable&) = delete;

private:
    std::string name_;
    std::optional<std::string> before_;
};

/// A file or directory of the test's own among those of the host, gone at the end.
class Guest {
public:
    Guest(std::string path, std::string_view content, mode_t mode = 0644) : path_{std::move(path)} {
        REQUIRE_FALSE(fs::exists(path_));
        write(path_, content);
        ::chmod(path_.c_str(), mode);
    }
    ~Guest() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// What opening such a workspace is refused with; empty when it is not.
template <class... Ps>
std::string refusal(const std::string& root, Ps... policies) {
    auto opened = bailey::Workspace<Ps...>::open(root, std::move(policies)...);
    if (opened) return "";
    CHECK(opened.error().code() == bailey::ErrorCode::policy);
    return opened.error().what();
}

}  // namespace support
