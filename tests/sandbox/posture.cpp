// What a command can see and do when no policy says anything, looked at from inside: as root and as an ordinary user.
#include "http_server.hpp"
#include "inside.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <optional>

#include <fcntl.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

using namespace support;

namespace {

/// Answers that are not what they should be. Text, because doctest's macros do not work in a child process.
class Findings {
public:
    explicit Findings(const bailey::CommandResult& result) : result_{result}, answers_{result.out} {
        if (result.outcome != bailey::Outcome::exited || result.exit_code != 0) text_ += "the command did not end well\n";
    }
    [[nodiscard]] const Answers& answers() const { return answers_; }
    void expect(const std::string& label, const std::string& value) {
        if (answers_[label] != value) text_ += label + " is " + answers_[label] + ", not " + value + "\n";
    }
    void require(bool holds, const std::string& what) {
        if (!holds) text_ += what + "\n";
    }
    [[nodiscard]] std::string text() const { return text_.empty() ? "" : text_ + shown(result_); }

private:
    const bailey::CommandResult& result_;
    Answers answers_;
    std::string text_;
};

bailey::Tools tools_anywhere() { return {.srt = std::getenv("BAILEY_SRT"), .node = std::getenv("BAILEY_NODE")}; }

/// The check, first as root in a directory of root's, then as an ordinary user in one of theirs. `check(root)` returns its findings.
template <class Check>
void as_root_and_as_user(Check check) {
    {
        INFO("as root");
        TempDir root;
        CHECK(check(root.path()) == "");
    }
    TempDir root;
    const passwd user = ordinary_user();
    REQUIRE(::chown(root.path().c_str(), user.pw_uid, user.pw_gid) == 0);
    CHECK(as_ordinary_user([&] {
        const std::string findings = check(root.path());
        std::fputs(findings.c_str(), stderr);
        return findings.empty() ? 0 : 1;
    }) == 0);
}

class UnixListener {
public:
    /// A path, or, where it begins with '@', an abstract name.
    explicit UnixListener(const std::string& name) {
        address_.sun_family = AF_UNIX;
        REQUIRE(name.size() < sizeof address_.sun_path);
        std::memcpy(address_.sun_path, name.data(), name.size());
        if (name[0] == '@') address_.sun_path[0] = '\0';
        size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (name[0] == '@' ? 0 : 1));
        listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&address_), size_) == 0);
        REQUIRE(::listen(listener_, 8) == 0);
        if (name[0] != '@') {
            path_ = name;
            ::chmod(name.c_str(), 0777);
        }
    }
    ~UnixListener() {
        ::close(listener_);
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    UnixListener(const UnixListener&) = delete;
    UnixListener& operator=(const UnixListener&) = delete;

    [[nodiscard]] bool reachable_from_the_host() const {
        const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const bool connected = ::connect(client, reinterpret_cast<const sockaddr*>(&address_), size_) == 0;
        ::close(client);
        return connected && callers() == 1;
    }
    /// How many have connected since the last question.
    [[nodiscard]] int callers() const {
        int count = 0;
        for (int client; (client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; ::close(client)) ++count;
        return count;
    }

private:
    sockaddr_un address_{};
    socklen_t size_ = 0;
    int listener_ = -1;
    std::string path_;
};

/// The names of a table in docs/environment.md.
std::set<std::string> documented(const std::string& heading) {
    std::ifstream file{environment("BAILEY_TEST_ROOT") + "/docs/environment.md"};
    std::set<std::string> names;
    bool here = false;
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("## ", 0) == 0) here = line == "## " + heading;
        if (here && line.rfind("| `", 0) == 0) names.insert(line.substr(3, line.find('`', 3) - 3));
    }
    REQUIRE_FALSE(names.empty());
    return names;
}

std::map<std::string, std::string> variables(std::string_view zero_separated) {
    std::map<std::string, std::string> result;
    while (!zero_separated.empty()) {
        const auto entry = zero_separated.substr(0, zero_separated.find('\0'));
        zero_separated.remove_prefix(std::min(entry.size() + 1, zero_separated.size()));
        result[std::string{entry.substr(0, entry.find('='))}] = entry.substr(entry.find('=') + 1);
    }
    return result;
}

std::string joined(const std::set<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += name + " ";
    return text;
}

