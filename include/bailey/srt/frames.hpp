// The frames between a session and its broker (scripts/broker.js says which there are), over a socket that never blocks.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <bailey/process/fd.hpp>

namespace bailey::srt {

struct Frame {
    char letter = 0;
    std::vector<std::string> fields;
};

class FrameSocket {
public:
    explicit FrameSocket(process::Fd socket) : socket_{std::move(socket)} { process::set_nonblocking(socket_); }

    [[nodiscard]] const process::Fd& fd() const { return socket_; }
    /// The other side has gone, or has sent what is no frame.
    [[nodiscard]] bool ended() const { return ended_; }
    [[nodiscard]] bool malformed() const { return malformed_; }
    [[nodiscard]] bool wants_to_write() const { return !ended_ && !outgoing_.empty(); }

    void send(char letter, std::initializer_list<std::string_view> fields) {
        std::size_t length = 1 + (fields.size() == 0 ? 0 : fields.size() - 1);
        for (const auto field : fields) length += field.size();
        for (int byte = 0; byte < 4; ++byte) outgoing_ += static_cast<char>(length >> (8 * byte) & 0xff);
        outgoing_ += letter;
        bool first = true;
        for (const auto field : fields) {
            if (!std::exchange(first, false)) outgoing_ += '\0';
            outgoing_ += field;
        }
        flush();
    }

    void flush() {
        while (!outgoing_.empty() && !ended_) {
            const auto size = process::write_without_sigpipe(socket_, outgoing_);
            if (size > 0) {
                outgoing_.erase(0, static_cast<std::size_t>(size));
            } else if (errno != EINTR) {
                if (errno != EAGAIN) ended_ = true;
                return;
            }
        }
    }

    /// The next frame that has come whole.
    [[nodiscard]] std::optional<Frame> receive() {
        for (;;) {
            if (auto frame = cut()) return frame;
            if (ended_) return std::nullopt;
            char bytes[16 * 1024];
            const auto size = ::read(socket_.get(), bytes, sizeof bytes);
            if (size > 0) {
                incoming_.append(bytes, static_cast<std::size_t>(size));
            } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
                ended_ = true;
            } else if (errno == EAGAIN) {
                return std::nullopt;
            }
        }
    }

private:
    static constexpr std::size_t longest = std::size_t{16} << 20;

    [[nodiscard]] std::optional<Frame> cut() {
        if (malformed_ || incoming_.size() < 4) return std::nullopt;
        std::size_t length = 0;
        for (std::size_t byte = 0; byte < 4; ++byte) length |= std::size_t{static_cast<unsigned char>(incoming_[byte])} << (8 * byte);
        if (length == 0 || length > longest) {
            malformed_ = ended_ = true;
            return std::nullopt;
        }
        if (incoming_.size() < 4 + length) return std::nullopt;
        Frame frame{incoming_[4], {}};
        std::string_view rest{incoming_.data() + 5, length - 1};
        while (!rest.empty()) {
            const auto end = rest.find('\0');
            frame.fields.emplace_back(rest.substr(0, end));
            if (end == rest.npos) break;
            rest.remove_prefix(end + 1);
            if (rest.empty()) frame.fields.emplace_back();
        }
        incoming_.erase(0, 4 + length);
        return frame;
    }

    process::Fd socket_;
    std::string incoming_, outgoing_;
    bool ended_ = false, malformed_ = false;
};

}  // namespace bailey::srt
