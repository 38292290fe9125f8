// What each policy adds to a Boundary, literal and run-time twin alike.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include <bailey/policy/bundle.hpp>
#include <bailey/policy/concept.hpp>
#include <bailey/policy/environment.hpp>
#include <bailey/policy/filesystem.hpp>
#include <bailey/policy/limits.hpp>
#include <bailey/policy/network.hpp>
#include <bailey/policy/runtime.hpp>
#include <bailey/policy/weakenings.hpp>

using namespace bailey;

namespace {

using List = std::vector<std::string>;

template <Policy... Ps>
Boundary made_of(const Ps&... policies) {
    Boundary boundary;
    (policies.apply(boundary), ...);
    return boundary;
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("policies: domains are folded and kept in order") {
    const Boundary b =
        made_of(DomainAllowlist<"API.GitHub.com", "*.pypi.example:443">{}, DomainDenylist<"*.corp.example", "*:22">{},
                runtime::DomainAllowlist{"A.example"}, runtime::DomainDenylist{"B.example"});
    CHECK(b.allowed_domains == List{"api.github.com", "*.pypi.example:443", "a.example"});
    CHECK(b.denied_domains == List{"*.corp.example", "*:22", "b.example"});
    CHECK(b.refusals.empty());
    CHECK(b.notes.empty());
}

TEST_CASE("policies: paths stay as they are spelled") {
    const Boundary b = made_of(ReadPolicy<Allow<"/etc/ssl", "~/.cargo">, Deny<"keys">>{},
                               WritePolicy<Deny<".env">, Allow<"/tmp/build">, Allow<"a/../b">>{}, runtime::AllowRead{"/opt/data"},
                               runtime::DenyRead{"secrets"}, runtime::AllowWrite{"out"}, runtime::DenyWrite{"ci"});
    CHECK(b.read_grants == List{"/etc/ssl", "~/.cargo", "/opt/data"});
    CHECK(b.read_denials == List{"keys", "secrets"});
    CHECK(b.write_grants == List{"/tmp/build", "a/../b", "out"});
    CHECK(b.write_denials == List{".env", "ci"});
    CHECK(b.refusals.empty());
}

TEST_CASE("policies: switches") {
    const Boundary plain = made_of();
    CHECK_FALSE((plain.read_only || plain.private_tmp || plain.all_reads || plain.all_unix_sockets || plain.local_binding));
    const Boundary b = made_of(ReadOnly{}, PrivateTmp{}, AllReads{}, AllUnixSockets{}, LocalBinding{});
    CHECK((b.read_only && b.private_tmp && b.all_reads && b.all_unix_sockets && b.local_binding));
}

TEST_CASE("policies: environment") {
    const Boundary b = made_of(EnvAllowlist<"CI", "GITHUB_SHA">{}, EnvCredential<"GH_TOKEN">{}, EnvValue<"NODE_ENV", "test">{},
                               EnvValue<"EMPTY", "">{}, EnvValue<"NODE_ENV", "test">{}, runtime::EnvAllowlist{"TZ"},
                               runtime::EnvCredential{"NPM_TOKEN"}, runtime::Env{{"NODE_ENV", "production"}, {"BASH_ENV", "x"}},
                               runtime::Env{{"NODE_ENV", "other"}});
    CHECK(b.env_passed == List{"CI", "GITHUB_SHA", "TZ"});
    CHECK(b.env_credentials == List{"GH_TOKEN", "NPM_TOKEN"});
    CHECK(b.env_values == std::vector<EnvironmentEntry>{{"NODE_ENV", "test"}, {"EMPTY", ""}});
    CHECK(b.env_runtime_values == std::vector<EnvironmentEntry>{{"NODE_ENV", "other"}, {"BASH_ENV", "x"}});
    CHECK(b.refusals.empty());
}

TEST_CASE("policies: two literal values for one variable are refused") {
    const Boundary b = made_of(EnvValue<"NODE_ENV", "test">{}, EnvValue<"NODE_ENV", "production">{});
    REQUIRE(b.refusals.size() == 1);
    CHECK(says(b.refusals[0], "bailey: a variable has one value"));
    CHECK(says(b.refusals[0], "\"NODE_ENV\" is both \"test\" and \"production\""));
}

TEST_CASE("policies: the smaller of two limits holds") {
    const Boundary b =
        made_of(CpuTimeLimit<60>{}, CpuTimeLimit<30>{}, CpuTimeLimit<90>{}, MemoryLimit<4_GiB>{}, ProcessLimit<256>{},
                FileSizeLimit<100_MiB>{}, OpenFileLimit<64>{}, runtime::Limits{.memory_bytes = 512_MiB, .processes = 500});
    CHECK(b.limits.cpu_seconds == 30);
    CHECK(b.limits.memory_bytes == 512u * 1024 * 1024);
    CHECK(b.limits.processes == 256);
    CHECK(b.limits.file_size_bytes == 100u * 1024 * 1024);
    CHECK(b.limits.open_files == 64);
    CHECK_FALSE(made_of(runtime::Limits{}).limits.cpu_seconds.has_value());
}

TEST_CASE("policies: one upstream proxy") {
    const Boundary one = made_of(UpstreamProxy<"http://p.example:3128">{}, runtime::UpstreamProxy{"http://p.example:3128"});
    CHECK(one.upstream_proxy == "http://p.example:3128");
    CHECK(one.refusals.empty());
    const Boundary two = made_of(UpstreamProxy<"http://p.example:3128">{}, runtime::UpstreamProxy{"http://me:s3cr3t@q.example"});
    CHECK(two.upstream_proxy == "http://p.example:3128");
    REQUIRE(two.refusals.size() == 1);
    CHECK(says(two.refusals[0], "\"http://p.example:3128\" and \"http://...@q.example\""));
    CHECK_FALSE(says(two.refusals[0], "s3cr3t"));
}

TEST_CASE("policies: Unix sockets by path are macOS only") {
    for (const Boundary& b :
         {made_of(UnixSocketAllowlist<"/run/x.sock">{}), made_of(runtime::UnixSocketAllowlist{"/run/x.sock"})}) {
        if constexpr (on_linux) {
            REQUIRE(b.refusals.size() == 1);
            CHECK(says(b.refusals[0], "seccomp filter that stops them sees no paths; use AllUnixSockets"));
            CHECK(says(b.refusals[0], "\"/run/x.sock\""));
        } else {
            CHECK(b.unix_sockets == List{"/run/x.sock"});
            CHECK(b.refusals.empty());
        }
    }
}

TEST_CASE("policies: bundles nest and mean what they hold") {
    using Inner = PolicySet<EnvAllowlist<"CI">, ReadOnly>;
    struct Own {
        void apply(Boundary& b) const { b.env_values.emplace_back("OWN", "1"); }
    };
    const Boundary b = made_of(PolicySet<Inner, DomainAllowlist<"a.example">, Own, PolicySet<>>{});
    CHECK(b.env_passed == List{"CI"});
    CHECK(b.read_only);
    CHECK(b.allowed_domains == List{"a.example"});
    CHECK(b.env_values == std::vector<EnvironmentEntry>{{"OWN", "1"}});
}

TEST_CASE("run-time policies: the ways to make one") {
    const List from_config{"a.example", "b.example"};
    const std::string text = "a.example";
    CHECK(runtime::DomainAllowlist{from_config}.values == from_config);
    CHECK(runtime::DomainAllowlist(from_config).values == from_config);
    CHECK(runtime::DomainAllowlist{"a.example", "b.example"}.values == from_config);
    CHECK(runtime::DomainAllowlist({"a.example", "b.example"}).values == from_config);
    CHECK(runtime::DomainAllowlist{text, "b.example"}.values == from_config);
    CHECK(runtime::DomainAllowlist{text}.values == List{"a.example"});
    CHECK(runtime::DomainAllowlist{}.values.empty());
    CHECK(runtime::DomainAllowlist{List{}}.values.empty());
    const std::vector<EnvironmentEntry> pairs{{"A", "1"}};
    CHECK(runtime::Env{pairs}.values == pairs);
    CHECK(runtime::Env{{"A", "1"}}.values == pairs);
    CHECK(runtime::Env{{text, text}}.values.size() == 1);
}

TEST_CASE("run-time policies: bad values are refused one by one, good ones stay") {
    const Boundary b =
        made_of(runtime::DomainAllowlist{"https://example.com", "ok.example", "*"}, runtime::DomainDenylist{"*", "x y"},
                runtime::AllowRead{"/", "/opt"}, runtime::DenyRead{""}, runtime::AllowWrite{"../x", "/"},
                runtime::DenyWrite{"**/.env"}, runtime::EnvAllowlist{"LD_PRELOAD", "GH_TOKEN", "CI"},
                runtime::EnvCredential{"NODE_OPTIONS"}, runtime::UpstreamProxy{"ftp://x"}, runtime::UnixSocketAllowlist{"/"},
                runtime::Limits{.cpu_seconds = 0, .memory_bytes = 512});
    CHECK(b.allowed_domains == List{"ok.example"});
    CHECK(b.denied_domains == List{"*"});
    CHECK(b.read_grants == List{"/opt"});
    CHECK(b.write_grants.empty());
    CHECK(b.env_passed == List{"CI"});
    CHECK(b.env_credentials.empty());
    CHECK(b.upstream_proxy.empty());
    CHECK_FALSE(b.limits.cpu_seconds.has_value());
    CHECK_FALSE(b.limits.memory_bytes.has_value());

    const std::string_view expected[] = {
        "has no scheme",   "would allow every host", "holds a space",  "AllReads",     "a path is empty",
        "does not leave",  "which no policy can",    "not patterns",   "EnvValue",     "EnvCredential",
        "steers programs", "starts with http://",    "AllUnixSockets", "a limit of 0", "a memory limit counts bytes",
    };
    REQUIRE(b.refusals.size() == std::size(expected));
    for (std::size_t i = 0; i < b.refusals.size(); ++i) {
        CAPTURE(b.refusals[i]);
        CHECK(b.refusals[i].starts_with("bailey: "));
        CHECK(says(b.refusals[i], "(in runtime::"));
        CHECK(says(b.refusals[i], expected[i]));
    }
}

TEST_CASE("run-time policies: no refusal shows a secret") {
    using namespace std::string_literals;
    const Boundary b =
        made_of(runtime::Env{{"GH_TOKEN", "s3cr3t\0"s}, {"UID", "s3cr3t"}}, runtime::UpstreamProxy{"http://me:s3cr3t@bad host"},
                runtime::UpstreamProxy{"socks5://me:s3cr3t@p.example"});
    REQUIRE(b.refusals.size() == 4);
    for (const std::string& refusal : b.refusals) CHECK_FALSE(says(refusal, "s3cr3t"));
}
