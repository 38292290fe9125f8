// What a boundary answers, and which rule it names.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include <bailey/boundary/permits.hpp>

using namespace bailey;

namespace {

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const Boundary everything{.root = "/srv/work",
                          .read_grants = {"/opt/data"},
                          .read_denials = {"/srv/work/secret", "/opt/data/keys"},
                          .write_grants = {"/srv/out"},
                          .write_denials = {"/srv/work/.env", "/srv/out/fixed"},
                          .allowed_domains = {"api.example", "*.b.example:443", "[2001:db8::1]", "10.0.0.1"},
                          .denied_domains = {"x.b.example", "*:22"}};

}  // namespace

TEST_CASE("permits_read: the deciding rule") {
    CHECK(everything.permits_read("a").rule == "the workspace \"/srv/work\"");
    CHECK(everything.permits_read("/srv/work/.env").allowed);
    CHECK(everything.permits_read("secret/x").rule == "the read denial \"/srv/work/secret\"");
    CHECK_FALSE(everything.permits_read("secret"));
    CHECK(everything.permits_read("secrets").allowed);
    CHECK(everything.permits_read("/opt/data/x").allowed);  // /opt is a system path, here or not
    CHECK_FALSE(everything.permits_read("/opt/data/keys/x"));
    CHECK(everything.permits_read("/srv/out/x").rule == "the write grant \"/srv/out\"");
    CHECK_FALSE(everything.permits_read("/srv/outer"));
    CHECK(everything.permits_read("/srv/other").rule == "no grant covers it");
    CHECK(mentions(everything.permits_read("/etc/shadow").rule, "a secret of the system"));
    CHECK_FALSE(everything.permits_read("/etc/ssh/ssh_host_rsa_key"));
    CHECK(everything.permits_read("/etc/ssh/ssh_host_rsa_key.pub").allowed);
    CHECK(everything.permits_read("/tmp/x").allowed);
    CHECK_FALSE(everything.permits_read(""));
    CHECK_FALSE(everything.permits_read(std::string_view{"a\0b", 3}));
}

TEST_CASE("permits_write: the deciding rule") {
    CHECK(everything.permits_write("a").allowed);
    CHECK(everything.permits_write(".env").rule == "the write denial \"/srv/work/.env\"");
    CHECK(everything.permits_write(".env.local").allowed);
    CHECK_FALSE(everything.permits_write("secret/x"));
    CHECK(everything.permits_write("/srv/out/x").rule == "the write grant \"/srv/out\"");
    CHECK_FALSE(everything.permits_write("/srv/out/fixed"));
    CHECK_FALSE(everything.permits_write("/opt/data/x"));
    CHECK(everything.permits_write("/etc/x").rule == "no grant covers it");
    CHECK(everything.permits_write("/dev/null").allowed);
    CHECK_FALSE(everything.permits_write("/proc/sys/kernel/hostname"));
    CHECK(everything.permits_write("/tmp/x").allowed);
    auto narrow = everything;
    narrow.read_only = narrow.private_tmp = true;
    CHECK(narrow.permits_write("a").rule == "ReadOnly");
    CHECK(narrow.permits_write("/tmp/x").rule == "PrivateTmp");
    CHECK(narrow.permits_read("/tmp/x").rule == "PrivateTmp");
    CHECK(narrow.permits_write("/srv/out/x").allowed);
}

TEST_CASE("permits_host: names, wildcards, ports, addresses") {
    CHECK(everything.permits_host("api.example", 443).rule == "the allowed domain \"api.example\"");
    CHECK(everything.permits_host("API.Example.", 80).allowed);
    CHECK_FALSE(everything.permits_host("x.api.example", 80));
    CHECK(everything.permits_host("a.b.example", 443).rule == "the allowed domain \"*.b.example:443\"");
    CHECK(everything.permits_host("a.b.example", 80).rule == "no allowed domain covers it");
    CHECK_FALSE(everything.permits_host("b.example", 443));
    CHECK_FALSE(everything.permits_host("ab.example", 443));
    CHECK(everything.permits_host("x.b.example", 443).rule == "the denied domain \"x.b.example\"");
    CHECK(everything.permits_host("api.example", 22).rule == "the denied domain \"*:22\"");
    CHECK(everything.permits_host("2001:DB8:0::1", 1).allowed);
    CHECK(everything.permits_host("[2001:db8:0:0:0:0:0:1]", 1).allowed);
    CHECK_FALSE(everything.permits_host("[2001:db8::2]", 1));
    CHECK(everything.permits_host("[::ffff:10.0.0.1]", 1).allowed);
    for (const auto* nonsense : {"", "*", "*.b.example", "a b", "[::1", "1:2", "user@api.example", "http://api.example", "api.example/x"})
        CHECK_FALSE(everything.permits_host(nonsense, 443));
    CHECK_FALSE(everything.permits_host("api.example", 0));
    CHECK_FALSE(Boundary{}.permits_host("api.example", 443));
}

TEST_CASE("an address has one meaning, however it is spelled") {
    static_assert(hosts::same_host("[::1]", "[0:0:0:0:0:0:0:1]"));
    static_assert(hosts::same_host("[2001:DB8::]", "[2001:db8:0:0::0]"));
    static_assert(hosts::same_host("[::ffff:1.2.3.4]", "1.2.3.4"));
    static_assert(hosts::same_host("[::ffff:102:304]", "1.2.3.4"));
    static_assert(!hosts::same_host("[::1]", "[::2]"));
    static_assert(!hosts::same_host("[::1.2.3.4]", "1.2.3.4"));
    static_assert(!hosts::same_host("[1::]", "[::1]"));
    static_assert(!hosts::address_of("[1:2]").valid);
    static_assert(!hosts::address_of("[::1::]").valid);
    static_assert(!hosts::address_of("1.2.3").valid);
    static_assert(!hosts::address_of("a.example").valid);
    static_assert(hosts::split("[::1]:443").port == 443);
    static_assert(hosts::split("[::1]").port == 0);
    static_assert(hosts::split("*").below);
    CHECK(hosts::to_string(hosts::split("*.a.example:80")) == "*.a.example:80");
    CHECK(hosts::to_string(hosts::split("*:22")) == "*:22");
    CHECK(hosts::to_string(hosts::split("[::1]:443")) == "[::1]:443");
}
