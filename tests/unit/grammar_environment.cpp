// Which variables a command can be given, at run time; and bash itself as the judge of the names that bash keeps.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <bailey/grammar/environment.hpp>

using namespace bailey::grammar;
using namespace std::string_literals;

namespace {

EnvFault kind(const std::string& name, EnvUse use) { return env_name_fault(name, use).kind; }

// What a program sees that bash starts with NAME exported to a value of ours.
std::string read_back(const std::string& name) {
    const std::string command =
        "bash --norc -c 'export " + name + "=our_value; exec /usr/bin/env bash --norc -c \"/usr/bin/env\"' 2>/dev/null";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string all;
    for (int c; (c = std::fgetc(pipe)) != EOF;) all += static_cast<char>(c);
    ::pclose(pipe);
    const auto start = ("\n" + all).find("\n" + name + "=");
    if (start == std::string::npos) return {};
    const auto value = start + name.size() + 1;
    return all.substr(value, all.find('\n', value) - value);
}

}  // namespace

TEST_CASE("environment: a name is an identifier") {
    for (const auto& name : {"A", "a", "_a", "CI", "NODE_ENV", "X1", "__", "http2"})
        CHECK(kind(name, EnvUse::value) == EnvFault::none);
    CHECK(kind("", EnvUse::value) == EnvFault::empty);
    for (const auto& name : {"1A"s, "A-B"s, "A B"s, "A="s, "A.B"s, "A\n"s, "A\0"s, "BASH_FUNC_x%%"s, "\xc3\xbc"s, "$A"s}) {
        CAPTURE(std::string{name});
        for (const auto use : {EnvUse::pass, EnvUse::credential, EnvUse::value})
            CHECK(kind(name, use) == EnvFault::not_identifier);
    }
    CHECK(env_name_fault("MY-VAR", EnvUse::pass).position == 2);
}

TEST_CASE("environment: names that bash or bailey keep are refused everywhere") {
    for (const auto use : {EnvUse::pass, EnvUse::credential, EnvUse::value}) {
        for (const auto& name : {"UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS", "IFS", "_", "RANDOM", "PWD", "SHLVL",
                                 "BASH_COMMAND", "BASH_VERSINFO"})
            CHECK(kind(name, use) == EnvFault::bash_own);
        CHECK(kind("BAILEY_X", use) == EnvFault::bailey_own);
        CHECK(kind("BAILEY_", use) == EnvFault::bailey_own);
        CHECK(kind("BAILEY", use) == EnvFault::none);
    }
    for (const auto& name : {"BASH_ENV", "BASH_DEFAULT_TIMEOUT_MS", "BASH_SILENCE_DEPRECATION_WARNING", "BASH_COMPAT"})
        CHECK(kind(name, EnvUse::value) == EnvFault::none);
}

TEST_CASE("environment: bash agrees on the names that it keeps") {
    for (const auto& name :
         {"BASH",     "BASHOPTS",     "BASHPID",       "DIRSTACK",   "EPOCHREALTIME", "EPOCHSECONDS", "EUID",
          "FUNCNAME", "GROUPS",       "HISTCMD",       "IFS",        "LINENO",        "OLDPWD",       "OPTIND",
          "PPID",     "PWD",          "RANDOM",        "SECONDS",    "SHELLOPTS",     "SHLVL",        "SRANDOM",
          "UID",      "BASH_COMMAND", "BASH_SUBSHELL", "BASH_ARGV0", "BASH_VERSION",  "BASH_VERSINFO"}) {
        CAPTURE(std::string{name});
        CHECK(is_bash_own(name));
        CHECK(read_back(name) != "our_value");
    }
    for (const auto& name : {"HOSTNAME", "HOSTTYPE", "OPTARG", "REPLY", "MAPFILE", "TMOUT", "COLUMNS", "HISTFILE", "MAIL",
                             "POSIXLY_CORRECT", "ENV", "CDPATH"}) {
        CAPTURE(std::string{name});
        CHECK_FALSE(is_bash_own(name));
        CHECK(read_back(name) == "our_value");
    }
}

TEST_CASE("environment: what steers programs is not passed through, a value of the caller's is fine") {
    for (const auto& name : {"LD_PRELOAD",       "LD_LIBRARY_PATH", "LD_AUDIT",          "DYLD_INSERT_LIBRARIES",
                             "NODE_OPTIONS",     "NODE_PATH",       "BASH_ENV",          "ENV",
                             "GCONV_PATH",       "PYTHONPATH",      "PYTHONSTARTUP",     "PERL5OPT",
                             "PERL5LIB",         "RUBYOPT",         "JAVA_TOOL_OPTIONS", "GIT_CONFIG_GLOBAL",
                             "GIT_CONFIG_COUNT", "GIT_SSH_COMMAND", "GIT_DIR",           "GIT_EXTERNAL_DIFF",
                             "GIT_TEMPLATE_DIR"}) {
        CAPTURE(std::string{name});
        CHECK(kind(name, EnvUse::pass) == EnvFault::steers);
        CHECK(kind(name, EnvUse::credential) == EnvFault::steers);
        CHECK(kind(name, EnvUse::value) == EnvFault::none);
    }
}