// Names under which secrets are kept; the values are made up below.
const std::vector<std::string> secret_names{
    "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GH_TOKEN", "GITHUB_TOKEN",
    "GITLAB_TOKEN", "CI_JOB_TOKEN", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "NPM_TOKEN", "NODE_AUTH_TOKEN", "PYPI_TOKEN",
    "TWINE_PASSWORD", "HF_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_API_KEY", "GEMINI_API_KEY", "AZURE_CLIENT_SECRET", "AZURE_OPENAI_API_KEY",
    "ARM_CLIENT_SECRET", "DATABASE_URL", "PGPASSWORD", "MYSQL_PWD", "REDIS_URL", "MONGODB_URI", "STRIPE_SECRET_KEY", "SLACK_BOT_TOKEN",
    "SLACK_WEBHOOK_URL", "DISCORD_TOKEN", "TELEGRAM_BOT_TOKEN", "TWILIO_AUTH_TOKEN", "SENDGRID_API_KEY", "DOCKER_PASSWORD", "KUBECONFIG",
    "VAULT_TOKEN", "CLOUDFLARE_API_TOKEN", "DIGITALOCEAN_TOKEN", "HEROKU_API_KEY", "SENTRY_DSN", "DATADOG_API_KEY", "JWT_SECRET",
    "SECRET_KEY_BASE", "COHERE_API_KEY", "MISTRAL_API_KEY", "MY_DB", "LD_PRELOAD_NOTE", "NODE_EXTRA_CA_CERTS", "CLAUDE_CODE_OAUTH_TOKEN",
};

long keyctl(int operation, long a = 0, long b = 0, long c = 0, long d = 0) { return ::syscall(SYS_keyctl, operation, a, b, c, d); }
long add_key(const char* description, const char* payload, long keyring) {
    return ::syscall(SYS_add_key, "user", description, payload, std::strlen(payload), keyring);
}

}  // namespace

TEST_CASE("N01 N03 nothing leaves by any client, and each ends in seconds") {
    HttpServer server{"the host answers\n"};
    REQUIRE(host_output("curl -fsS -m5 --noproxy '*' " + server.url()) == "the host answers\n");
    const auto asked_by_the_test = server.connections();

    as_root_and_as_user([&](const std::string& root) {
        support::Subject<> workspace{root, tools_anywhere()};
        const auto result = workspace.run("URL=" + server.url() + " PORT=" + server.port() + "\n" + ask + R"sh(
timed() { local begin=$SECONDS; try "$1" "$2"; local took=$((SECONDS - begin)); [ $took -le 5 ] && say "$1-quick" yes || say "$1-quick" "no, $took s"; }
unproxied="env -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY -u http_proxy -u https_proxy -u all_proxy"
python() { python3 -c "import socket, urllib.request as u
$1"; }
timed http 'curl -fsS -m20 http://example.com'
say http-status "$(curl -sS -m20 -o /dev/null -w '%{http_code}' http://example.com)"
timed https 'curl -fsS -m20 https://example.com'
timed proxy-blind '$unproxied curl -fsS -m20 https://example.com'
timed address 'curl -fsS -m20 http://192.0.2.1/'
timed host-direct 'curl -fsS -m20 $URL'
timed host-by-proxy 'curl -fsS -m20 --noproxy "" $URL'
timed host-by-socks 'curl -fsS -m20 --noproxy "" --proxy "$FTP_PROXY" $URL'
timed python-http 'python "u.urlopen(\"http://example.com\", timeout=20)"'
timed python-https 'python "u.urlopen(\"https://example.com\", timeout=20)"'
timed tcp 'exec 3<>/dev/tcp/192.0.2.1/80'
timed tcp-host 'exec 3<>/dev/tcp/127.0.0.1/$PORT'
timed tcp6 'python "socket.create_connection((\"2001:db8::1\", 80), timeout=20)"'
timed udp 'python "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"x\", (\"192.0.2.1\", 53))"'
timed icmp 'python "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)"'
timed packet 'python "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"'
timed vsock 'python "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)"'
timed dns 'getent hosts example.com'
say interfaces $(tail -n +3 /proc/net/dev | cut -d: -f1)
# The same clients, with a server inside: it is the sandbox that stops them.
python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 &
for i in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/8000) 2>/dev/null && break; sleep 0.05; done
try own-http 'curl -fsS -m20 http://127.0.0.1:8000'
try own-python 'python "u.urlopen(\"http://127.0.0.1:8000\", timeout=20)"'
try own-tcp 'exec 3<>/dev/tcp/127.0.0.1/8000'
try own-udp 'python "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", 53))"'
try own-dns 'getent hosts localhost'
)sh",
                                          {.timeout = 60s});
        Findings findings{result};
        for (const auto* client : {"http", "https", "proxy-blind", "address", "host-direct", "host-by-proxy", "host-by-socks", "python-http", "python-https",
                                   "tcp", "tcp-host", "tcp6", "udp", "icmp", "packet", "vsock", "dns"}) {
            findings.expect(client, "no");
            findings.expect(client + std::string{"-quick"}, "yes");
        }
        findings.expect("http-status", "403");
        findings.expect("interfaces", "lo");
        for (const auto* client : {"own-http", "own-python", "own-tcp", "own-udp", "own-dns"}) findings.expect(client, "yes");
        return findings.text();
    });
    CHECK(server.connections() == asked_by_the_test);
}

