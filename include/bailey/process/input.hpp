// What a command reads on its standard input; never the host's own.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace bailey {

/// Input{} is /dev/null; Input{bytes} is a pipe that holds exactly those bytes and then ends; Input::pipe() stays open for
/// Running::write and Running::close_input.
class Input {
public:
    enum class Kind { null, bytes, pipe };

    Input() = default;
    template <class Text>
        requires std::convertible_to<Text, std::string_view>
    Input(const Text& bytes) : kind_{Kind::bytes}, bytes_{std::string_view{bytes}} {}  // NOLINT: implicit, `.input = "yes\n"`
    Input(std::string bytes) : kind_{Kind::bytes}, bytes_{std::move(bytes)} {}         // NOLINT: likewise

    [[nodiscard]] static Input pipe() {
        Input input;
        input.kind_ = Kind::pipe;
        return input;
    }

    [[nodiscard]] Kind kind() const { return kind_; }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    Kind kind_ = Kind::null;
    std::string bytes_;
};

}  // namespace bailey
