// A workspace whose git repository lies elsewhere: a linked worktree, or the checkout of a submodule.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include <bailey/boundary/paths.hpp>

namespace bailey {

namespace detail {
/// What a file of git's that holds one path says; nothing for a directory, a link or a file that is longer.
[[nodiscard]] inline std::optional<std::string> one_line(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return std::nullopt;
    std::array<char, 4096> buffer;
    const auto size = ::read(file, buffer.data(), buffer.size());
    ::close(file);
    if (size <= 0 || static_cast<std::size_t>(size) == buffer.size()) return std::nullopt;
    std::string_view text{buffer.data(), static_cast<std::size_t>(size)};
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    return std::string{text};
}
}  // namespace detail

/// The real path of the repository outside the root that its .git file leads to.
[[nodiscard]] inline std::optional<std::string> repository_elsewhere(const std::string& root) {
    constexpr std::string_view prefix = "gitdir: ";
    auto directory = detail::one_line(root + "/.git");
    if (!directory || !directory->starts_with(prefix)) return std::nullopt;
    directory->erase(0, prefix.size());
    auto real = paths::real(directory->starts_with('/') ? *directory : paths::join(root, *directory));
    if (!real) return std::nullopt;
    if (const auto common = detail::one_line(*real + "/commondir"))
        real = paths::real(common->starts_with('/') ? *common : paths::join(*real, *common));
    if (!real || paths::is_within(*real, root)) return std::nullopt;
    return real;
}

}  // namespace bailey
