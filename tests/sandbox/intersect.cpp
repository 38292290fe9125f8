// What the intersection of two boundaries permits in a real sandbox, both permit in theirs; and what a narrower one permits, the wider.
#include "http_server.hpp"
#include "inside.hpp"

#include <iterator>
#include <memory>
#include <random>
#include <set>

#include <bailey/boundary/intersect.hpp>

using namespace support;
using namespace bailey;

namespace {

/// A boundary as a policy: as it was declared, or one that another workspace had.
struct Given {
    Boundary of;
    void apply(Boundary& boundary) const {
        boundary = of;
        boundary.root.clear();
        boundary.notes.clear();
    }
};

using Permitted = std::set<std::string>;

std::string in_lines(const Permitted& list) {
    std::string text;
    for (const auto& entry : list) text += entry + "\n";
    return text;
}
std::string in_lines(const std::vector<Widening>& list) {
    std::string text;
    for (const auto& widening : list) text += widening.text + "\n";
    return text;
}

Permitted difference(const Permitted& a, const Permitted& b) {
    Permitted left;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(left, left.end()));
    return left;
}
Permitted common(const Permitted& a, const Permitted& b) { return difference(a, difference(a, b)); }

class Dice {
public:
    explicit Dice(unsigned seed) : engine_{seed} {}
    [[nodiscard]] bool one_in(int n) { return std::uniform_int_distribution<int>{1, n}(engine_) == 1; }
    template <class List>
    [[nodiscard]] const auto& of(const List& list) {
        return list[std::uniform_int_distribution<std::size_t>{0, std::size(list) - 1}(engine_)];
    }

private:
    std::mt19937 engine_;
};

/// Real directories in every kind of place, and one set of questions for all boundaries.
class Territory {
public:
    Territory() {
        for (const auto& base : {root_.path(), outside_.path(), tmp_}) {
            for (const auto* name : {"/file", "/a/file", "/a/b/file", "/a/b/c/file", "/ab/file", "/.env"}) {
                fs::create_directories(fs::path{base + name}.parent_path());
                files_.push_back(base + name);
            }
            for (const auto* name : {"/new", "/a/new", "/a/b/new"}) new_files_.push_back(base + name);
        }
        new_files_.push_back(tmp_ + "-new");
        for (const auto& path : files_) write(path, "x");
        files_.push_back(root_ / "link");
        fs::create_symlink(outside_ / "a/file", root_ / "link");
        for (const auto* name : {"SEEN_A", "SEEN_B", "SEEN_C"}) variables_.push_back(std::make_unique<HostVariable>(name, "host"));
    }
    ~Territory() {
        std::error_code ignored;
        fs::remove_all(tmp_, ignored);
        ::unlink((tmp_ + "-new").c_str());
    }
    Territory(const Territory&) = delete;
    Territory& operator=(const Territory&) = delete;

    [[nodiscard]] auto open(const Boundary& declared) const { return workspace(root_.path(), Given{declared}); }
    [[nodiscard]] std::string root() const { return root_.path(); }
    [[nodiscard]] const TempDir& outside() const { return outside_; }
    [[nodiscard]] const std::string& tmp() const { return tmp_; }
    [[nodiscard]] const std::string& proxy_port() const { return port_; }
    [[nodiscard]] std::string proxy() const { return upstream_.url(); }

