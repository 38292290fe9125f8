// Git's configuration grammar, read as git reads it (config.c), and refused where git is more patient than it need be.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bailey::srt {

/// `[section "subsection"] key = value`. Section and key are in lower case.
struct GitConfigEntry {
    std::string section;
    std::string subsection;
    std::string key;
    std::string value;
    bool operator==(const GitConfigEntry&) const = default;

    [[nodiscard]] std::string name() const {
        return subsection.empty() ? section + "." + key : section + "." + subsection + "." + key;
    }
};

namespace detail {
class GitConfigReader {
public:
    explicit GitConfigReader(std::string_view text) : text_{text} {}

    [[nodiscard]] std::optional<std::vector<GitConfigEntry>> read() {
        if (text_.substr(0, 3) == "\xEF\xBB\xBF") text_.remove_prefix(3);
        for (const char byte : text_) {
            const auto code = static_cast<unsigned char>(byte);
            if ((code < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || code == 0x7F) return std::nullopt;
        }
        while (true) {
            const int c = next();
            if (c == '\n' && ended_) return std::move(entries_);
            if (is_space(c)) continue;
            if (c == '#' || c == ';') {
                skip_line();
            } else if (c == '[') {
                if (!read_section()) return std::nullopt;
            } else if (!is_letter(c) || section_.empty() || !read_entry(c)) {
                return std::nullopt;
            }
        }
    }

private:
    // As git: CR LF is a line end, and so is the end of the file.
    int next() {
        if (at_ < text_.size()) {
            const int c = static_cast<unsigned char>(text_[at_++]);
            if (c != '\r' || at_ >= text_.size() || text_[at_] != '\n') return c;
            ++at_;
            return '\n';
        }
        ended_ = true;
        return '\n';
    }
    void skip_line() {
        while (next() != '\n') {
        }
    }
    static bool is_space(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
    static bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
    static bool is_key(int c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; }
    static char lower(int c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

    bool read_section() {
        section_.clear();
        while (true) {
            int c = next();
            if (ended_) return false;
            if (c == ']') return !section_.empty();
            if (is_space(c)) {
                while (c != '\n' && is_space(c)) c = next();
                return c == '"' && read_subsection();
            }
            if (!is_key(c) && c != '.') return false;
            section_ += lower(c);
        }
    }
    bool read_subsection() {
        section_ += '.';
        while (true) {
            int c = next();
            if (c == '"') return next() == ']';
            if (c == '\\') c = next();
            if (c == '\n') return false;
            section_ += static_cast<char>(c);
        }
    }
    bool read_entry(int c) {
        std::string key{lower(c)};
        while (is_key(c = next())) key += lower(c);
        while (c == ' ' || c == '\t') c = next();
        std::string value;
        if (c != '\n' && (c != '=' || !read_value(value))) return false;
        // As git finds them: the subsection is what lies between the first dot and the last one.
        const auto dot = section_.find('.');
        entries_.push_back({section_.substr(0, dot), dot == section_.npos ? std::string{} : section_.substr(dot + 1),
                            std::move(key), std::move(value)});
        return true;
    }
    bool read_value(std::string& value) {
        bool quoted = false;
        std::size_t spaces = 0;
        while (true) {
            int c = next();
            if (c == '\n') return !quoted;
            if (is_space(c) && !quoted) {
                if (!value.empty()) ++spaces;
                continue;
            }
            if (!quoted && (c == ';' || c == '#')) return skip_line(), true;
            value.append(spaces, ' ');
            spaces = 0;
            if (c == '"') {
                quoted = !quoted;
                continue;
            }
            if (c == '\\') {
                c = next();
                if (c == '\n') {
                    if (ended_) return false;
                    continue;
                }
                if (c == 't') c = '\t';
                else if (c == 'n') c = '\n';
                else if (c == 'b') c = '\b';
                else if (c != '\\' && c != '"') return false;
            }
            value += static_cast<char>(c);
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool ended_ = false;
    std::string section_;  // "section" or "section.subsection"
    std::vector<GitConfigEntry> entries_;
};
}  // namespace detail

/// Nothing when the text is not plainly a git configuration.
[[nodiscard]] inline std::optional<std::vector<GitConfigEntry>> read_git_config(std::string_view text) {
    return detail::GitConfigReader{text}.read();
}

}  // namespace bailey::srt
