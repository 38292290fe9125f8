// Which environment variables a command can be given, and which names are too telling to be passed through unasked.
#pragma once

#include <cstddef>
#include <string_view>

#include <bailey/base/fixed_string.hpp>
#include <bailey/grammar/fault.hpp>
#include <bailey/grammar/scan.hpp>

namespace bailey::grammar {

#define BAILEY_ENV_RULES(RULE)                                                                                                 \
    RULE(empty, "the name of an environment variable is empty; write a name such as \"CI\"")                                   \
    RULE(not_identifier,                                                                                                       \
         "the name of an environment variable consists of letters, digits and underscores and starts with no digit; "          \
         "write a name such as \"NODE_ENV\"")                                                                                  \
    RULE(bash_own, "bash keeps this variable to itself, a command would never see the value; write a name of your own")        \
    RULE(bailey_own, "names that start with BAILEY_ are bailey's own; write another name")                                     \
    RULE(steers,                                                                                                               \
         "this variable steers programs or makes them load code, so the host's value is not passed through; write the value "  \
         "that is meant: EnvValue<\"NAME\", \"value\"> or runtime::Env")                                                       \
    RULE(credential, "this name looks like a credential; if the command may have it, write EnvCredential<\"NAME\">")           \
    RULE(proxy,                                                                                                                \
         "proxies of the host are out of the sandbox's reach, and it sets this variable itself; write UpstreamProxy<\"url\">") \
    RULE(nul_in_value, "the value of an environment variable holds a NUL character; write the value without it")                    \
    RULE(value_too_long, "the value of an environment variable has more than 128 000 bytes, more than Linux passes on; put it in a file")

#define BAILEY_ENUMERATOR(kind, sentence) kind,
#define BAILEY_CASE(kind, sentence) \
    case EnvFault::kind:            \
        return sentence;
#define BAILEY_CHECK(kind, sentence) static_assert(Kind != EnvFault::kind, "bailey: " sentence);

enum class EnvFault { none, BAILEY_ENV_RULES(BAILEY_ENUMERATOR) };

[[nodiscard]] constexpr std::string_view sentence(EnvFault fault) {
    switch (fault) {
        BAILEY_ENV_RULES(BAILEY_CASE)
        case EnvFault::none: break;
    }
    return {};
}

/// Made only to fail: its name says what is wrong, where, and with which value.
template <EnvFault Kind, class Position, class Value>
struct refused_variable {
    BAILEY_ENV_RULES(BAILEY_CHECK)
};

#undef BAILEY_CHECK
#undef BAILEY_CASE
#undef BAILEY_ENUMERATOR
#undef BAILEY_ENV_RULES

enum class EnvUse {
    pass,        ///< the host's value, whatever it is
    credential,  ///< the host's value, a secret on purpose
    value,       ///< a value that the caller gives
};

/// What bash 5.2 makes read-only, sets anew at its start or computes when read: exported by us, a command would not see our
/// value. (Tried name by name. BASH_ENV, BASH_COMPAT, PS4 and others arrive, and are not in the list.)
[[nodiscard]] constexpr bool is_bash_own(std::string_view name) {
    // clang-format off
    constexpr std::string_view names[] = {
        "_", "BASH", "BASHOPTS", "BASHPID", "COMP_WORDBREAKS", "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME",
        "GROUPS", "HISTCMD", "IFS", "LINENO", "OLDPWD", "OPTERR", "OPTIND", "PIPESTATUS", "PPID", "PWD", "RANDOM", "SECONDS",
        "SHELLOPTS", "SHLVL", "SRANDOM", "UID", "BASH_ALIASES", "BASH_ARGC", "BASH_ARGV", "BASH_ARGV0", "BASH_CMDS",
        "BASH_COMMAND", "BASH_EXECUTION_STRING", "BASH_LINENO", "BASH_SOURCE", "BASH_SUBSHELL", "BASH_VERSINFO", "BASH_VERSION",
        "BASH_XTRACEFD",
    };
    // clang-format on
    return one_of(name, names);
}

/// What makes a loader, an interpreter, a build tool or git load or run something else than the command says.
[[nodiscard]] constexpr bool steers_programs(std::string_view name) {
    if (starts_with(name, "LD_") || starts_with(name, "DYLD_") || starts_with(name, "GIT_CONFIG")) return true;
    // clang-format off
    constexpr std::string_view names[] = {
        "BASH_ENV", "ENV", "ZDOTDIR", "PROMPT_COMMAND", "PS4", "CDPATH", "GLOBIGNORE", "FPATH",                        // shells
        "GCONV_PATH", "LOCPATH", "NLSPATH", "GLIBC_TUNABLES", "HOSTALIASES", "RESOLV_HOST_CONF",                       // libc
        "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
        "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER_PATH",
        "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONINSPECT", "PYTHONBREAKPOINT",
        "PERL5LIB", "PERL5OPT", "PERL5DB", "PERLLIB", "RUBYLIB", "RUBYOPT", "LUA_INIT", "LUA_PATH", "LUA_CPATH",
        "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE", "R_PROFILE_USER", "R_ENVIRON", "R_ENVIRON_USER", "GUILE_LOAD_PATH",
        "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "MAVEN_OPTS", "GRADLE_OPTS",
        "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "GOFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER",               // builds
        "CMAKE_TOOLCHAIN_FILE", "LESSOPEN", "LESSCLOSE", "SSH_ASKPASS", "SUDO_ASKPASS",
        "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",                        // git
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_SSH", "GIT_SSH_COMMAND",
        "GIT_ASKPASS", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND",
    };
    // clang-format on
    return one_of(name, names);
}

[[nodiscard]] constexpr bool names_proxy(std::string_view name) {
    constexpr std::string_view names[] = {"http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy"};
    for (const std::string_view& proxy : names)
        if (same_folded(name, proxy)) return true;
    return false;
}

/// A name that people give to secrets, or to a file or a socket that hands them out. A guess from the spelling, and on the safe
/// side.
[[nodiscard]] constexpr bool looks_like_credential(std::string_view name) {
    constexpr std::string_view families[] = {
        "AWS_", "AZURE_", "ARM_CLIENT_", "VAULT_", "ACTIONS_ID_TOKEN_", "ACTIONS_RUNTIME_", "OP_SESSION_"};
    for (const std::string_view& family : families)
        if (starts_with(name, family)) return true;

    char folded[64]{};
    if (name.size() > sizeof folded) name = name.substr(name.size() - sizeof folded);  // the end is what tells
    for (std::size_t i = 0; i < name.size(); ++i) folded[i] = upper(name[i]);
    const std::string_view upper_name{folded, name.size()};

    // clang-format off
    constexpr std::string_view names[] = {
        "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "GNUPGHOME", "KRB5CCNAME", "KRB5_KTNAME", "XAUTHORITY",  // agents
        "DBUS_SESSION_BUS_ADDRESS", "DOCKER_AUTH_CONFIG", "DOCKER_CONFIG", "KUBECONFIG",
        "NETRC", "PGPASSFILE", "PGSERVICEFILE", "BOTO_CONFIG", "CLOUDSDK_CONFIG", "NPM_CONFIG_USERCONFIG",           // files
        "DATABASE_URL", "DATABASE_URI", "DB_URL", "POSTGRES_URL", "POSTGRESQL_URL", "MYSQL_URL", "REDIS_URL",        // passwords inside
        "MONGO_URL", "MONGO_URI", "MONGODB_URL", "MONGODB_URI", "AMQP_URL", "RABBITMQ_URL", "CLOUDINARY_URL",
        "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL",
    };
    // clang-format on
    if (one_of(upper_name, names)) return true;

    constexpr std::string_view endings[] = {"PASSWORD",           "PASSWD",      "PASSPHRASE",    "APIKEY",
                                            "AUTHTOKEN",          "ACCESSTOKEN", "_DATABASE_URL", "_WEBHOOK_URL",
                                            "_CONNECTION_STRING", "_CONNSTR"};
    for (const std::string_view& ending : endings)
        if (ends_with(upper_name, ending)) return true;

    constexpr std::string_view anywhere[] = {"TOKEN",      "SECRET",     "SECRETS",     "PASSWORD", "PASSWD",
                                             "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "APIKEY"};
    constexpr std::string_view before_key[] = {"API", "ACCESS", "PRIVATE", "SECRET", "SIGNING", "ENCRYPTION"};
    constexpr std::string_view at_the_end[] = {"KEY", "KEYS", "PASS", "PWD", "PAT", "AUTH", "DSN", "JWT", "COOKIE", "KEYTAB"};
    std::string_view previous;
    for (std::size_t start = 0; start < upper_name.size();) {
        std::size_t end = index_of(upper_name, '_', start);
        if (end == npos) end = upper_name.size();
        const std::string_view word = upper_name.substr(start, end - start);
        if (!word.empty()) {
            if (one_of(word, anywhere) || (end == upper_name.size() && start > 0 && one_of(word, at_the_end))) return true;
            if (same(word, "KEY") && !previous.empty() && one_of(previous, before_key)) return true;
        }
        previous = word;
        start = end + 1;
    }
    return false;
}

/// The rule for the name of one variable.
[[nodiscard]] constexpr Fault<EnvFault> env_name_fault(std::string_view name, EnvUse use) {
    if (name.empty()) return {EnvFault::empty, 0};
    for (std::size_t i = 0; i < name.size(); ++i)
        if (!is_letter(name[i]) && name[i] != '_' && (i == 0 || !is_digit(name[i]))) return {EnvFault::not_identifier, i};
    if (is_bash_own(name)) return {EnvFault::bash_own, 0};
    if (starts_with(name, "BAILEY_")) return {EnvFault::bailey_own, 0};
    if (use == EnvUse::value) return {};
    if (steers_programs(name)) return {EnvFault::steers, 0};
    if (use == EnvUse::credential) return {};
    if (names_proxy(name)) return {EnvFault::proxy, 0};
    if (looks_like_credential(name)) return {EnvFault::credential, 0};
    return {};
}

inline constexpr std::size_t longest_env_value = 128'000;  // Linux: 128 KiB for the name, '=', the value and its end

/// The rule for a value: any bytes but NUL.
[[nodiscard]] constexpr Fault<EnvFault> env_value_fault(std::string_view value) {
    if (const std::size_t nul = index_of(value, '\0'); nul != npos) return {EnvFault::nul_in_value, nul};
    if (value.size() > longest_env_value) return {EnvFault::value_too_long, longest_env_value};
    return {};
}

template <fixed_string Name, EnvUse Use>
inline constexpr auto judged_env_name = env_name_fault(Name.view(), Use);

/// Compiles to true, or not at all.
template <fixed_string Name, EnvUse Use>
consteval bool accepts_env_name() {
    if constexpr (constexpr auto fault = judged_env_name<Name, Use>; fault.kind != EnvFault::none) {
        using refused = refused_variable<fault.kind, at<fault.position>, spelled<Name>>;
        look_into(static_cast<refused*>(nullptr));
    }
    return true;
}

template <fixed_string Value>
inline constexpr auto judged_env_value = env_value_fault(Value.view());

/// Compiles to true, or not at all.
template <fixed_string Value>
consteval bool accepts_env_value() {
    if constexpr (constexpr auto fault = judged_env_value<Value>; fault.kind != EnvFault::none) {
        using refused = refused_variable<fault.kind, at<fault.position>, spelled<Value>>;
        look_into(static_cast<refused*>(nullptr));
    }
    return true;
}

}  // namespace bailey::grammar
