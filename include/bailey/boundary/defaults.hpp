// What a workspace has without any policy: the documented defaults, in one place.
#pragma once

#include <array>
#include <string_view>

namespace bailey::defaults {

/// Readable in every workspace, where they exist: programs, libraries, configuration, the package database.
inline constexpr std::array<std::string_view, 19> system_paths{
    "/usr",  "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/proc", "/sys", "/dev",
    "/var/lib/dpkg", "/var/lib/rpm", "/var/lib/pacman/local",  // which package owns a file, and which version is installed
    "/System", "/Library", "/private/etc",                     // macOS
};

/// Hidden below the system paths. Paths ending in '*' stand for what exists with that beginning in that directory.
inline constexpr std::array<std::string_view, 21> system_secrets{
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/security/opasswd",
    "/etc/master.passwd", "/etc/sudoers", "/etc/sudoers.d", "/etc/sudoers-", "/etc/krb5.keytab",
    "/etc/ssl/private", "/etc/pki/tls/private", "/etc/letsencrypt/archive", "/etc/letsencrypt/live", "/etc/letsencrypt/keys",
    "/etc/ssh/ssh_host_*", "/etc/wireguard", "/etc/NetworkManager/system-connections",
    "/etc/kubernetes", "/etc/rancher", "/etc/ppp/chap-secrets",
};

/// Writable only as srt makes them: private to each sandbox, so no grant may name anything beneath.
inline constexpr std::array<std::string_view, 3> kernel_paths{"/proc", "/sys", "/dev"};

/// Settings by which shells, editors and agents can be made to run something: not writable in a workspace while they exist.
inline constexpr std::array<std::string_view, 8> settings_files{".bashrc",  ".bash_profile", ".zshrc",     ".zprofile",
                                                                ".profile", ".gitconfig",    ".ripgreprc", ".mcp.json"};
inline constexpr std::array<std::string_view, 2> settings_directories{".vscode", ".idea"};
inline constexpr std::array<std::string_view, 2> claude_directories{"commands", "agents"};  // in .claude

inline constexpr std::string_view path = "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
inline constexpr std::string_view term = "dumb";
inline constexpr std::array<std::string_view, 5> locale_names{"LANG", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES"};

inline constexpr std::string_view tmp = "/tmp";
/// srt makes this writable in every sandbox where it exists (measured with 0.0.83).
inline constexpr std::string_view srt_tmp = "/tmp/claude";

}  // namespace bailey::defaults
