// The order of boundaries and their intersection, on random ones of a fixed seed: a small world, so that much overlaps.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include <bailey/boundary/intersect.hpp>

using namespace bailey;

namespace {

class Dice {
public:
    [[nodiscard]] bool one_in(int n) { return std::uniform_int_distribution<int>{1, n}(engine_) == 1; }
    template <class List>
    [[nodiscard]] const auto& of(const List& list) {
        return list[std::uniform_int_distribution<std::size_t>{0, std::size(list) - 1}(engine_)];
    }

private:
    std::mt19937 engine_{20240607};
};

Boundary random_boundary(Dice& dice) {
    static const std::vector<std::string> places{"/data", "/data/a", "/data/a/b", "/data/ab", "/srv", "/srv/work/out", "/srv/work/out/x", "/srv/work/.env", "/tmp/a",
                                                 "/tmp/a/b", "/usr/share/x", "/home", "/home/u"};
    static const std::vector<std::string> domains{"a.example", "a.example:443", "b.example", "*.b.example", "*.b.example:443", "x.b.example", "*.x.b.example",
                                                  "x.b.example:80", "[2001:db8::1]", "[2001:db8:0::1]:443", "10.0.0.1"};
    static const std::vector<std::string> denied{"*", "*:443", "a.example", "*.b.example:80", "x.b.example", "*.example"};
    static const std::vector<std::string> names{"A", "B", "C"};
    Boundary b{.root = "/srv/work"};
    const auto some = [&](std::vector<std::string>& list, const std::vector<std::string>& from, int n) {
        while (!dice.one_in(n)) list.push_back(dice.of(from));
    };
    some(b.read_grants, places, 2);
    some(b.read_denials, places, 2);
    some(b.write_grants, places, 2);
    some(b.write_denials, places, 2);
    b.read_only = dice.one_in(4);
    b.private_tmp = dice.one_in(4);
    b.all_reads = dice.one_in(4);
    some(b.allowed_domains, domains, 3);
    if (dice.one_in(2)) some(b.denied_domains, denied, 2);
    if (dice.one_in(4)) b.upstream_proxy = "http://p.example";
    b.all_unix_sockets = dice.one_in(4);
    if (dice.one_in(2)) some(b.unix_sockets, places, 2);
    b.local_binding = dice.one_in(3);
    some(b.env_passed, names, 2);
    if (dice.one_in(3)) some(b.env_credentials, names, 2);
    if (dice.one_in(3)) b.env_values.emplace_back(dice.of(names), dice.one_in(2) ? "1" : "2");
    if (dice.one_in(3)) b.env_runtime_values.emplace_back(dice.of(names), dice.one_in(2) ? "1" : "2");
    if (dice.one_in(2)) b.limits.cpu_seconds = dice.one_in(2) ? 10U : 20U;
    if (dice.one_in(3)) b.limits.open_files = dice.one_in(2) ? 10U : 20U;
    return b;
}

bool narrower(const Boundary& a, const Boundary& b) { return widenings(a, b).empty(); }

std::string shown(const std::vector<Widening>& list) {
    std::string text;
    for (const auto& widening : list) text += widening.text + "\n";
    return text;
}

}  // namespace