TEST_CASE("N08 no Unix socket of the host can be connected to, wherever it is bound") {
    as_root_and_as_user([&](const std::string& root) {
        // In the child process that is the ordinary user no doctest macro may fail, and none does: both have these directories.
        char in_tmp[] = "/tmp/bailey-socket-XXXXXX";
        if (::mkdtemp(in_tmp) == nullptr) return std::string{"mkdtemp"};
        std::string text;
        {
            const UnixListener in_workspace{root + "/socket"}, in_tmp_too{std::string{in_tmp} + "/socket"};
            const UnixListener abstract{"@" + std::string{in_tmp + 5}};
            for (const auto* listener : {&in_workspace, &in_tmp_too, &abstract}) {
                if (!listener->reachable_from_the_host()) text += "the host cannot reach the socket itself\n";
            }
            support::Subject<> workspace{root, tools_anywhere()};
            const auto result = workspace.run("IN_TMP=" + std::string{in_tmp} + " ABSTRACT=" + (in_tmp + 5) + "\n" + ask + R"sh(
connect() { say "$1" "$(python3 -c "import errno, socket, sys
try:
    s = socket.socket(socket.AF_UNIX, socket.$2)
    s.connect($3)
    print('connected')
except OSError as e:
    print(errno.errorcode[e.errno])")"; }
connect workspace SOCK_STREAM "'socket'"
connect tmp SOCK_STREAM "'$IN_TMP/socket'"
connect abstract SOCK_STREAM "'\\0$ABSTRACT'"
connect datagram SOCK_DGRAM "'socket'"
connect packets SOCK_SEQPACKET "'socket'"
try visible '[ -S socket ] && [ -S $IN_TMP/socket ]'
try curl 'curl -sS -m5 --unix-socket socket http://localhost/'
try socat 'socat -u - UNIX-CONNECT:socket'
try docker '[ -e /var/run/docker.sock ] || [ -e /run/docker.sock ]'
try pair 'python3 -c "import socket; socket.socketpair()"'
)sh");
            Findings findings{result};
            for (const auto* label : {"workspace", "tmp", "abstract", "datagram", "packets"}) findings.expect(label, "EPERM");
            for (const auto* label : {"curl", "socat", "docker"}) findings.expect(label, "no");
            for (const auto* label : {"visible", "pair"}) findings.expect(label, "yes");
            for (const auto* listener : {&in_workspace, &in_tmp_too, &abstract}) findings.require(listener->callers() == 0, "a socket was connected to");
            text += findings.text();
        }
        fs::remove_all(in_tmp);
        return text;
    });
}

