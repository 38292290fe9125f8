// Which hosts a command reaches: through srt's proxy, against a server on the host's loopback, by several clients.
#include "http_server.hpp"
#include "inside.hpp"

#include <cstring>

#include <sched.h>
#include <sys/mount.h>
#include <sys/un.h>

using namespace support;
using namespace bailey;

namespace {

/// Inside, loopback is the sandbox's own, and NO_PROXY says so: a test that means the host's has to insist on the proxy.
const std::string by_proxy = "export NO_PROXY= no_proxy=\n";

/// `get LABEL URL`: yes, or the status with which it was refused.
const std::string get = "get() { say \"$1\" \"$(curl -sS -m20 --noproxy '' -o /dev/null -w '%{http_code} %{http_connect}' \"$2\" 2>/dev/null)\"; }\n";

}  // namespace

TEST_CASE("DomainAllowlist: an allowed host is reached, by curl and python, and no other") {
    HttpServer server{"hello from the host\n"};
    TempDir root;
    const auto text = by_proxy + get + "A=" + server.url() + " N=" + server.url("localhost") + "\n" + R"sh(
get address $A
get name $N
try python 'python3 -c "import urllib.request as u, sys; sys.exit(u.urlopen(\"$A\", timeout=20).read() != b\"hello from the host\\n\")"'
try wget 'command -v wget || exit 0; wget -qO- $A'
get unlisted http://unlisted.example/
get unlisted-tls https://unlisted.example/
try tunnel 'curl -fsS -m20 -p -x "$HTTP_PROXY" $A'
)sh";
    const auto check = [&](const auto& opened) {
        const auto before = server.requests().size();
        const auto in = answers(opened, text);
        CHECK(in["address"] == "200 000");
        CHECK(in["python"] == "yes");
        CHECK(in["tunnel"] == "yes");
        CHECK(in["name"] == "403 000");  // an address and a name are two entries
        CHECK(in["unlisted"] == "403 000");
        CHECK(in["unlisted-tls"] == "000 403");
        CHECK(server.requests().size() >= before + 3);
    };
    check(workspace(root.path(), DomainAllowlist<"127.0.0.1">{}));
    check(workspace(root.path(), runtime::DomainAllowlist{"127.0.0.1:" + server.port()}));

    const auto before = server.requests().size();
    const auto by_default = answers(workspace(root.path()), text);
    for (const auto* label : {"address", "name", "unlisted"}) CHECK(by_default[label] == "403 000");
    CHECK(by_default["python"] == "no");
    CHECK(by_default["tunnel"] == "no");
    CHECK(server.requests().size() == before);
}

TEST_CASE("a port narrows an entry to that port") {
    HttpServer server{"one\n"}, other{"other\n"};
    TempDir root;
    const auto text = by_proxy + get + "get one " + server.url() + "\nget other " + other.url() + "\n";
    const auto both = answers(workspace(root.path(), runtime::DomainAllowlist{"127.0.0.1"}), text);
    CHECK(both["one"] == "200 000");
    CHECK(both["other"] == "200 000");
    const auto narrow = answers(workspace(root.path(), runtime::DomainAllowlist{"127.0.0.1:" + server.port()}), text);
    CHECK(narrow["one"] == "200 000");
    CHECK(narrow["other"] == "403 000");
    CHECK(other.requests().size() == 1);
    const auto denied = answers(workspace(root.path(), runtime::DomainAllowlist{"127.0.0.1"}, runtime::DomainDenylist{"127.0.0.1:" + server.port()}), text);
    CHECK(denied["one"] == "403 000");
    CHECK(denied["other"] == "200 000");
}