TEST_CASE("environment: what looks like a credential needs its own word") {
    for (const auto& name : {"OPENAI_API_KEY",
                             "ANTHROPIC_API_KEY",
                             "AWS_SECRET_ACCESS_KEY",
                             "AWS_ACCESS_KEY_ID",
                             "AWS_SESSION_TOKEN",
                             "AWS_PROFILE",
                             "AZURE_CLIENT_SECRET",
                             "GH_TOKEN",
                             "GITHUB_TOKEN",
                             "GITHUB_PAT",
                             "GITLAB_TOKEN",
                             "CI_JOB_TOKEN",
                             "NPM_TOKEN",
                             "NODE_AUTH_TOKEN",
                             "HF_TOKEN",
                             "GOOGLE_APPLICATION_CREDENTIALS",
                             "SSH_AUTH_SOCK",
                             "GPG_AGENT_INFO",
                             "DATABASE_URL",
                             "STAGING_DATABASE_URL",
                             "REDIS_URL",
                             "MONGODB_URI",
                             "PGPASSWORD",
                             "PGPASSFILE",
                             "MYSQL_PWD",
                             "DB_PASS",
                             "DB_PASSWORD",
                             "SECRET_KEY_BASE",
                             "DJANGO_SECRET_KEY",
                             "SENTRY_DSN",
                             "SLACK_WEBHOOK_URL",
                             "VAULT_ADDR",
                             "KUBECONFIG",
                             "DOCKER_AUTH_CONFIG",
                             "TWINE_PASSWORD",
                             "PASSWORD",
                             "SECRET",
                             "TOKEN",
                             "API_KEY",
                             "APIKEY",
                             "MY_PASSWD",
                             "KEY_PASSPHRASE",
                             "SIGNING_KEY",
                             "PRIVATE_KEY_PEM",
                             "npm_config__auth",
                             "STORAGE_CONNECTION_STRING",
                             "SESSION_COOKIE",
                             "JWT_SECRET",
                             "A_VERY_LONG_PREFIX_THAT_IS_MUCH_LONGER_THAN_ANYONE_WOULD_EVER_WRITE_DOWN_TOKEN"}) {
        CAPTURE(std::string{name});
        CHECK(kind(name, EnvUse::pass) == EnvFault::credential);
        CHECK(kind(name, EnvUse::credential) == EnvFault::none);
        CHECK(kind(name, EnvUse::value) == EnvFault::none);
    }
    for (const auto& name : {"CI",
                             "NODE_ENV",
                             "GITHUB_SHA",
                             "GITHUB_REF",
                             "HOME",
                             "USER",
                             "SHELL",
                             "EDITOR",
                             "MAX_TOKENS",
                             "TOKENIZERS_PARALLELISM",
                             "MONKEY",
                             "KEYBOARD",
                             "COMPASS",
                             "AUTHOR",
                             "GIT_AUTHOR_NAME",
                             "KEY",
                             "PATTERN",
                             "DEBUG",
                             "NO_COLOR",
                             "FORCE_COLOR",
                             "TZ",
                             "CC",
                             "CFLAGS",
                             "CARGO_HOME",
                             "GOPATH",
                             "JAVA_HOME",
                             "DISPLAY",
                             "XDG_RUNTIME_DIR",
                             "GIT_TERMINAL_PROMPT",
                             "PASSENGER_ENV"}) {
        CAPTURE(std::string{name});
        CHECK(kind(name, EnvUse::pass) == EnvFault::none);
    }
}

TEST_CASE("environment: proxies of the host are not passed through") {
    for (const auto& name : {"HTTP_PROXY", "https_proxy", "ALL_PROXY", "no_proxy"}) {
        CHECK(kind(name, EnvUse::pass) == EnvFault::proxy);
        CHECK(kind(name, EnvUse::value) == EnvFault::none);
    }
}

TEST_CASE("environment: a value is any bytes but NUL") {
    CHECK_FALSE(env_value_fault(""));
    CHECK_FALSE(env_value_fault("a\nb \xff $HOME `x` 'y'"));
    CHECK(env_value_fault("a\0b"s).kind == EnvFault::nul_in_value);
    CHECK(env_value_fault("a\0b"s).position == 1);
}
