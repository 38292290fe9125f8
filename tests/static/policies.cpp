// What policies are as types, and the rules decided by the compiler.
#include <type_traits>

#include <bailey/policy/bundle.hpp>
#include <bailey/policy/concept.hpp>
#include <bailey/policy/environment.hpp>
#include <bailey/policy/filesystem.hpp>
#include <bailey/policy/limits.hpp>
#include <bailey/policy/network.hpp>
#include <bailey/policy/runtime.hpp>
#include <bailey/policy/weakenings.hpp>

namespace {

using namespace bailey;

template <class... Ps>
constexpr bool literal_policies = ((Policy<Ps> && std::is_empty_v<Ps> && std::is_trivially_default_constructible_v<Ps>)&&...);

static_assert(literal_policies<DomainAllowlist<>, DomainAllowlist<"a.example", "*.b.example:443">, DomainDenylist<"*">,
                               UnixSocketAllowlist<"/run/x">, UpstreamProxy<"http://proxy:3128">, ReadPolicy<>,
                               ReadPolicy<Allow<"/x">, Deny<"y">>, WritePolicy<Allow<>>, ReadOnly, PrivateTmp, AllReads,
                               AllUnixSockets, LocalBinding, EnvAllowlist<"CI">, EnvValue<"A", "">, EnvCredential<"GH_TOKEN">,
                               CpuTimeLimit<1>, MemoryLimit<1_GiB>, ProcessLimit<1>, FileSizeLimit<1_KiB>, OpenFileLimit<8>,
                               PolicySet<>, PolicySet<PolicySet<ReadOnly>, AllReads>>);

template <class... Ps>
constexpr bool value_policies = ((Policy<Ps> && std::is_copy_constructible_v<Ps> &&
                                  std::is_nothrow_move_constructible_v<Ps>)&&...);

static_assert(value_policies<runtime::DomainAllowlist, runtime::DomainDenylist, runtime::AllowRead, runtime::DenyRead,
                             runtime::AllowWrite, runtime::DenyWrite, runtime::UnixSocketAllowlist, runtime::EnvAllowlist,
                             runtime::EnvCredential, runtime::Env, runtime::UpstreamProxy, runtime::Limits>);

struct Own {
    void apply(Boundary&) const {}
};
struct Mutable {
    void apply(Boundary&) {}
};
static_assert(Policy<Own>);
static_assert(!Policy<Mutable> && !Policy<int> && !Policy<std::string>);

// One meaning, one type.
static_assert(std::is_same_v<DomainAllowlist<"a.example">, DomainAllowlist<"a.example">>);
static_assert(!std::is_same_v<DomainAllowlist<"a.example">, DomainAllowlist<"b.example">>);

// Sizes.
static_assert(0_KiB == 0 && 1_KiB == 1024 && 512_MiB == 536'870'912 && 4_GiB == 4'294'967'296 && 1'024_MiB == 1_GiB);
static_assert(17'179'869'183_GiB == 0xffff'ffff'c000'0000);

// More entries than clang folds.
#define BAILEY_TEST_4(x) x "a", x "b", x "c", x "d"
#define BAILEY_TEST_16(x) BAILEY_TEST_4(x "a"), BAILEY_TEST_4(x "b"), BAILEY_TEST_4(x "c"), BAILEY_TEST_4(x "d")
#define BAILEY_TEST_64(x) BAILEY_TEST_16(x "a"), BAILEY_TEST_16(x "b"), BAILEY_TEST_16(x "c"), BAILEY_TEST_16(x "d")
using Long =
    DomainAllowlist<BAILEY_TEST_64("a."), BAILEY_TEST_64("b."), BAILEY_TEST_64("c."), BAILEY_TEST_64("d."), BAILEY_TEST_64("e.")>;
static_assert(Policy<Long>);
static_assert(requires(Boundary & b) { Long{}.apply(b); });

// A template argument can be judged: under UBSan gcc 12 is strict about what it compares.
static_assert(grammar::accepts_path<"~/a/../b", grammar::PathUse::write>());
static_assert(grammar::accepts_env_name<"MY_NAME", grammar::EnvUse::pass>());
static_assert(grammar::accepts_env_value<"">());
static_assert(grammar::accepts_proxy_url<"https://[::1]:3128/">());

}  // namespace
