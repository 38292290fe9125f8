// What a boundary says it permits is what the real sandbox permits: the same questions to both.
#include "http_server.hpp"
#include "inside.hpp"

#include <memory>

using namespace support;
using namespace bailey;

namespace {

/// Files of the test's own in every kind of place, and some of the system's.
struct World {
    TempDir root{"bailey-permits"}, outside{"bailey-permits-outside"};
    std::vector<std::unique_ptr<Guest>> guests;
    std::vector<std::string> own, new_ones, of_the_system;

    World() {
        host("git init -q " + root.path() + " && git init -q " + (root / "nested") + " && git init -q --bare " + (root / ".git/modules/sub/part"));
        for (const auto* name : {"plain", "sub/plain", ".env", "sub/.env", "secret", "vault/key", "vault/deep/key", "vault2", ".bashrc", "sub/.bashrc",
                                 ".vscode/settings.json", ".gitmodules", "linked/.git", "node_modules/p/.vscode/settings.json", "node_modules/p/.bashrc", "a b'c", "-dash"})
            make(root / name);
        for (const auto* name : {"read/file", "read/deep/file", "read/denied/file", "read2", "write/file", "write/denied/file", "write2", "victim"}) make(outside / name);
        for (const auto* directory : {"/tmp", "/srv", "/root", "/var/lib"}) {
            if (::access(directory, W_OK) != 0) continue;  // an ordinary user has fewer places to ask about
            guests.push_back(std::make_unique<Guest>(std::string{directory} + "/bailey-permits-" + std::to_string(::getpid()), "x"));
            own.push_back(guests.back()->path());
        }
        for (const auto* name : {".git/config", "nested/.git/config", ".git/description", ".git/modules/sub/part/config", ".git/modules/sub/part/hooks/applypatch-msg.sample",
                                 ".git/modules/sub/part/description", ".git/modules/sub/part/info/exclude"}) own.push_back(root / name);
        fs::create_symlink(outside / "victim", root / "to-victim");
        fs::create_symlink(outside / "read/file", root / "to-read");
        fs::create_symlink(outside / "write/file", root / "to-write");
        fs::create_symlink("/etc/passwd", root / "to-passwd");
        fs::create_symlink("sub/plain", root / "to-plain");
        for (const auto* name : {"to-victim", "to-read", "to-write", "to-plain"}) own.push_back(root / name);
        new_ones = {root / "new", root / "sub/new", root / "vault/new", outside / "new", outside / "read/new", outside / "write/new",
                    "/tmp/bailey-permits-new-" + std::to_string(::getpid()), "/srv/bailey-permits-new", "/root/bailey-permits-new", "/usr/bailey-permits-new"};
        of_the_system = {"/etc/passwd", "/etc/shadow", "/etc/gshadow", "/etc/hostname", "/usr/bin/env", "/bin/sh", "/var/lib/dpkg/status", "/proc/sys/kernel/ostype",
                         "/dev/null", "/dev/zero", "/sys/kernel/uevent_seqnum", "/proc/sys/kernel/hostname", root / "to-passwd", "/etc/../etc/passwd"};
    }
    void make(const std::string& path) {
        fs::create_directories(fs::path{path}.parent_path());
        write(path, "x");
        own.push_back(path);
    }

    /// Asks both about everything; how many questions that were.
    template <class W>
    int agree(const W& opened, std::string_view name) {
        CAPTURE(name);
        const Boundary& boundary = opened.boundary();
        std::string text, writes;  // all reads first: a hidden directory shows what was written there
        const auto ask_inside = [&](const std::string& path, const std::string& to_write) {
            const auto label = std::to_string(labels_.size());
            labels_.push_back(path);
            const auto set = "p=" + shell_word(path) + "\n";
            text += set + "try r" + label + " '[ \"$(head -c1 \"$p\" | wc -c)\" = 1 ]'\n";
            writes += set + "try w" + label + " '" + to_write + " >>\"$p\"'\n";
        };
        labels_.clear();
        // Files of the test's own are changed; those of the system are only opened.
        for (const auto& path : own) ask_inside(path, "printf y");
        for (const auto& path : new_ones) ask_inside(path, "printf y");
        for (const auto& path : of_the_system) ask_inside(path, ":");
        for (const auto& path : own) write(path, "x");
        for (const auto& path : new_ones) ::unlink(path.c_str());
        const auto in = answers(opened, text + writes);
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            const auto& path = labels_[i];
            CAPTURE(path);
            const bool is_own = i < own.size(), is_new = !is_own && i < own.size() + new_ones.size();
            const auto may_read = boundary.permits_read(path), may_write = boundary.permits_write(path);
            CAPTURE(may_read.rule);
            CAPTURE(may_write.rule);
            if (path != "/dev/null" && !is_new) CHECK(in["r" + std::to_string(i)] == (may_read ? "yes" : "no"));
            const auto opened_for_writing = in["w" + std::to_string(i)] == "yes";
            // Writes count where they arrive: a hidden directory takes some that vanish.
            if (is_own) {
                CHECK((read(path).find('y') != std::string::npos) == may_write.allowed);
            } else if (is_new) {
                CHECK((::access(path.c_str(), F_OK) == 0) == may_write.allowed);
            } else if (may_read) {
                CHECK(opened_for_writing == may_write.allowed);
            }
            CHECK_FALSE(may_read.rule.empty());
            CHECK_FALSE(may_write.rule.empty());
        }
        for (const auto& path : new_ones) ::unlink(path.c_str());
        return static_cast<int>(2 * labels_.size());
    }

private:
    std::vector<std::string> labels_;
};

}  // namespace

