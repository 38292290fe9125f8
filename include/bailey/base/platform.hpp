// The platforms bailey knows. Anything else stops here, at compile time: a workspace that cannot be bounded must not build.
#pragma once

#if defined(__linux__)
namespace bailey {
inline constexpr bool on_linux = true;
inline constexpr bool on_macos = false;
}  // namespace bailey
#elif defined(__APPLE__)
namespace bailey {
inline constexpr bool on_linux = false;
inline constexpr bool on_macos = true;
}  // namespace bailey
#else
#error "bailey: this platform is not supported; workspaces are enforced by srt on Linux (bubblewrap) and macOS (Seatbelt) only"
#endif
