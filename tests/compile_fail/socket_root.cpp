// A socket is a file.
// expect: bailey: "/" is no socket
// names: refused_path<PathFault::root_socket, at<0>, text<'/'>>
#include <bailey/policy/network.hpp>

#if defined(TWIN)
inline constexpr bailey::UnixSocketAllowlist<"/run/x.sock"> policy{};
#else
inline constexpr bailey::UnixSocketAllowlist<"/"> policy{};
#endif