    /// As policies could have spelled it.
    [[nodiscard]] Boundary random(Dice& dice) const {
        std::vector<std::string> places{"a", "a/b", "ab", ".env", "a/late", tmp_ + "/a", tmp_ + "/a/b", tmp_};
        for (const auto* name : {"", "/a", "/a/b", "/a/b/c", "/ab"}) places.push_back(outside_.path() + name);
        auto denied = places;
        for (const auto* place : {"/tmp", "/etc", "/var"}) denied.emplace_back(place);
        const std::vector<std::string> domains{"a.example", "a.example:8080", "*.a.example", "*.a.example:8080", "b.a.example", "*.b.a.example:80", "10.0.0.1", "[2001:db8::1]:80"};
        const std::vector<std::string> denied_domains{"*:8080", "b.a.example", "*.b.a.example:80", "a.example:80", "10.0.0.1"};
        const std::vector<std::string> names{"SEEN_A", "SEEN_B", "SEEN_C"};
        Boundary b;
        const auto some = [&](std::vector<std::string>& list, const std::vector<std::string>& from, int n) {
            while (!dice.one_in(n)) list.push_back(dice.of(from));
        };
        some(b.read_grants, places, 3);
        some(b.read_denials, denied, 2);
        some(b.write_grants, places, 3);
        some(b.write_denials, places, 2);
        b.read_only = dice.one_in(4);
        b.private_tmp = dice.one_in(4);
        b.all_reads = dice.one_in(4);
        some(b.allowed_domains, domains, 4);
        if (dice.one_in(2)) some(b.denied_domains, denied_domains, 2);
        b.upstream_proxy = proxy();
        b.all_unix_sockets = dice.one_in(4);
        some(b.env_passed, names, 2);
        if (dice.one_in(3)) b.env_runtime_values.emplace_back(dice.of(names), dice.one_in(2) ? "1" : "2");
        if (dice.one_in(2)) b.limits.cpu_seconds = dice.one_in(2) ? 100U : 200U;
        if (dice.one_in(3)) b.limits.open_files = dice.one_in(2) ? 100U : 200U;
        return b;
    }

    /// All that a sandbox with that boundary permits, of what is asked.
    template <class W>
    [[nodiscard]] Permitted permitted(const W& opened) {
        std::string text, writes;  // all reads first: a hidden directory shows what was written there
        for (std::size_t i = 0; i < files_.size(); ++i) text += "try r" + std::to_string(i) + " '[ \"$(cat " + files_[i] + ")\" = x ]'\n";
        for (const auto* path : {"/etc/passwd", "/etc/shadow", "/usr/bin/env", "/var/lib/dpkg/status"}) text += std::string{"try r"} + path + " 'head -c1 " + path + " | grep -q .'\n";
        for (const auto* list : {&files_, &new_files_})
            for (const auto& path : *list) writes += "{ printf y >>" + path + "; } 2>/dev/null\n";
        text += "say env $(env | grep '^SEEN_[ABC]=')\nsay cpu $(ulimit -t)\nsay open $(ulimit -n)\n";
        text += "python3 - <<'END'\n" + asking_hosts() + "END\n" + writes + "true\n";
        for (const auto& path : files_) write(path, "x");
        for (const auto& path : new_files_) ::unlink(path.c_str());

        const auto in = answers(opened, text, {.timeout = 120s});
        Permitted all;
        for (std::size_t i = 0; i < files_.size(); ++i) {
            CHECK(in["r" + std::to_string(i)] != "missing");
            if (in["r" + std::to_string(i)] == "yes") all.insert("reads " + files_[i]);
            if (read(files_[i]) != "x") all.insert("writes " + files_[i]);  // where they arrive
        }
        for (const auto& path : new_files_)
            if (::unlink(path.c_str()) == 0) all.insert("makes " + path);
        for (const auto* path : {"/etc/passwd", "/etc/shadow", "/usr/bin/env", "/var/lib/dpkg/status"})
            if (in[std::string{"r"} + path] == "yes") all.insert(std::string{"reads "} + path);
        for (const auto& host : hosts()) {
            CHECK(in[host] != "missing");
            if (in[host] == "200") all.insert("reaches " + host);
        }
        if (in["unix"] == "yes") all.insert("makes Unix sockets");
        for (const auto* name : {"SEEN_A", "SEEN_B", "SEEN_C"})
            for (const auto* value : {"host", "1", "2"})
                if (holds(in["env"] + " ", std::string{name} + "=" + value + " ")) all.insert(std::string{name} + "=" + value);
        for (const auto& [label, most] : {std::pair{"cpu", 100}, {"cpu", 200}, {"cpu", 300}, {"open", 100}, {"open", 200}})
            if (in[label] == "unlimited" || std::atoi(in[label].c_str()) >= most) all.insert(std::string{label} + " " + std::to_string(most));
        return all;
    }

private:
    [[nodiscard]] std::vector<std::string> hosts() const {
        std::vector<std::string> all;
        for (const auto* host : {"a.example", "b.a.example", "c.b.a.example", "xa.example", "b.example", "10.0.0.1", "[2001:db8::1]"})
            for (const auto* port : {"80", "8080"}) all.push_back(std::string{host} + ":" + port);
        all.push_back("127.0.0.1:" + port_);
        return all;
    }
    [[nodiscard]] std::string asking_hosts() const {
        std::string text = "import base64, os, socket, urllib.parse\nproxy = urllib.parse.urlparse(os.environ.get('HTTP_PROXY', ''))\n"
                           "auth = base64.b64encode(f'{urllib.parse.unquote(proxy.username or \"\")}:{urllib.parse.unquote(proxy.password or \"\")}'.encode()).decode()\n"
                           "for at in '";
        for (const auto& host : hosts()) text += host + " ";
        return text + "'.split():\n"
                      "    if not proxy.hostname: print(at + '=none'); continue\n"
                      "    s = socket.create_connection((proxy.hostname, proxy.port)); s.settimeout(20)\n"
                      "    s.sendall(f'GET http://{at}/ HTTP/1.1\\r\\nHost: {at}\\r\\nProxy-Authorization: Basic {auth}\\r\\nConnection: close\\r\\n\\r\\n'.encode())\n"
                      "    print(at + '=' + s.recv(4096).decode().split()[1], flush=True); s.close()\n"
                      "try: socket.socket(socket.AF_UNIX); print('unix=yes')\nexcept OSError: print('unix=no')\n";
    }

