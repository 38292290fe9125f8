// Writes JSON, and only writes: objects and arrays of strings and truths, which is all that srt's settings are made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bailey::settings {

/// Text must be valid UTF-8.
[[nodiscard]] inline std::string json_string(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string result = "\"";
    for (char c : text) {
        switch (c) {
            case '"': result += "\\\""; break;
            case '\\': result += "\\\\"; break;
            case '\n': result += "\\n"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    result += "\\u00";
                    result += hex[static_cast<unsigned char>(c) >> 4];
                    result += hex[static_cast<unsigned char>(c) & 15];
                } else {
                    result += c;
                }
        }
    }
    return result += '"';
}

/// An array of strings in one line.
[[nodiscard]] inline std::string json_strings(const std::vector<std::string>& values) {
    std::string list = "[";
    for (const auto& value : values) list += (list.size() == 1 ? "" : ",") + json_string(value);
    return list + "]";
}

/// Members in the order they are added, indented, so that golden files and people can read them.
class JsonObject {
public:
    explicit JsonObject(int depth = 1) : indent_(static_cast<std::size_t>(depth) * 2, ' ') {}

    JsonObject& raw(std::string_view key, std::string_view value) {
        members_ += members_.empty() ? "\n" : ",\n";
        members_ += indent_ + json_string(key) + ": ";
        members_ += value;
        return *this;
    }
    JsonObject& string(std::string_view key, std::string_view value) { return raw(key, json_string(value)); }
    JsonObject& truth(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
    JsonObject& object(std::string_view key, const JsonObject& value) { return raw(key, value.str()); }

    /// Each value as written by the function: a string, or an object around it.
    template <class Write>
    JsonObject& array(std::string_view key, const std::vector<std::string>& values, Write write) {
        std::string list = "[";
        for (const auto& value : values) {
            list += list.size() == 1 ? "\n" : ",\n";
            list += indent_ + "  " + write(value);
        }
        list += values.empty() ? "]" : "\n" + indent_ + "]";
        return raw(key, list);
    }

    [[nodiscard]] std::string str() const {
        return members_.empty() ? "{}" : "{" + members_ + "\n" + indent_.substr(2) + "}";
    }

private:
    std::string indent_;
    std::string members_;
};

}  // namespace bailey::settings