TEST_CASE("N06 a denied host is refused though it is allowed, by name or by a wildcard") {
    // A name needs an address: an upstream proxy has one for every name, and shows which requests srt let pass.
    HttpServer upstream{"by the upstream\n"};
    TempDir root;
    const runtime::UpstreamProxy proxy{upstream.url()};
    const auto text = by_proxy + get + R"sh(
get a http://a.example.com/
get deep http://b.c.example.com/
get x http://x.example.com/
get under-x http://y.x.example.com/
get X http://X.Example.COM/
say dot $(python3 -c 'import urllib.request as u
try: print(u.urlopen("http://x.example.com./", timeout=20).status)
except OSError as e: print(e.code)')  # curl would leave the dot away
get bare http://example.com/
get port http://p.example.com:8080/
get port-80 http://p.example.com/
)sh";
    const auto wide = answers(workspace(root.path(), DomainAllowlist<"*.example.com">{}, proxy), text);
    for (const auto* label : {"a", "deep", "x", "under-x", "X", "port", "port-80"}) {
        CAPTURE(label);
        CHECK(wide[label] == "200 000");
    }
    CHECK(wide["bare"] == "403 000");  // the wildcard is for what is below

    const auto asked = upstream.requests().size();
    const auto narrowed = [&](const auto& opened) {
        const auto in = answers(opened, text);
        CHECK(in["a"] == "200 000");
        CHECK(in["deep"] == "200 000");
        CHECK(in["x"] == "403 000");
        CHECK(in["X"] == "403 000");
        CHECK(in["dot"] == "403");
        CHECK(in["port"] == "403 000");
        CHECK(in["port-80"] == "200 000");
    };
    narrowed(workspace(root.path(), DomainAllowlist<"*.example.com", "x.example.com">{}, DomainDenylist<"x.example.com", "*:8080">{}, proxy));
    narrowed(workspace(root.path(), runtime::DomainAllowlist{"*.example.com"}, runtime::DomainDenylist{"x.example.com", "*:8080"}, proxy));
    const auto requests = upstream.requests();
    for (auto request = requests.begin() + static_cast<std::ptrdiff_t>(asked); request != requests.end(); ++request) CHECK_FALSE(holds(*request, "/x.example.com"));

    const auto none = answers(workspace(root.path(), DomainAllowlist<"*.example.com">{}, DomainDenylist<"*">{}, proxy), text);
    for (const auto* label : {"a", "deep", "x"}) CHECK(none[label] == "403 000");
    CHECK(noted(workspace(root.path(), DomainAllowlist<"a.example.com">{}, DomainDenylist<"a.example.com">{}).boundary(), "the denial wins"));
}

