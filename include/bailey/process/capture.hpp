// Keeps the beginning and the end of a stream of any length in bounded memory, and counts all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace bailey {

/// Which part of an output longer than RunOptions::output_limit is kept.
enum class Keep {
    head_and_tail,  ///< the first half and the last half of the limit
    head,
    tail,
};

namespace process {

namespace detail {
[[nodiscard]] constexpr bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Bytes that the UTF-8 character beginning with this byte has; 1 for what begins none.
[[nodiscard]] constexpr std::size_t character_size(char first) {
    const auto byte = static_cast<unsigned char>(first);
    return byte >= 0xF0 && byte < 0xF8 ? 4 : byte >= 0xE0 && byte < 0xF0 ? 3 : byte >= 0xC0 && byte < 0xE0 ? 2 : 1;
}

/// The text without a last character that is cut short. Bytes that are no UTF-8 stay as they are.
[[nodiscard]] constexpr std::string_view without_partial_end(std::string_view text) {
    for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
        const char byte = text[text.size() - back];
        if (continues_character(byte)) continue;
        return character_size(byte) > back ? text.substr(0, text.size() - back) : text;
    }
    return text;
}

/// The text without the rest of a character that begins before it.
[[nodiscard]] constexpr std::string_view without_partial_start(std::string_view text) {
    std::size_t skip = 0;
    while (skip < 3 && skip < text.size() && continues_character(text[skip])) ++skip;
    return skip == 3 && text.size() > 3 && continues_character(text[3]) ? text : text.substr(skip);
}
}  // namespace detail

class Capture {
public:
    Capture(std::size_t limit, Keep keep)
        : head_limit_{keep == Keep::tail ? 0 : keep == Keep::head ? limit : limit - limit / 2},
          tail_limit_{limit - head_limit_} {}

    void append(std::string_view bytes) {
        total_ += bytes.size();
        const auto to_head = bytes.substr(0, head_limit_ - head_.size());
        head_.append(to_head);
        bytes.remove_prefix(to_head.size());
        if (tail_limit_ == 0 || bytes.empty()) return;
        if (bytes.size() >= tail_limit_) {
            tail_.assign(bytes.substr(bytes.size() - tail_limit_));
            return;
        }
        tail_.append(bytes);
        // Twice the limit before the front is dropped: each byte is moved at most once on average.
        if (tail_.size() / 2 > tail_limit_) tail_.erase(0, tail_.size() - tail_limit_);
    }

    [[nodiscard]] std::uint64_t total() const { return total_; }

    struct Kept {
        std::string bytes;
        std::size_t gap;  ///< where in `bytes` something was left out; its size when nothing was
        bool truncated;
    };
    [[nodiscard]] Kept take() {
        std::string_view tail = tail_;
        if (tail.size() > tail_limit_) tail.remove_prefix(tail.size() - tail_limit_);
        const bool truncated = total_ > head_.size() + tail.size();
        if (truncated) {
            head_.resize(detail::without_partial_end(head_).size());
            tail = detail::without_partial_start(tail);
        }
        const std::size_t gap = truncated ? head_.size() : head_.size() + tail.size();
        head_.append(tail);
        return {std::move(head_), gap, truncated};
    }

private:
    std::size_t head_limit_;
    std::size_t tail_limit_;
    std::string head_;
    std::string tail_;
    std::uint64_t total_ = 0;
};

}  // namespace process
}  // namespace bailey