TEST_CASE("only the workspace, /tmp and the system can be read (alone)") {
    // One file for everybody to read in each place of the host that is none of the sandbox's business.
    std::deque<Guest> guests;
    const std::string name = "/bailey-posture-" + std::to_string(::getpid());
    for (const auto* place : {"", "/home", "/root", "/srv", "/mnt", "/media", "/run", "/var", "/var/lib", "/var/log", "/var/cache", "/var/spool", "/var/tmp", "/boot"}) {
        if (fs::is_directory(*place == '\0' ? "/" : place)) guests.emplace_back(place + name, "the host's own\n");
    }
    Guest tmp{"/tmp" + name, "shared\n"};
    REQUIRE(guests.size() > 10);

    as_root_and_as_user([&](const std::string& root) {
        write(root + "/mine", "mine\n");
        support::Subject<> workspace{root, tools_anywhere()};
        std::string script = ask;
        for (const auto& guest : guests) {
            script += "try read:" + guest.path() + " 'cat " + guest.path() + "'\n";
            script += "try see:" + guest.path() + " 'ls -A " + fs::path{guest.path()}.parent_path().string() + " | grep -q bailey-posture'\n";
        }
        script += "try tmp 'cat " + tmp.path() + "'\n" + R"sh(
try workspace 'cat mine'
try usr 'head -c 1 /usr/bin/env'
try etc 'cat /etc/passwd /etc/hosts'
try packages 'dpkg-query -W bash'
try proc 'cat /proc/self/status'
try dev 'head -c 1 /dev/urandom && : >/dev/null'
# What is not empty at all, two levels deep.
say top $(for d in /* /.[!.]*; do [ -d "$d" ] && [ ! -L "$d" ] && [ -n "$(ls -A "$d")" ] && echo "$d"; done)
say top-files $(for f in /* /.[!.]*; do [ -f "$f" ] && cat "$f" >/dev/null 2>&1 && echo "$f"; done)
say var $(for d in /var/*; do [ -n "$(ls -A "$d" 2>/dev/null)" ] && echo "$d"; done)
say var-lib $(ls -A /var/lib)
say var-tmp $(ls -A /var/tmp)
say private $(ls -A /var/tmp/bailey-$UID)
say self-private $(ls -A "$(dirname "$TMPDIR")")
)sh";
        const auto result = workspace.run(script);
        Findings findings{result};
        for (const auto& guest : guests) {
            findings.require(result.out.find("read:" + guest.path() + "=no") != std::string::npos, guest.path() + " can be read");
            // Only the names of what lies in "/" itself show: there is no empty directory to put in its place.
            if (fs::path{guest.path()}.parent_path() != "/") findings.expect("see:" + guest.path(), "no");
        }
        for (const auto* label : {"tmp", "workspace", "usr", "etc", "packages", "proc", "dev"}) findings.expect(label, "yes");

        const std::set<std::string> system{"/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/proc", "/sbin", "/sys", "/tmp", "/usr", "/var"};
        std::string word;
        for (const char c : findings.answers()["top"] + " ") {
            if (c != ' ') {
                word += c;
                continue;
            }
            findings.require(system.count(word) == 1, word + " is no system path and yet not empty");
            word.clear();
        }
        findings.expect("top-files", "");
        findings.expect("var", "/var/lib /var/tmp");
        findings.expect("var-lib", "dpkg");
        const std::string private_base = "bailey-" + std::to_string(::geteuid());
        findings.expect("var-tmp", private_base + " " + fs::path{root}.filename().string());
        findings.expect("self-private", "r1 tmp");
        const std::string own = findings.answers()["private"];
        findings.require(own.size() == 16 && own.find(' ') == std::string::npos, "other workspaces' private directories show: " + own);
        return findings.text();
    });
}

TEST_CASE("the secrets of /etc cannot be read, though /etc can, also by root (alone)") {
    Guest host_key{"/etc/ssh/ssh_host_bailey_test_key", "the host's key\n", 0644};
    Guest public_key{"/etc/ssh/ssh_host_bailey_test_key.pub", "public\n", 0644};
    Guest tls_key{"/etc/ssl/private/bailey-test.key", "the host's key\n", 0644};
    REQUIRE(host_output("head -c 1 /etc/shadow | wc -c") == "1\n");

    as_root_and_as_user([&](const std::string& root) {
        support::Subject<> workspace{root, tools_anywhere()};
        const auto result = workspace.run(ask + R"sh(
for file in /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/security/opasswd /etc/ssh/ssh_host_bailey_test_key /etc/ssl/private/bailey-test.key; do
    say "$file" "$( { cat $file; cp $file copied; cat copied; ln $file linked; cat linked; ln -sf $file symbolic; cat symbolic; tar c $file | tar xO; dd if=$file
                     cat /proc/self/root/$file /proc/1/root/$file; python3 -c "print(open('$file').read())"; } 2>/dev/null | tr -d '\0\n')"
    rm -f copied linked symbolic
done
try mounted-over '! umount /etc/shadow && ! mv /etc/shadow x && ! rm -f /etc/shadow && ! mount --bind /etc/passwd /etc/shadow'
say sudoers.d $(ls -A /etc/sudoers.d)
say ssl-private $(ls -A /etc/ssl/private)
say public "$(cat /etc/ssh/ssh_host_bailey_test_key.pub)"
)sh");
        Findings findings{result};
        for (const auto* secret : {"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/security/opasswd",
                                   "/etc/ssh/ssh_host_bailey_test_key", "/etc/ssl/private/bailey-test.key", "sudoers.d", "ssl-private"})
            findings.expect(secret, "");
        findings.expect("mounted-over", "yes");
        findings.expect("public", "public");
        findings.require(result.out.find("root:") == std::string::npos, "the password file shows");
        return findings.text();
    });
}

TEST_CASE("writes stay in the workspace and in /tmp") {
    const std::string name = "bailey-posture-write-" + std::to_string(::getpid());
    const std::vector<std::string> places{"/", "/usr", "/usr/local/bin", "/etc", "/opt", "/bin", "/lib", "/home", "/root", "/srv", "/mnt", "/run", "/var", "/var/lib/dpkg",
                                          "/var/tmp", "/dev/shm", "/dev", "/boot", "/sys", "/proc", environment("BAILEY_SRT")};
    as_root_and_as_user([&](const std::string& root) {
        support::Subject<> workspace{root, tools_anywhere()};
        std::string script;
        for (const auto& place : places) script += "echo x 2>/dev/null >" + place + "/" + name + "\n";
        script += "echo x >in-workspace; echo x >/tmp/" + name + "; echo x >>/etc/hosts; rm -f /etc/hostname; chmod 777 /usr; true";
        const auto look = "stat -c '%a %Y %s' /usr /etc/hosts /etc/hostname";
        const auto before = host_output(look);
        const auto result = workspace.run("{ " + script + "\n} 2>/dev/null");
        Findings findings{result};
        for (const auto& place : places) findings.require(::access((place + "/" + name).c_str(), F_OK) != 0, "a file was written to " + place);
        findings.require(host_output(look) == before, "a system file changed");
        findings.require(fs::exists(root + "/in-workspace"), "the workspace is not writable");
        findings.require(fs::remove("/tmp/" + name), "/tmp is not writable");
        return findings.text();
    });
    for (const auto& place : places) CHECK_MESSAGE(!fs::exists(place + "/" + name), place);  // also where that user cannot look
}

TEST_CASE("root inside is not the kernel's administrator: /proc/sys takes orders from uid 0 whatever its capabilities") {
    REQUIRE(::access("/proc/sys/kernel/core_pattern", W_OK) == 0);
    as_root_and_as_user([&](const std::string& root) {
        std::string text;
        const auto look = [&](const auto& workspace) {
            // (A pid namespace has these two of its own, and its maker may set them.) Opening for writing is proof enough, and changes nothing where it succeeds.
            const auto result = workspace.run(ask + R"sh(
try core-pattern ': >>/proc/sys/kernel/core_pattern'
try trigger '[ -w /proc/sysrq-trigger ]'
say settings "$(find /proc/sys /proc/fs /proc/bus /proc/irq /proc/acpi /proc/driver /sys -xdev -type f -writable 2>/dev/null | grep -v -e ns_last_pid -e pid_max | head -n 5)"
try uncover 'umount /proc/sys || umount -l /proc || mount -t proc proc /proc || unshare -Urm true'
)sh");
            Findings findings{result};
            findings.expect("core-pattern", "no");
            findings.expect("trigger", "no");
            findings.expect("settings", "");
            findings.expect("uncover", "no");
            text += findings.text();
        };
        look(support::Subject<>{root, tools_anywhere()});
        look(support::Subject<bailey::AllUnixSockets>{root, tools_anywhere()});  // without srt's seccomp filter
        return text;
    });
}

TEST_CASE("/tmp/claude, which srt makes writable wherever it exists, is no way out of a workspace without /tmp (alone)") {
    ::mkdir("/tmp/claude", 0777);  // it stays: srt does not start where it saw one that is gone a moment later
    ::chmod("/tmp/claude", 0777);
    as_root_and_as_user([&](const std::string& root) {
        std::string text;
        const std::string file = "/tmp/claude/bailey-posture-" + std::to_string(::getpid());
        const auto attempt = [&](const auto& workspace, bool allowed, const std::string& what) {
            const auto result = workspace.run("echo x >" + file + "; mkdir -p /tmp/claude/x-" + std::to_string(::getpid()) + "; true");
            if (fs::remove(file) != allowed) text += what + (allowed ? ": cannot write\n" : ": can write\n") + shown(result);
            if (fs::remove("/tmp/claude/x-" + std::to_string(::getpid())) != allowed) text += what + ": a directory\n";
        };
        attempt(support::Subject<>{root, tools_anywhere()}, true, "default");
        attempt(support::Subject<bailey::ReadOnly>{root, tools_anywhere()}, false, "ReadOnly");
        attempt(support::Subject<bailey::PrivateTmp>{root, tools_anywhere()}, false, "PrivateTmp");
        return text;
    });
}

TEST_CASE("what srt makes writable below the host user's home is not") {
    TempDir home;
    fs::create_directories(home / ".npm/_logs");
    fs::create_directories(home / ".claude/debug");
    const HostVariable variable{"HOME", home.path().c_str()};
    TempDir root;
    const auto before = listing(home.path());
    const auto script = "echo x >" + home.path() + "/.npm/_logs/x; echo x >" + home.path() + "/.claude/debug/x; ls -d " + home.path() + "/.npm/_logs";
    const auto seen = workspace(root.path(), bailey::AllReads{}).run(script);
    INFO(shown(seen));
    CHECK(seen.exit_code == 0);
    CHECK(workspace(root.path()).run(script).exit_code != 0);
    CHECK(listing(home.path()) == before);
}

TEST_CASE("E10 the environment is what docs/environment.md says, name by name") {
    auto expected = documented("From bailey");
    for (const auto* heading : {"From the shell", "From srt"}) expected.merge(documented(heading));
    const auto passed = documented("From the host, when set there");
    CHECK(passed == std::set<std::string>{bailey::defaults::locale_names.begin(), bailey::defaults::locale_names.end()});

    const HostVariable language{"LANG", "C.UTF-8"}, collate{"LC_COLLATE", "C"}, all{"LC_ALL", nullptr}, ctype{"LC_CTYPE", nullptr}, messages{"LC_MESSAGES", nullptr};
    const HostVariable other{"LC_TIME", "C"}, user{"USER", "somebody"}, random{"BAILEY_SOMETHING", "x"}, lower{"some_thing", "x"};
    expected.insert({"LANG", "LC_COLLATE"});

    as_root_and_as_user([&](const std::string& root) {
        support::Subject<> workspace{root, tools_anywhere()};
        const auto result = workspace.run("env -0");
        const auto seen = variables(result.out);
        std::set<std::string> names;
        for (const auto& [name, value] : seen) names.insert(name);
        Findings findings{result};
        findings.require(names == expected, "the names are\n  " + joined(names) + "\nand not\n  " + joined(expected));
        const auto is = [&](const std::string& name, const std::string& value) {
            findings.require(seen.count(name) == 1 && seen.at(name) == value, name + " is not " + value);
        };
        is("PATH", "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin");
        is("HOME", root);
        is("PWD", root);
        is("TERM", "dumb");
        is("LANG", "C.UTF-8");
        is("LC_COLLATE", "C");

        const auto plain = workspace.run_argv({"/usr/bin/env", "-0"});
        std::set<std::string> plain_names;
        for (const auto& [name, value] : variables(plain.out)) plain_names.insert(name);
        plain_names.insert("_");  // only a shell sets it
        findings.require(plain_names == expected, "without a shell the names are\n  " + joined(plain_names));
        return findings.text();
    });
}

TEST_CASE("F23 TMPDIR exists, is private, is writable, and goes with the workspace") {
    as_root_and_as_user([&](const std::string& root) {
        std::string text, tmp;
        {
            support::Subject<bailey::ReadOnly> workspace{root, tools_anywhere()};
            const auto result = workspace.run(ask + R"sh(
f=$(mktemp) && echo x >$f && try mktemp "[ \$(cat $f) = x ]"
say python "$(python3 -c 'import tempfile; print(tempfile.gettempdir())')"
say mode "$(stat -c %a "$TMPDIR")"
say where "$TMPDIR"
echo kept >$TMPDIR/kept
mkdir -p $TMPDIR/a/b; chmod 0 $TMPDIR/a/b $TMPDIR/a
)sh");
            Findings findings{result};
            tmp = findings.answers()["where"];
            findings.expect("mktemp", "yes");
            findings.expect("python", tmp);
            findings.expect("mode", "700");
            struct stat status {};
            findings.require(::stat(tmp.c_str(), &status) == 0 && (status.st_mode & 07777) == 0700 && status.st_uid == ::geteuid(), "the host sees another TMPDIR");
            const auto again = workspace.run("cat $TMPDIR/kept");
            findings.require(again.out == "kept\n", "the next command has another TMPDIR");
            text = findings.text();
        }
        return text + (fs::exists(tmp) ? tmp + " is left behind\n" : "");
    });
}

TEST_CASE("F24 two workspaces share no temporary directory, though they share a root") {
    TempDir root;
    const auto one = workspace(root.path()), two = workspace(root.path());
    const auto first = one.run("echo s >$TMPDIR/k; echo $TMPDIR/k");
    const auto path = first.out.substr(0, first.out.find('\n'));
    REQUIRE(read(path) == "s\n");
    const auto second = two.run("cat " + path + " || echo hidden; ls -A $TMPDIR");
    INFO(shown(second));
    CHECK(second.out == "hidden\n");
}

TEST_CASE("F25 a broken TMPDIR of the host's does not matter") {
    const HostVariable tmp{"TMPDIR", "/does/not/exist"}, other{"TMP", "/does/not/exist"}, claude{"CLAUDE_CODE_TMPDIR", "/does/not/exist"};
    TempDir root;
    const auto result = workspace(root.path()).run("mktemp >/dev/null && echo fine");
    INFO(shown(result));
    CHECK(result.out == "fine\n");
}

TEST_CASE("E01 no secret of the host's environment is anywhere inside") {
    std::deque<HostVariable> variables;
    std::vector<std::string> values;
    for (const auto& name : secret_names) {
        values.push_back("s3cr3t-" + name + "-7f3a");
        variables.emplace_back(name, values.back().c_str());
    }
    REQUIRE(secret_names.size() > 45);
    const auto host = host_output("env");
    for (const auto& value : values) REQUIRE(holds(host, value));

    as_root_and_as_user([&](const std::string& root) {
        support::Subject<> workspace{root, tools_anywhere()};
        const auto result = workspace.run(R"sh(
env; export -p; set
cat /proc/*/environ /proc/*/task/*/environ /proc/*/cmdline /proc/self/mountinfo /proc/self/mem 2>/dev/null | tr '\0' '\n'
grep -ras 's3cr3[t]-' "$TMPDIR" "$(dirname "$TMPDIR")" /dev/shm .
true)sh",
                                          {.output_limit = 64 << 20});
        Findings findings{result};
        findings.require(result.out_truncated == false && holds(result.out, "SANDBOX_RUNTIME=1") && holds(result.out, "apply-seccomp"), "too little was looked at");
        findings.require(!holds(result.out + result.err, "s3cr3t-"), "a secret shows in " + result.out.substr(std::min(result.out.find("s3cr3t-"), result.out.size()), 60));
        for (std::size_t i = 0; i < values.size(); ++i) findings.require(!holds(result.out, values[i]), secret_names[i] + " shows");
        return findings.text();
    });
    // The same look finds a secret that is passed on purpose.
    TempDir root;
    CHECK(holds(workspace(root.path(), bailey::EnvCredential<"GH_TOKEN">{}).run("cat /proc/self/environ").out, "s3cr3t-GH_TOKEN-7f3a"));
}

TEST_CASE("the host's keyrings stay outside, and stay as they are") {
    as_root_and_as_user([&](const std::string& root) {
        // A session of the test's own, as a login makes one.
        if (keyctl(KEYCTL_JOIN_SESSION_KEYRING) < 0) return std::string{"keyctl: " + std::string{std::strerror(errno)}};
        const long in_session = add_key("bailey:session", "HOSTSECRET", KEY_SPEC_SESSION_KEYRING);
        const long in_user = add_key("bailey:user", "HOSTSECRET", KEY_SPEC_USER_KEYRING);
        std::string text;
        const auto print = "keyctl print " + std::to_string(in_session);
        if (host_output(print) != "HOSTSECRET\n") text += "the host cannot read its own key\n";
        {
            support::Subject<> workspace{root, tools_anywhere()};
            const auto result = workspace.run("SESSION=" + std::to_string(in_session) + " USER_KEY=" + std::to_string(in_user) + "\n" + R"sh(
{ keyctl print $SESSION; keyctl print $USER_KEY; keyctl pipe $SESSION; keyctl request user bailey:session; keyctl request user bailey:user
  keyctl search @s user bailey:session; keyctl search @u user bailey:user; keyctl show @s; keyctl list @u; keyctl read $SESSION
  keyctl revoke $SESSION; keyctl unlink $SESSION @s; keyctl update $SESSION changed; } 2>&1
true)sh");
            Findings findings{result};
            findings.require(!holds(result.out, "HOSTSECRET"), "the key can be read");
            // (Names of keys do show in /proc/keys, to everybody of the same uid; the contents do not.)
            findings.require(!holds(result.out, "bailey:session"), "the key can be found");
            text += findings.text();
        }
        if (host_output(print) != "HOSTSECRET\n") text += "the host's key is gone\n";
        keyctl(KEYCTL_UNLINK, in_user, KEY_SPEC_USER_KEYRING);
        keyctl(KEYCTL_UNLINK, in_session, KEY_SPEC_SESSION_KEYRING);
        return text;
    });
}

TEST_CASE("only the descriptors 0, 1 and 2 are open inside, whatever the host holds") {
    TempDir secrets;
    write(secrets / "secret", "s3cr3t\n");
    std::vector<int> held;
    for (int i = 0; i < 200; ++i) held.push_back(::open((secrets / "secret").c_str(), O_RDONLY));  // inheritable
    REQUIRE(held.back() >= 200);
    REQUIRE(host_output("cat /proc/self/fd/" + std::to_string(held.back())) == "s3cr3t\n");

    as_root_and_as_user([&](const std::string& root) {
        support::Subject<> workspace{root, tools_anywhere()};
        const auto result = workspace.run(ask + R"sh(
python3 -c 'import os; names = {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in range(1024) if os.path.lexists(f"/proc/self/fd/{fd}")}
print("program=" + " ".join(f"{fd}:" + names[fd].split(":")[0] for fd in names))'
say elsewhere "$(find /proc/[0-9]*/fd -lname '*secret*' -o -lname '*memfd*' 2>/dev/null)"
say by-number "$(for fd in 3 4 5 9 60 100 200; do cat <&$fd; done 2>/dev/null)"
)sh");
        Findings findings{result};
        findings.expect("program", "0:/dev/null 1:pipe 2:pipe");
        findings.expect("elsewhere", "");
        findings.expect("by-number", "");
        return findings.text();
    });
    for (const int fd : held) ::close(fd);
}