TEST_CASE("a name that leads to the host's own network is refused, unless that address is allowed too") {
    HttpServer server{"local\n"};
    TempDir root, hosts;
    write(hosts / "hosts", "127.0.0.1 localhost inner.example\n");
    // The name is known in a mount namespace of the test's own; /etc/hosts stays as it is.
    const pid_t child = ::fork();
    if (child == 0) {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount((hosts / "hosts").c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0)
            ::_exit(99);
        const auto text = ask + by_proxy + get + "get name " + server.url("inner.example") + "\nget local " + server.url("localhost") + "\n";
        const Tools tools{.srt = std::getenv("BAILEY_SRT"), .node = std::getenv("BAILEY_NODE")};
        int wrong = 0;
        const auto expect = [&](const auto& workspace, std::string_view name, std::string_view local) {
            const auto result = workspace.run(text);
            const Answers in{result.out};
            if (in["name"] == name && in["local"] == local) return;
            ++wrong;
            std::fputs(shown(result).c_str(), stderr);
        };
        try {
            expect(Subject<DomainAllowlist<"inner.example">>{root.path(), tools}, "403 000", "403 000");
            expect(Subject<DomainAllowlist<"inner.example", "127.0.0.1">>{root.path(), tools}, "200 000", "403 000");
            expect(Subject<DomainAllowlist<"localhost">>{root.path(), tools}, "403 000", "200 000");
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            wrong = 9;
        }
        ::_exit(wrong);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(server.requests().size() == 2);
}

TEST_CASE("git clones over http from an allowed host, and from no other") {
    TempDir served, root;
    REQUIRE(host("cd " + served.path() + " && git init -q work && cd work && echo content >file && git add file && git -c user.name=t -c user.email=t@e.x commit -qm first"
                 " && cd .. && git clone -q --bare work repo.git && git -C repo.git update-server-info") == 0);
    HttpServer server{"", served.path()};
    const auto text = by_proxy + "try clone 'git clone -q " + server.url("127.0.0.1", "/repo.git") + " copy && grep -q content copy/file'\ntry fetch 'git -C copy fetch -q'\n";
    const auto in = answers(workspace(root.path(), DomainAllowlist<"127.0.0.1">{}), text);
    CHECK(in["clone"] == "yes");
    CHECK(in["fetch"] == "yes");
    CHECK(host_output("git -C " + (root / "copy") + " log --format=%s") == "first\n");

    const auto before = server.requests().size();
    const auto refused = answers(workspace(root.path(), DomainAllowlist<"example.com">{}), "rm -rf copy\n" + text);
    CHECK(refused["clone"] == "no");
    CHECK(server.requests().size() == before);
}

TEST_CASE("the host's proxy variables do not steer srt; UpstreamProxy does") {
    HttpServer server{"the server\n"}, proxy{"the proxy\n"};
    TempDir root;
    const auto url = proxy.url();
    const HostVariable a{"HTTP_PROXY", url.c_str()}, b{"http_proxy", url.c_str()}, c{"HTTPS_PROXY", url.c_str()}, d{"https_proxy", url.c_str()},
        e{"ALL_PROXY", url.c_str()}, f{"all_proxy", url.c_str()}, g{"NO_PROXY", nullptr}, h{"no_proxy", nullptr};
    REQUIRE(host_output("curl -sS -m5 http://a.example.com/") == "the proxy\n");
    REQUIRE(proxy.requests().size() == 1);

    const auto text = by_proxy + "say got \"$(curl -sS -m20 " + server.url() + ")\"\nsay name \"$(curl -sS -m20 http://a.example.com/)\"\n" +
                      "say tunnel \"$(curl -sS -m20 -p http://a.example.com:81/)\"\n";
    const auto direct = answers(workspace(root.path(), DomainAllowlist<"127.0.0.1", "a.example.com">{}), text);
    CHECK(direct["got"] == "the server");
    CHECK(direct["name"] != "the proxy");
    CHECK(proxy.requests().size() == 1);

    const auto by_policy = answers(workspace(root.path(), DomainAllowlist<"127.0.0.1", "a.example.com">{}, runtime::UpstreamProxy{url}), text);
    CHECK(by_policy["name"] == "the proxy");
    CHECK(by_policy["tunnel"] == "the proxy");
    const auto requests = proxy.requests();
    REQUIRE(requests.size() > 2);
    CHECK(holds(requests[1] + requests[2], "a.example.com"));

    // It allows nothing by itself.
    const auto nothing = answers(workspace(root.path(), runtime::UpstreamProxy{url}), text);
    CHECK(nothing["name"] == "Connection blocked by network allowlist");
    CHECK(proxy.requests().size() == requests.size());
}

TEST_CASE("an upstream proxy is told the user and the word that were given, and no command sees them") {
    HttpServer proxy{"the proxy\n"};
    TempDir root;
    const auto opened = workspace(root.path(), DomainAllowlist<"a.example.com">{}, runtime::UpstreamProxy{"http://user:pr0xyw0rd@127.0.0.1:" + proxy.port()});
    const auto result = opened.run(by_proxy + "curl -sS -m20 http://a.example.com/; env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'");
    INFO(shown(result));
    CHECK(holds(result.out, "the proxy\n"));
    REQUIRE(proxy.requests().size() == 1);
    CHECK(holds(proxy.requests()[0], "asic dXNlcjpwcjB4eXcwcmQ="));
    CHECK_FALSE(holds(result.out + opened.explain(), "pr0xyw0rd"));
}

TEST_CASE("N08 Unix sockets: refused by default, all of them on request, by path not on Linux") {
    TempDir root, outside;
    const auto listener = [](const std::string& path) {
        const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.data(), path.size());
        REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        REQUIRE(::listen(fd, 8) == 0);
        return fd;
    };
    const int inside = listener(root / "socket"), hidden = listener(outside / "socket"), abstract = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = "bailey-abstract-" + std::to_string(::getpid());
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    REQUIRE(::bind(abstract, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) == 0);
    REQUIRE(::listen(abstract, 8) == 0);

    const auto text = "O=" + outside.path() + " NAME=" + name + "\n" + R"sh(
connect() { try "$1" "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect($2)\""; }
connect inside "'socket'"
connect hidden "'$O/socket'"
connect abstract "'\\0$NAME'"
try forkserver 'python3 -c "import multiprocessing as m; m.set_start_method(\"forkserver\"); p = m.Process(target=print); p.start(); p.join(); exit(p.exitcode)"'
try network '(exec 3<>/dev/tcp/192.0.2.1/80) 2>/dev/null || curl -fsS -m5 http://example.com'
)sh";
    const auto by_default = answers(workspace(root.path()), text);
    for (const auto* label : {"inside", "hidden", "abstract", "forkserver", "network"}) CHECK(by_default[label] == "no");
    const auto opened = workspace(root.path(), AllUnixSockets{});
    const auto all = answers(opened, text);
    CHECK(all["inside"] == "yes");
    CHECK(all["forkserver"] == "yes");
    CHECK(all["hidden"] == "no");    // not seen
    CHECK(all["abstract"] == "no");  // of another network
    CHECK(all["network"] == "no");
    CHECK(noted(opened.boundary(), "weakening AllUnixSockets"));
    for (const int fd : {inside, hidden, abstract}) ::close(fd);

    for (const auto& said : {refusal(root.path(), UnixSocketAllowlist<"/run/postgres.sock">{}), refusal(root.path(), runtime::UnixSocketAllowlist{root / "socket"})}) {
        CAPTURE(said);
        CHECK(holds(said, "Linux"));
        CHECK(holds(said, "AllUnixSockets"));
    }
}