TEST_CASE("narrower_than is an order, and intersect the greatest lower bound") {
    Dice dice;
    std::vector<Boundary> all{Boundary{.root = "/srv/work"}};
    for (int i = 0; i < 60; ++i) all.push_back(random_boundary(dice));
    // Random boundaries are seldom comparable; what two have in common is.
    for (int i = 0; i < 60; ++i) all.push_back(*intersect(dice.of(all), dice.of(all)));

    int comparable = 0, bounds = 0;
    for (const auto& a : all) CHECK(narrower(a, a));
    for (int i = 0; i < 1500; ++i) {
        const auto &a = dice.of(all), &b = dice.of(all), &c = dice.of(all);
        if (narrower(a, b) && narrower(b, c)) {
            ++comparable;
            CHECK(narrower(a, c));
        }
        const auto both = *intersect(a, b);
        const auto over_a = widenings(both, a), over_b = widenings(both, b);
        CHECK_MESSAGE(over_a.empty(), shown(over_a));
        CHECK_MESSAGE(over_b.empty(), shown(over_b));
        if (narrower(c, a) && narrower(c, b)) {
            ++bounds;
            const auto over = widenings(c, both);
            CHECK_MESSAGE(over.empty(), shown(over));
        }
        CHECK(narrower(*intersect(both, c), a));
        // Either order, and what is narrower already, comes out the same.
        const auto turned = *intersect(b, a);
        CHECK(narrower(both, turned));
        CHECK(narrower(turned, both));
        if (narrower(a, b)) CHECK(narrower(a, both));
    }
    CHECK(comparable > 5);
    CHECK(bounds > 20);
}

TEST_CASE("what is narrower permits nothing that the wider does not: asked path by path and host by host") {
    Dice dice;
    const std::vector<std::string> paths{"/data/x", "/data/a/x", "/data/a/b/x", "/data/abc", "/srv/x", "/srv/work/x", "/srv/work/out/y", "/srv/work/out/x/y", "/srv/work/.env",
                                         "/tmp/x", "/tmp/a/x", "/tmp/a/b/x", "/usr/share/x/y", "/usr/x", "/home/x", "/home/u/x", "/nowhere", "/etc/shadow"};
    const std::vector<std::string> hosts{"a.example", "b.example", "y.b.example", "x.b.example", "z.x.b.example", "2001:db8::1", "10.0.0.1", "c.example"};
    for (int i = 0; i < 60; ++i) {
        const auto a = random_boundary(dice), b = random_boundary(dice);
        const auto both = *intersect(a, b);
        for (const auto& path : paths) {
            CAPTURE(path);
            CHECK((!both.permits_read(path) || (a.permits_read(path) && b.permits_read(path))));
            CHECK((!both.permits_write(path) || (a.permits_write(path) && b.permits_write(path))));
            if (!both.permits_read(path) && a.permits_read(path)) CHECK_FALSE(b.permits_read(path));
            if (!both.permits_write(path) && a.permits_write(path)) CHECK_FALSE(b.permits_write(path));
        }
        for (const auto& host : hosts) {
            for (const std::uint16_t port : {std::uint16_t{80}, std::uint16_t{443}, std::uint16_t{9}}) {
                CHECK((!both.permits_host(host, port) || (a.permits_host(host, port) && b.permits_host(host, port))));
                if (a.upstream_proxy == b.upstream_proxy) CHECK(both.permits_host(host, port).allowed == (a.permits_host(host, port) && b.permits_host(host, port)));
            }
        }
    }
}

TEST_CASE("intersect: an example, and roots that differ") {
    const Boundary a{.root = "/srv/work", .read_grants = {"/data"}, .allowed_domains = {"*.b.example"}, .env_passed = {"CI", "TZ"}, .limits = {.cpu_seconds = 60}};
    const Boundary b{.root = "/srv/work", .read_denials = {"/data/keys"}, .write_grants = {"/data/out"}, .read_only = true, .all_reads = true,
                     .allowed_domains = {"x.b.example:443", "c.example"}, .env_passed = {"CI"}};
    const auto both = *intersect(a, b);
    CHECK(both.read_grants == std::vector<std::string>{"/data"});
    CHECK(both.read_denials == std::vector<std::string>{"/data/keys"});
    CHECK(both.write_grants.empty());
    CHECK(both.read_only);
    CHECK_FALSE(both.all_reads);
    CHECK(both.allowed_domains == std::vector<std::string>{"x.b.example:443"});
    CHECK(both.env_passed == std::vector<std::string>{"CI"});
    CHECK(both.limits.cpu_seconds == 60);
    const auto none = intersect(a, Boundary{.root = "/elsewhere"});
    CHECK(none.error().code() == ErrorCode::policy);
}
