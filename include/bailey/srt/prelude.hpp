// The shell code that runs first inside the sandbox: proves that it is one, sets the command's world, and becomes the command.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <bailey/base/format.hpp>
#include <bailey/base/platform.hpp>
#include <bailey/boundary/boundary.hpp>

namespace bailey::srt {

/// A word of bash that stands for exactly these bytes.
[[nodiscard]] inline std::string shell_quoted(std::string_view text) {
    std::string result = "'";
    for (char c : text) {
        if (c == '\'') {
            result += "'\\''";
        } else {
            result += c;
        }
    }
    return result += '\'';
}

/// A path and what it must be inside: the very directory that was opened when the workspace was made.
struct PinnedIdentity {
    std::string path;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
};

/// By what a sandbox shows that it is one.
struct Proof {
    std::string hidden_path;    ///< exists on the host, and in no sandbox
    std::string readonly_path;  ///< a file that no sandbox can create
    std::vector<PinnedIdentity> pinned;
};

/// What becomes of a sandbox that has proved itself.
struct Entry {
    std::string nonce;
    std::string cwd;
    std::vector<EnvironmentEntry> environment;
    ResourceLimits limits;
    std::vector<std::string> argv;  ///< run without a shell, or, when empty:
    std::string command;            ///< for bash -c, or, when it is too long for one argument:
    std::string command_file;       ///< holds the command and a full stop, which keeps the newlines at its end
    bool null_input = false;        ///< give up the standard input that the sandbox has
    bool merge_stderr = false;      ///< stderr goes where stdout goes
};

/// The kernel's limit for one argument is 128 KiB (MAX_ARG_STRLEN); quoting may lengthen nothing here, the shell has unquoted it.
inline constexpr std::size_t longest_argument = 120 * 1024;

/// Comes before the command's environment is set, which could change how bash reads it (POSIXLY_CORRECT). What follows refuses as it does.
[[nodiscard]] inline std::string proof_script(const Proof& proof) {
    std::string script = "bailey_refuse() { printf 'bailey: %s\\n' \"$1\" >&2; exit 125; }\n";
    script += text::concat({"[ ! -e ", shell_quoted(proof.hidden_path), " ] || bailey_refuse 'this is no sandbox: the host is visible'\n"});
    script += text::concat({"{ ! : > ", shell_quoted(proof.readonly_path), "; } 2>/dev/null || bailey_refuse 'this is no sandbox: the host is writable'\n"});
    script += "[ ! -w /proc/sys/kernel/panic ] || bailey_refuse 'this is no sandbox: the kernel can be reconfigured (see guard.hpp)'\n";
    for (const auto& pinned : proof.pinned) {
        script += text::concat({"[ \"$(stat ", on_linux ? "-c %d:%i" : "-f %d:%i", " -- ", shell_quoted(pinned.path), ")\" = ", std::to_string(pinned.device), ":", std::to_string(pinned.inode), " ] || bailey_refuse ", shell_quoted(pinned.path + " is no longer the directory that the workspace was made with"), "\n"});
    }
    return script;
}

/// Whether the shell that sets the command's world may be the command's own, which saves the start of another. Not where it could be
/// told from bash -c: by a trace (++ for +), by a line's number, by a variable that bash reads when it starts. And nothing that would
/// end the clause in which entry_script() tries the command's grammar.
[[nodiscard]] inline bool is_evaluated(const Entry& plan) {
    if (!plan.argv.empty() || plan.command.size() > 4096) return false;
    for (const std::string_view told : {"\n", "set", "trap", ";;", ";&", "esac"}) {
        if (plan.command.find(told) != std::string::npos) return false;
    }
    return std::none_of(plan.environment.begin(), plan.environment.end(), [](const EnvironmentEntry& entry) {
        const std::string_view name = entry.first;
        return name.starts_with("LD_") || name.starts_with("BASH_") || name == "POSIXLY_CORRECT" || name == "GLIBC_TUNABLES" || name == "LOCPATH";
    });
}

/// What the sandbox's shell is given: nothing of the command is in it, srt hands its beginning to the sandbox as a proxy user's name.
/// A command that is evaluated is so here, outside of every file and function, as bash -c would.
[[nodiscard]] inline std::string boot_line(const std::string& prelude) { return ". " + shell_quoted(prelude) + " && eval -- \"$BASH_EXECUTION_STRING\""; }

[[nodiscard]] inline std::string entry_script(const Entry& plan) {
    std::string script = text::concat({"cd -- ", shell_quoted(plan.cwd), " || bailey_refuse 'the directory of the command cannot be entered'\n"});

    const auto limit = [&](char option, const std::optional<std::uint64_t>& value, std::uint64_t unit) {
        if (!value) return;
        const auto number = std::to_string(*value / unit + (*value % unit != 0 ? 1 : 0));
        // Where the host's own hard limit is lower already, it stays.
        const std::string set{option};
        script += text::concat({"ulimit -SH", set, " ", number, " 2>/dev/null || [ \"$(ulimit -H", set, ")\" -le ", number,
                                " ] || bailey_refuse 'a resource limit cannot be set'\n"});
    };
    limit('t', plan.limits.cpu_seconds, 1);
    limit('v', plan.limits.memory_bytes, 1024);
    limit('u', plan.limits.processes, 1);
    limit('f', plan.limits.file_size_bytes, 1024);
    limit('n', plan.limits.open_files, 1);

    script += "unset CLAUDE_CODE_TMPDIR OLDPWD\n";
    script += "export SHLVL=1";  // exec takes one away, the command's own shell adds one
    for (const auto& [name, value] : plan.environment) script += text::concat({" ", name, "=", shell_quoted(value)});
    if (plan.null_input) script += "\nexec < /dev/null";
    if (plan.merge_stderr) script += "\nexec 2>&1";
    script += text::concat({"\nprintf '\\036%s\\n' ", plan.nonce, " >&2\n"});
    if (is_evaluated(plan)) {
        script += text::concat({"BASH_EXECUTION_STRING=", shell_quoted(plan.command),
                                // parsed and not run; bash tells of what it cannot read in words that only bash -c has
                                "\neval \"case x in y) $BASH_EXECUTION_STRING\n;; esac\" 2> /dev/null || exec -a bash -- \"$BASH\" -c -- \"$BASH_EXECUTION_STRING\""
                                "\nunset -f bailey_refuse; unset -v bailey_word; BASH_ARGV0=bash; SECONDS=0"});
    } else if (!plan.argv.empty()) {
        script += "exec --";
        for (const auto& argument : plan.argv) script += ' ' + shell_quoted(argument);
    } else if (plan.command.size() <= longest_argument) {
        script += "exec -a bash -- \"$BASH\" -c -- " + shell_quoted(plan.command);
    } else {
        // Evaluated, not run as a script: $0, messages and a backslash at the very end are those of bash -c.
        script += "exec -a bash -- \"$BASH\" -c -- " +
                  shell_quoted("BAILEY_COMMAND=$(<" + shell_quoted(plan.command_file) + ") || exit 125; eval \"unset -v BAILEY_COMMAND; ${BAILEY_COMMAND%.}\"");
    }
    return script += '\n';
}

}  // namespace bailey::srt
