// Which of two boundaries is narrower, and every reason why not.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include <bailey/boundary/compare.hpp>
#include <bailey/policy/bundle.hpp>
#include <bailey/policy/narrower.hpp>
#include <bailey/policy/runtime.hpp>

using namespace bailey;
namespace rt = bailey::runtime;

namespace {

constexpr auto root = "/srv/work";

/// A resolved boundary, without a machine: paths are given as they would come out.
struct With : Boundary {
    With() { Boundary::root = ::root; }
    template <class... Ps>
    explicit With(const Ps&... policies) : With() {
        (policies.apply(*this), ...);
    }
};

bool no_wider(const Boundary& a, const Boundary& b) { return static_cast<bool>(a.narrower_than(b)); }

/// "kind subject" of each reason.
std::vector<std::string> reasons(const Boundary& a, const Boundary& b) {
    std::vector<std::string> list;
    constexpr std::string_view kinds[] = {"root", "read", "write", "network", "proxy", "unix_socket", "local_binding", "environment", "limit"};
    for (const auto& reason : a.narrower_than(b).reasons) {
        CHECK_FALSE(reason.rule.empty());
        CHECK_FALSE(reason.text.empty());
        list.push_back(std::string{kinds[static_cast<int>(reason.kind)]} + " " + reason.subject);
    }
    return list;
}
using List = std::vector<std::string>;

/// The first is strictly narrower; these are the reasons why the second is not.
void check(const Boundary& narrow, const Boundary& wide, const List& expected) {
    CAPTURE(expected.front());
    CHECK(no_wider(narrow, narrow));
    CHECK(reasons(narrow, wide).empty());
    CHECK(reasons(wide, narrow) == expected);
}

}  // namespace

TEST_CASE("C07 a table of pairs") {
    check(With{}, With{rt::AllowRead{"/data"}}, {"read /data"});
    check(With{rt::AllowRead{"/data/b"}}, With{rt::AllowRead{"/data"}}, {"read /data"});
    check(With{rt::AllowRead{"/data"}}, With{rt::AllowWrite{"/data"}}, {"write /data"});
    check(With{}, With{rt::AllowWrite{"/data"}}, {"read /data", "write /data"});
    check(With{rt::DenyRead{"/srv/work/keys"}}, With{}, {"read /srv/work/keys", "write /srv/work/keys"});
    check(With{rt::DenyWrite{"/srv/work/.env"}}, With{}, {"write /srv/work/.env"});
    check(With{rt::DenyRead{"/srv/work/a"}}, With{rt::DenyRead{"/srv/work/a/b"}}, {"read /srv/work/a", "write /srv/work/a"});
    check(With{ReadOnly{}}, With{}, {"write /srv/work", "write /tmp"});
    check(With{PrivateTmp{}}, With{}, {"read /tmp", "write /tmp"});
    check(With{}, With{AllReads{}}, {"read /"});
    check(With{rt::AllowRead{"/data"}}, With{AllReads{}}, {"read /"});
    check(With{AllReads{}, PrivateTmp{}, ReadOnly{}}, With{AllReads{}, ReadOnly{}}, {"read /tmp"});
    check(With{AllReads{}, rt::DenyRead{"/home"}}, With{AllReads{}}, {"read /home"});
    check(With{ReadOnly{}, rt::AllowWrite{"/srv/work/out"}}, With{}, {"write /srv/work", "write /tmp"});

    check(With{}, With{rt::DomainAllowlist{"a.example"}}, {"network a.example"});
    check(With{rt::DomainAllowlist{"*.a.b.example"}}, With{rt::DomainAllowlist{"*.b.example"}}, {"network *.b.example"});
    check(With{rt::DomainAllowlist{"a.example:443"}}, With{rt::DomainAllowlist{"a.example"}}, {"network a.example"});
    check(With{rt::DomainAllowlist{"a.example:443"}}, With{rt::DomainAllowlist{"a.example:443", "a.example:80"}}, {"network a.example:80"});
    check(With{rt::DomainAllowlist{"*.b.example"}, rt::DomainDenylist{"x.b.example"}}, With{rt::DomainAllowlist{"*.b.example"}}, {"network x.b.example"});
    check(With{rt::DomainAllowlist{"*.b.example"}, rt::DomainDenylist{"*:22"}}, With{rt::DomainAllowlist{"*.b.example"}}, {"network *.b.example:22"});
    check(With{rt::DomainAllowlist{"*.b.example:443"}, rt::DomainDenylist{"x.b.example"}}, With{rt::DomainAllowlist{"*.b.example:443"}}, {"network x.b.example:443"});

    check(With{}, With{rt::EnvAllowlist{"CI"}}, {"environment CI"});
    check(With{}, With{rt::EnvCredential{"GH_TOKEN"}}, {"environment GH_TOKEN"});
    check(With{}, With{rt::Env{{"A", "1"}}}, {"environment A"});
    check(With{CpuTimeLimit<30>{}}, With{CpuTimeLimit<60>{}}, {"limit cpu_seconds"});
    check(With{MemoryLimit<4_GiB>{}}, With{}, {"limit memory_bytes"});
    check(With{}, With{AllUnixSockets{}}, {"unix_socket every Unix socket"});
    check(With{}, With{LocalBinding{}}, {"local_binding local ports"});
}