TEST_CASE("a command sees no process but its sandbox's own, and can signal no other") {
    const pid_t bystander = ::fork();
    if (bystander == 0) {
        ::execlp("sleep", "sleep", "86431", nullptr);
        ::_exit(127);
    }
    const passwd user = ordinary_user();
    as_root_and_as_user([&](const std::string& root) {
        // As the ordinary user: a process of theirs.
        const pid_t own = ::geteuid() == user.pw_uid ? ::fork() : bystander;
        if (own == 0) {
            ::execlp("sleep", "sleep", "86431", nullptr);
            ::_exit(127);
        }
        support::Subject<> workspace{root, tools_anywhere()};
        const auto result = workspace.run("HOST=" + std::to_string(own) + " TEST=" + std::to_string(::getpid()) + "\n" + ask + R"sh(
sleep 86432 & sleeping=$!
say processes $(ls /proc | grep -c '^[0-9]')
say strangers "$(cat /proc/*/cmdline 2>/dev/null | tr '\0' ' ' | grep -o 'sleep 8643[12]' | sort -u)"
try host '[ -e /proc/$HOST ] || [ -e /proc/$TEST ]'
try kill 'kill -KILL $HOST'
try kill-own 'kill -0 $sleeping'
kill $sleeping
)sh");
        Findings findings{result};
        findings.expect("strangers", "sleep 86432");
        findings.expect("host", "no");
        findings.expect("kill", "no");
        findings.expect("kill-own", "yes");
        const auto count = std::atoi(findings.answers()["processes"].c_str());
        findings.require(count > 3 && count < 25, "there are " + std::to_string(count) + " processes");
        findings.require(::kill(own, 0) == 0 && ::waitpid(own, nullptr, WNOHANG) == 0, "a process of the host was killed");
        if (own != bystander) {
            ::kill(own, SIGKILL);
            ::waitpid(own, nullptr, 0);
        }
        return findings.text();
    });
    ::kill(bystander, SIGKILL);
    ::waitpid(bystander, nullptr, 0);
}