TEST_CASE("LocalBinding: binding works inside in any case, reaches nobody outside, and explain() says so") {
    TempDir root;
    const auto opened = workspace(root.path());
    CHECK(holds(opened.explain(), "binding local ports cannot be refused on Linux"));
    CHECK(holds(workspace(root.path(), LocalBinding{}).explain(), "LocalBinding changes nothing on Linux"));
    const auto serve = [](const auto& workspace) {
        std::string said;
        auto running = workspace.spawn("exec python3 -u -m http.server 18731 --bind 0.0.0.0", {.on_stdout = [&](std::string_view bytes) { said += bytes; }});
        for (int i = 0; i < 200 && !holds(said, "Serving HTTP") && !running.wait_for(100ms); ++i) {
        }
        CHECK(holds(said, "Serving HTTP"));
        CHECK(host("curl -sS -m2 --noproxy '*' http://127.0.0.1:18731/ >/dev/null 2>&1") == 7);
        running.stop();
        CHECK(running.wait().outcome == Outcome::cancelled);
    };
    serve(opened);
    serve(workspace(root.path(), LocalBinding{}));
    CHECK(answers(opened, "python3 -m http.server 18731 --bind 127.0.0.1 >/dev/null 2>&1 & for i in $(seq 60); do curl -fsS -m2 http://127.0.0.1:18731/ >/dev/null 2>&1 && break; sleep 0.1; done\n"
                          "try own 'curl -fsS -m2 http://127.0.0.1:18731/'\n")["own"] == "yes");
}