TEST_CASE("what names the same is the same") {
    const auto same = [](const Boundary& a, const Boundary& b) { return no_wider(a, b) && no_wider(b, a); };
    CHECK(same(With{}, With{rt::AllowRead{"/usr/share", "/tmp/x", "/srv/work/a"}}));
    CHECK(same(With{}, With{rt::DenyRead{"/data"}}));  // not permitted anyway
    CHECK(same(With{}, With{rt::DenyWrite{"/usr"}}));
    CHECK(same(With{}, With{rt::DenyRead{"/etc/shadow"}}));
    CHECK(same(With{}, With{rt::DenyRead{"/srv"}}));  // above the root, which stays
    CHECK(same(With{}, With{rt::DomainDenylist{"a.example"}}));
    CHECK(same(With{}, With{rt::UpstreamProxy{"http://p.example"}}));
    CHECK(same(With{EnvValue<"A", "1">{}}, With{rt::Env{{"A", "1"}}}));
    CHECK(same(With{EnvValue<"A", "2">{}, rt::Env{{"A", "1"}}}, With{rt::Env{{"A", "1"}}}));
    CHECK(same(With{rt::DomainAllowlist{"[2001:db8::1]"}}, With{rt::DomainAllowlist{"[2001:db8:0:0::1]"}}));
}

TEST_CASE("prefixes that are none") {
    CHECK(reasons(With{rt::AllowRead{"/a/bc"}}, With{rt::AllowRead{"/a/b"}}) == List{"read /a/bc"});
    CHECK(reasons(With{rt::AllowRead{"/a/b"}}, With{rt::AllowRead{"/a/bc"}}) == List{"read /a/b"});
    CHECK(reasons(With{rt::DomainAllowlist{"ab.example"}}, With{rt::DomainAllowlist{"*.b.example"}}) == List{"network ab.example"});
    CHECK(reasons(With{rt::DomainAllowlist{"b.example"}}, With{rt::DomainAllowlist{"*.b.example"}}) == List{"network b.example"});
}

TEST_CASE("a proxy is another way, a value another value, a root another place") {
    const With direct{rt::DomainAllowlist{"a.example"}}, through{rt::DomainAllowlist{"a.example"}, rt::UpstreamProxy{"http://p.example"}};
    CHECK(reasons(through, direct) == List{"proxy upstream proxy"});
    CHECK(reasons(direct, through) == List{"proxy upstream proxy"});

    const auto values = With{rt::Env{{"A", "s3cr3t"}}}.narrower_than(With{rt::Env{{"A", "other"}}}).reasons;
    REQUIRE(values.size() == 1);
    CHECK(values[0].text == "sees a value set for A; the other boundary: another value");

    With elsewhere;
    elsewhere.root = "/srv/work/sub";
    CHECK(reasons(elsewhere, With{}) == List{"root /srv/work/sub"});
    CHECK(reasons(With{}, elsewhere) == List{"root /srv/work", "read /srv/work", "write /srv/work"});
}

TEST_CASE("the reasons say it in words") {
    const auto found = With{rt::AllowWrite{"/data"}, rt::DomainAllowlist{"a.example"}, rt::EnvAllowlist{"CI"}}.narrower_than(With{MemoryLimit<1_GiB>{}});
    REQUIRE(found.reasons.size() == 5);
    CHECK(found.reasons[0].text == "reads \"/data\"; the other boundary: no grant covers it");
    CHECK(found.reasons[1].text == "writes \"/data\"; the other boundary: no grant covers it");
    CHECK(found.reasons[2].text == "reaches a.example; the other boundary: no allowed domain covers it");
    CHECK(found.reasons[3].text == "sees the host's value of CI; the other boundary: the variable is not given");
    CHECK(found.reasons[4].text == "has no limit of memory_bytes; the other boundary: a limit of 1073741824");
}