    TempDir root_{"bailey-intersect"}, outside_{"bailey-intersect-outside"};
    const std::string tmp_ = "/tmp/bailey-intersect-" + std::to_string(::getpid());
    HttpServer upstream_{"by the upstream\n"};
    const std::string port_ = upstream_.port();
    std::vector<std::string> files_, new_files_;
    std::vector<std::unique_ptr<HostVariable>> variables_;
};

/// Boundaries with what their sandboxes permit, each compared with all before.
class Observed {
public:
    explicit Observed(Territory& territory) : territory_{territory} {}

    struct One {
        Boundary boundary;
        Permitted permitted;
    };

    One add(const Boundary& declared) {
        const auto opened = territory_.open(declared);
        INFO(opened.explain());
        One one{opened.boundary(), territory_.permitted(opened)};
        for (const auto& other : all_) {
            compare(one, other);
            compare(other, one);
        }
        all_.push_back(one);
        return one;
    }
    /// Asks a sandbox about what both permit.
    void intersection(const One& a, const One& b) {
        const auto declared = *intersect(a.boundary, b.boundary);
        if (const auto refused = refusal(declared.root, Given{declared}); !refused.empty()) {
            CHECK_MESSAGE(holds(refused, "which srt would make read-only"), refused);
            return;
        }
        const auto both = add(declared);
        INFO("what one permits: " << explain(a.boundary) << "\nthe other: " << explain(b.boundary) << "\nboth: " << explain(both.boundary));
        // What a workspace makes of it is what it was.
        CHECK_MESSAGE(both.boundary.narrower_than(declared), in_lines(both.boundary.narrower_than(declared).reasons));
        CHECK_MESSAGE(declared.narrower_than(both.boundary), in_lines(declared.narrower_than(both.boundary).reasons));
        auto expected = common(a.permitted, b.permitted);
        if (a.boundary.upstream_proxy != b.boundary.upstream_proxy)
            std::erase_if(expected, [](const auto& entry) { return entry.starts_with("reaches"); });
        CHECK_MESSAGE(difference(both.permitted, expected).empty(), "the intersection alone: ", in_lines(difference(both.permitted, expected)));
        CHECK_MESSAGE(difference(expected, both.permitted).empty(), "not the intersection: ", in_lines(difference(expected, both.permitted)));
    }
    [[nodiscard]] int comparable() const { return comparable_; }

private:
    void compare(const One& a, const One& b) {
        if (!a.boundary.narrower_than(b.boundary)) return;
        ++comparable_;
        INFO("said to be narrower: " << explain(a.boundary) << "\nthan: " << explain(b.boundary));
        CHECK_MESSAGE(difference(a.permitted, b.permitted).empty(), in_lines(difference(a.permitted, b.permitted)));
    }