TEST_CASE("permits_read and permits_write agree with the sandbox") {
    World world;
    const auto root = world.root.path();
    const auto& outside = world.outside;
    int questions = 0;
    questions += world.agree(workspace(root), "no policy");
    questions += world.agree(workspace(root, ReadPolicy<Deny<"secret", "vault">>{}, WritePolicy<Deny<".env", "sub">>{}, runtime::AllowRead{outside / "read"},
                                       runtime::DenyRead{outside / "read/denied"}, runtime::AllowWrite{outside / "write"}, runtime::DenyWrite{outside / "write/denied"}),
                             "grants and denials");
    questions += world.agree(workspace(root, ReadOnly{}, PrivateTmp{}, WritePolicy<Allow<"sub">>{}, runtime::AllowWrite{outside / "write"}), "read only, private tmp");
    questions += world.agree(workspace(root, AllReads{}, runtime::DenyRead{outside / "read", "/srv"}, ReadPolicy<Deny<"vault">>{}), "all reads");
    questions += world.agree(workspace(root, AllReads{}, PrivateTmp{}, ReadOnly{}), "all reads, private tmp");
    questions += world.agree(workspace(root, runtime::DenyRead{"/tmp"}), "a denied /tmp");
    questions += world.agree(workspace(root, runtime::DenyRead{"/var/tmp", "/etc"}), "a denial above the workspace");
    CHECK(questions >= 100);
}

TEST_CASE("permits_host agrees with srt's proxy") {
    HttpServer upstream{"by the upstream\n"};
    TempDir root;
    const auto opened = workspace(root.path(), DomainAllowlist<"a.example", "*.b.example", "*.c.example:8080", "x.bad.example", "10.0.0.1", "[2001:DB8::1]:8080">{},
                                  DomainDenylist<"deny.b.example", "*.bad.example", "*:2222", "d.c.example:8080">{}, runtime::UpstreamProxy{upstream.url()});
    std::string text;
    std::vector<std::pair<std::string, std::uint16_t>> asked;
    for (const auto* host : {"a.example", "A.Example", "a.example.", "xa.example", "a.example.org", "b.example", "1.b.example", "2.1.b.example", "deny.b.example",
                             "x.deny.b.example", "xb.example", "c.example", "1.c.example", "d.c.example", "x.bad.example", "10.0.0.1", "10.0.0.2",
                             "[2001:db8::1]", "[2001:db8:0::1]", "[2001:db8::2]", "localhost"}) {
        for (const std::uint16_t port : {std::uint16_t{80}, std::uint16_t{8080}, std::uint16_t{2222}}) {
            const auto label = std::to_string(asked.size());
            asked.emplace_back(host, port);
            // Not curl, which would leave a trailing dot away.
            text += label + " " + host + " " + std::to_string(port) + "\n";
        }
    }
    const auto in = answers(opened, "python3 - <<'END'\nimport os, socket, urllib.parse\n"
        "proxy = urllib.parse.urlparse(os.environ['HTTP_PROXY'])\nimport base64\n"
        "auth = base64.b64encode(f'{urllib.parse.unquote(proxy.username or \"\")}:{urllib.parse.unquote(proxy.password or \"\")}'.encode()).decode()\n"
        "for line in '''" + text + "'''.split('\\n'):\n"
        "    if not line: continue\n"
        "    label, host, port = line.split()\n"
        "    s = socket.create_connection((proxy.hostname, proxy.port)); s.settimeout(20)\n"
        "    s.sendall(f'GET http://{host}:{port}/ HTTP/1.1\\r\\nHost: {host}:{port}\\r\\nProxy-Authorization: Basic {auth}\\r\\nConnection: close\\r\\n\\r\\n'.encode())\n"
        "    print(label + '=' + s.recv(4096).decode().split()[1], flush=True); s.close()\nEND\n");
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto permission = opened.boundary().permits_host(asked[i].first, asked[i].second);
        CAPTURE(asked[i].first);
        CAPTURE(asked[i].second);
        CAPTURE(permission.rule);
        CHECK(in[std::to_string(i)] == (permission ? "200" : "403"));
    }
}
