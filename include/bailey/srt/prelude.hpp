// The shell code that runs first inside the sandbox: proves that it is one, sets the command's world, and becomes the command.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bailey/base/platform.hpp>
#include <bailey/base/text.hpp>
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
    script += "[ ! -w /proc/sys/kernel/panic ] || bailey_refuse 'this is no sandbox: the kernel can be reconfigured'\n";
    for (const auto& pinned : proof.pinned) {
        script += text::concat({"[ \"$(stat ", on_linux ? "-c %d:%i" : "-f %d:%i", " -- ", shell_quoted(pinned.path), ")\" = ", std::to_string(pinned.device), ":", std::to_string(pinned.inode), " ] || bailey_refuse ", shell_quoted(pinned.path + " is no longer the directory that the workspace was made with"), "\n"});
    }
    return script;
}

/// Whether bash could take that word in a command line for its command of that name.
[[nodiscard]] inline bool has_word(std::string_view command, std::string_view word) {
    const auto in_word = [&](std::size_t at) { return at < command.size() && (std::isalnum(static_cast<unsigned char>(command[at])) != 0 || command[at] == '_'); };
    for (auto at = command.find(word); at != command.npos; at = command.find(word, at + 1)) {
        if ((at == 0 || !in_word(at - 1)) && !in_word(at + word.size())) return true;
    }
    return false;
}

/// Whether it reads another file's commands, by a "." that is no directory: at the beginning, behind an operator or a keyword.
[[nodiscard]] inline bool has_dot(std::string_view command) {
    for (auto at = command.find('.'); at != command.npos; at = command.find('.', at + 1)) {
        if (at + 1 == command.size() || (command[at + 1] != ' ' && command[at + 1] != '\t')) continue;
        const auto before = command.substr(0, at).find_last_not_of(" \t");
        if (before == command.npos || std::string_view{";&|({!`"}.find(command[before]) != std::string_view::npos) return true;
        if (before + 1 == at) continue;  // "cd .. && …"
        for (const std::string_view keyword : {"then", "do", "else", "if", "elif", "while", "until", "time", "command"})
            if (command.substr(0, before + 1).ends_with(keyword)) return true;
    }
    return false;
}

/// Whether the shell that sets the command's world may be the command's own, which saves the start of another. Not where it could be
/// told from bash -c: by a trace (++ for +), by a line's number, by a variable that bash reads when it starts, by what lists variables
/// or changes the shell that is to say how it ended. And nothing that would end the clause in which entry_script() tries the command's
/// grammar.
[[nodiscard]] inline bool is_evaluated(const Entry& plan) {
    const std::string_view command = plan.command;
    if (!plan.argv.empty() || command.size() > 4096 || has_dot(command)) return false;
    for (const std::string_view told : {"\n", ";;", ";&", "BAILEY_"})
        if (command.find(told) != command.npos) return false;
    for (const std::string_view told : {"set", "trap", "esac", "source", "eval", "shopt", "enable", "builtin", "ulimit", "declare", "typeset", "compgen"})
        if (has_word(command, told)) return false;
    return std::none_of(plan.environment.begin(), plan.environment.end(), [](const EnvironmentEntry& entry) {
        const std::string_view name = entry.first;
        return name.starts_with("LD_") || name.starts_with("BASH_") || name.starts_with("POSIX") || name == "PS1" || name == "PS2" || name == "IGNOREEOF" || name == "GLOBIGNORE" || name == "GLIBC_TUNABLES" || name == "LOCPATH";
    });
}

/// What the sandbox's shell is given: nothing of the command is in it, srt hands its beginning to the sandbox as a proxy user's name.
/// A command that is evaluated is so here, outside of every file and function, as bash -c would.
[[nodiscard]] inline std::string boot_line(const std::string& prelude) { return ". " + shell_quoted(prelude) + " && : bash && eval -- \"$BASH_EXECUTION_STRING\""; }

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
                                // Parsed and not run; bash tells of what it cannot read in words that only bash -c has. What is wrong
                                // within $(…) or <(…) would throw this shell back to its end, so another one tries that.
                                plan.command.find('(') == plan.command.npos ? "\neval \"case x in y) $BASH_EXECUTION_STRING\n;; esac\"" : "\n(eval \"case x in y) $BASH_EXECUTION_STRING\n;; esac\")",
                                " 2> /dev/null || exec -a bash -- \"$BASH\" -c -- \"$BASH_EXECUTION_STRING\""
                                "\nunset -f bailey_refuse; BASH_ARGV0=bash; SECONDS=0"});
    } else if (!plan.argv.empty()) {
        const auto program = shell_quoted(plan.argv.front());
        // In words without bailey's own files, as for a command line.
        if (plan.argv.front().find('/') == std::string::npos) script += text::concat({"type -P -- ", program, " > /dev/null || { printf 'bash: %s: command not found\\n' ", program, " >&2; exit 127; }\n"});
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
