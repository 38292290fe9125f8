// The index of a repository can name directories, at any depth, in which `git status` will run git again. These are they.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bailey::srt {

struct GitLinks {
    std::vector<std::string> paths;  ///< relative to the work tree, as the index spells them
    bool certain = true;             ///< false: there may be more, so every directory must be looked into
};

namespace detail {
class GitIndexReader {
public:
    GitIndexReader(std::string_view bytes, std::size_t hash_size) : bytes_{bytes}, hash_size_{hash_size} {}

    [[nodiscard]] GitLinks read() {
        if (bytes_.size() < 12 + hash_size_ || bytes_.substr(0, 4) != "DIRC") return unsure();
        version_ = number(4);
        count_ = number(8);
        if (version_ < 2 || version_ > 4) return unsure();
        const std::size_t end = read_entries(12, count_);
        if (end == 0 || !read_extensions(end)) return unsure();
        return std::move(links_);
    }

private:
    static constexpr std::size_t longest_path = 4096;

    GitLinks unsure() {
        links_.certain = false;
        return std::move(links_);
    }
    std::uint32_t number(std::size_t at) const {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
        return value;
    }

    // Returns where the entries end, or 0.
    std::size_t read_entries(std::size_t at, std::size_t count) {
        const std::size_t limit = bytes_.size() - hash_size_;
        std::string name;
        for (; count > 0; --count) {
            const std::size_t start = at;
            if (at > limit || limit - at < 44 + hash_size_) return 0;
            const std::uint32_t kind = number(at + 24) & 0170000U;
            at += 40 + hash_size_;
            const std::size_t flags = number(at) >> 16;
            const bool extended = (flags & 0x4000U) != 0;
            if (extended && version_ < 3) return 0;
            at += extended ? 4 : 2;
            std::size_t strip = name.size();
            if (version_ == 4 && !read_offset(at, limit, strip)) return 0;
            if (name.empty()) strip = 0;  // the first of a block has nothing before it
            if (strip > name.size()) return 0;
            name.resize(name.size() - strip);
            const auto nul = bytes_.find('\0', at);
            if (nul == bytes_.npos || nul >= limit) return 0;
            name.append(bytes_.substr(at, nul - at));
            // Git goes by the length in the flags, up to what fits there: an entry that says two things is no entry.
            if (name.size() > longest_path || (flags & 0xFFFU) != (name.size() < 0xFFFU ? name.size() : 0xFFFU)) return 0;
            at = version_ == 4 ? nul + 1 : start + ((nul - start + 8) & ~std::size_t{7});
            if (kind == 0160000U) links_.paths.push_back(name);
            if (kind == 0040000U) links_.certain = false;  // a sparse directory: git finds what is in it elsewhere
        }
        return at;
    }

    // The variable-length number of version 4.
    bool read_offset(std::size_t& at, std::size_t limit, std::size_t& value) const {
        for (int bytes = 0; at < limit && bytes < 5; ++bytes) {
            const auto byte = static_cast<unsigned char>(bytes_[at++]);
            value = bytes == 0 ? byte & 0x7FU : (value + 1) << 7 | (byte & 0x7FU);
            if ((byte & 0x80U) == 0) return true;
        }
        return false;
    }

    // Large indexes say where blocks of entries begin, and where the entries end, for readers with several threads. Such
    // a reader goes by these words and not by ours, so they must agree, and the blocks are read as it would read them.
    bool read_extensions(std::size_t at) {
        const std::size_t limit = bytes_.size() - hash_size_, end_word = 12 + hash_size_;
        if (limit >= end_word + at && bytes_.substr(limit - end_word, 4) == "EOIE" && number(limit - end_word + 8) != at) return false;
        while (at + 8 <= limit) {
            const auto name = bytes_.substr(at, 4);
            const std::size_t size = number(at + 4);
            at += 8;
            if (size > limit - at) return false;
            if (name == "IEOT") {
                std::size_t left = count_;
                for (std::size_t block = at + 4; block + 8 <= at + size; block += 8) {
                    const std::size_t count = number(block + 4);
                    if (count > left || read_entries(number(block), count) == 0) return false;
                    left -= count;
                }
            } else if (name.front() < 'A' || name.front() > 'Z') {
                return false;  // "link" and "sdir": part of the entries is elsewhere
            }
            at += size;
        }
        return at == limit;
    }

    std::string_view bytes_;
    std::size_t hash_size_;
    std::uint32_t version_ = 0;
    std::size_t count_ = 0;
    GitLinks links_;
};
}  // namespace detail

/// `hash_size`: 20, or 32 in a repository of SHA-256.
[[nodiscard]] inline GitLinks read_git_links(std::string_view index, std::size_t hash_size) {
    return detail::GitIndexReader{index, hash_size}.read();
}

}  // namespace bailey::srt