    Territory& territory_;
    std::vector<One> all_;
    int comparable_ = 0;
};

}  // namespace

TEST_CASE("intersect: the sandbox of what two boundaries have in common permits what both permit, by hand") {
    Territory territory;
    Observed observed{territory};
    const auto& outside = territory.outside();
    const auto& tmp = territory.tmp();
    const auto proxy = territory.proxy();
    const auto plain = observed.add({});
    CHECK(plain.permitted.count("reads /etc/passwd") == 1);
    CHECK(plain.permitted.count("makes " + tmp + "/new") == 1);
    CHECK(plain.permitted.count("reads " + (outside / "a/file")) == 0);
    // Denials inside grants, and grants inside other grants.
    const auto grants = observed.add({.read_grants = {outside.path()}, .read_denials = {outside / "a/b"}, .write_grants = {outside / "ab"}, .write_denials = {"a", ".env"},
                                      .allowed_domains = {"*.a.example", "10.0.0.1:80"}, .denied_domains = {"c.b.a.example"}, .upstream_proxy = proxy});
    CHECK(grants.permitted.count("writes " + (outside / "ab/file")) == 1);
    CHECK(grants.permitted.count("reaches b.a.example:8080") == 1);
    const auto reads = observed.add({.read_denials = {outside / "a/b/c"}, .write_grants = {outside / "a", outside / "ab"}, .read_only = true, .all_reads = true,
                                     .allowed_domains = {"*.a.example:8080", "10.0.0.1"}, .upstream_proxy = proxy, .limits = {.cpu_seconds = 100}});
    // What a private /tmp leaves of a grant there, with and without AllReads.
    const auto hidden = observed.add({.read_grants = {tmp + "/a"}, .write_grants = {tmp + "/a/b"}, .private_tmp = true, .all_reads = true, .env_passed = {"SEEN_A"}});
    CHECK(hidden.permitted.count("reads " + tmp + "/a/file") == 1);
    CHECK(hidden.permitted.count("reads " + tmp + "/ab/file") == 0);
    const auto above = observed.add({.read_denials = {"/var/tmp"}, .write_grants = {"a/b", tmp}, .read_only = true, .env_passed = {"SEEN_A", "SEEN_B"}, .limits = {.cpu_seconds = 200}});
    const auto direct = observed.add({.allowed_domains = {"127.0.0.1:" + territory.proxy_port(), "*.a.example"}});
    CHECK(direct.permitted.count("reaches 127.0.0.1:" + territory.proxy_port()) == 1);

    observed.intersection(plain, grants);
    observed.intersection(grants, reads);
    observed.intersection(reads, hidden);
    observed.intersection(hidden, plain);
    observed.intersection(above, hidden);
    observed.intersection(grants, above);
    observed.intersection(grants, direct);
    CHECK(observed.comparable() >= 14);
}

TEST_CASE("intersect: the sandbox of what two boundaries have in common permits what both permit, at random") {
    Territory territory;
    Observed observed{territory};
    Dice dice{20240608};
    std::vector<Observed::One> some;
    while (some.size() < 8) {
        const auto declared = territory.random(dice);
        if (Workspace<Given>::open(territory.root(), Given{declared}).has_value()) some.push_back(observed.add(declared));
    }
    for (std::size_t i = 0; i < 5; ++i) {
        const auto &a = some[i % some.size()], &b = some[(i + 1 + i / some.size()) % some.size()];
        observed.intersection(a, b);
    }
    CHECK(observed.comparable() >= 12);
}

TEST_CASE("intersect: what srt cannot hold, a workspace refuses in words") {
    TempDir root, outside;
    fs::create_directories(outside / "a");
    write(outside / "a/file", "x");
    const auto one = workspace(root.path(), runtime::AllowRead{outside.path()}, runtime::AllowWrite{outside / "a"});
    const auto other = workspace(root.path(), AllReads{}, runtime::AllowWrite{outside / "a/file"});
    const auto both = *intersect(one.boundary(), other.boundary());
    CHECK(both.permits_write(outside / "a/file"));
    CHECK(holds(refusal(root.path(), Given{both}), "is a file inside the read grant"));
}
