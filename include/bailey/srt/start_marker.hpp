// Tells srt's own words from the command's: everything on stderr before the marker is srt's, everything after it the command's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace bailey::srt {

class StartMarker {
public:
    /// The nonce must be unguessable: the command could print the marker before it had started otherwise.
    explicit StartMarker(std::string_view nonce) : marker_{'\x1e' + std::string{nonce} + '\n'} {}

    [[nodiscard]] bool seen() const { return seen_; }

    /// What srt said before the marker, or instead of it.
    [[nodiscard]] std::string before() const { return aside_ + before_; }

    /// What srt said where the command says nothing.
    void aside(std::string_view words) { aside_ += words.substr(0, limit - aside_.size()); }

    /// Takes a chunk of stderr and returns what of it is the command's. Only the first marker counts and is removed.
    [[nodiscard]] std::string_view feed(std::string_view chunk) {
        if (seen_) return chunk;
        const auto known = before_.size();
        before_.append(chunk);
        const auto at = before_.find(marker_, known < marker_.size() ? 0 : known - marker_.size());
        if (at == std::string::npos) {
            // srt says little; more than this is something else, of which the end matters
            if (before_.size() > limit) before_.erase(0, before_.size() - limit / 2);
            return {};
        }
        seen_ = true;
        const auto ours = before_.size() - at - marker_.size();
        before_.resize(at);
        return chunk.substr(chunk.size() - ours);
    }

private:
    static constexpr std::size_t limit = 64 * 1024;

    std::string marker_;
    std::string before_, aside_;
    bool seen_ = false;
};

}  // namespace bailey::srt
