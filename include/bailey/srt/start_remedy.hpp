// What to change on the machine when srt said why its sandbox did not start.
#pragma once

#include <array>
#include <string_view>

namespace bailey::srt {

/// Empty when the words are not known. The words are bwrap's and srt's own.
[[nodiscard]] inline std::string_view start_remedy(std::string_view words) {
    constexpr std::string_view no_namespaces =
        "bubblewrap needs user namespaces, which are off or used up here; as root: sysctl -w user.max_user_namespaces=65536, on Debian also "
        "kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in a container allow them in its security profile";
    struct Known {
        std::string_view part, remedy;
    };
    constexpr std::array<Known, 7> known{{
        {"Creating new namespace failed", no_namespaces},
        {"No permissions to create new namespace", no_namespaces},
        {"setting up uid map", no_namespaces},
        {"RTM_NEWADDR", no_namespaces},
        {"Can't mount proc", "parts of /proc are covered here, as in containers, and the kernel lets no sandbox have a /proc while no whole one is to "
                             "be seen; as root, before the host program starts: mount -t proc proc /proc, or use a container that does not mask /proc"},
        {"execvp", "a read denial that covers the shell or its libraries, such as one of /usr, /bin or /lib, lets no command start; deny what is inside them"},
        {"CAP_SETFCAP", "run as an ordinary user, or give the container's root the capability CAP_SETFCAP"},
    }};
    for (const auto& [part, remedy] : known) {
        if (words.find(part) != words.npos) return remedy;
    }
    return {};
}

}  // namespace bailey::srt
