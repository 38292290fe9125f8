// What can be proved while compiling, and what cannot.
#include <bailey/policy/narrower.hpp>

namespace {

using namespace bailey;

// A is narrower and B is not, or they are the same.
template <class A, class B>
constexpr bool strictly = narrower_than<A, B> && !narrower_than<B, A>;
template <class A, class B>
constexpr bool equal = narrower_than<A, B> && narrower_than<B, A>;
template <class A, class B>
constexpr bool unrelated = !narrower_than<A, B> && !narrower_than<B, A>;

template <class... Ps>
using Set = PolicySet<Ps...>;
using None = Set<>;
template <fixed_string... Paths>
using Reads = ReadPolicy<Allow<Paths...>>;
template <fixed_string... Paths>
using Writes = WritePolicy<Allow<Paths...>>;
template <fixed_string... Paths>
using NoReads = ReadPolicy<Deny<Paths...>>;
template <fixed_string... Paths>
using NoWrites = WritePolicy<Deny<Paths...>>;

// The promise of the README.
using Developer = Workspace<DomainAllowlist<"api.github.com", "*.pypi.example">, Writes<"/tmp/build", "~/.cache/app">, NoReads<"keys">, NoWrites<".env">,
                            EnvAllowlist<"CI">, EnvValue<"NODE_ENV", "test">, MemoryLimit<4_GiB>>;
using Reviewer = Workspace<DomainAllowlist<"api.github.com:443">, ReadOnly, NoReads<"keys", "notes">, EnvAllowlist<"CI">, MemoryLimit<1_GiB>>;
static_assert(strictly<Reviewer, Developer>);
static_assert(equal<Developer, Developer>);
static_assert(strictly<Workspace<ReadOnly>, Workspace<>>);
static_assert(strictly<ReadOnly, None>);
static_assert(equal<Workspace<>, None>);

// Nesting, order and duplicates carry no meaning.
static_assert(equal<Set<Set<EnvAllowlist<"CI">>, ReadOnly, ReadOnly>, Set<ReadOnly, EnvAllowlist<"CI", "CI">>>);
static_assert(equal<ReadPolicy<Allow<"/a">, Deny<"b">, Allow<"/c">>, Set<NoReads<"b">, Reads<"/c", "/a">>>);

// Hosts.
static_assert(strictly<None, DomainAllowlist<"a.example">>);
static_assert(strictly<DomainAllowlist<"x.b.example">, DomainAllowlist<"*.b.example">>);
static_assert(strictly<DomainAllowlist<"*.a.b.example">, DomainAllowlist<"*.b.example">>);
static_assert(unrelated<DomainAllowlist<"b.example">, DomainAllowlist<"*.b.example">>);
static_assert(unrelated<DomainAllowlist<"*.ab.example">, DomainAllowlist<"*.b.example">>);
static_assert(strictly<DomainAllowlist<"a.example:443">, DomainAllowlist<"a.example">>);
static_assert(strictly<DomainAllowlist<"x.b.example:443">, DomainAllowlist<"*.b.example:443">>);
static_assert(unrelated<DomainAllowlist<"a.example:443">, DomainAllowlist<"a.example:80">>);
static_assert(strictly<DomainAllowlist<"a.example:80">, DomainAllowlist<"a.example:443", "a.example:80">>);
static_assert(equal<DomainAllowlist<"A.Example">, DomainAllowlist<"a.example">>);
static_assert(equal<DomainAllowlist<"[2001:DB8::1]">, DomainAllowlist<"[2001:db8:0:0:0:0:0:1]">>);
static_assert(equal<DomainAllowlist<"x.b.example", "*.b.example">, DomainAllowlist<"*.b.example">>);
static_assert(strictly<Set<DomainAllowlist<"*.b.example">, DomainDenylist<"x.b.example">>, DomainAllowlist<"*.b.example">>);
static_assert(strictly<Set<DomainAllowlist<"*.b.example">, DomainDenylist<"*.x.b.example">>, Set<DomainAllowlist<"*.b.example">, DomainDenylist<"y.x.b.example">>>);
static_assert(equal<Set<DomainAllowlist<"a.example">, DomainDenylist<"a.example">>, None>);
static_assert(equal<Set<DomainAllowlist<"a.example">, DomainDenylist<"other.example", "*.a.example">>, DomainAllowlist<"a.example">>);
static_assert(equal<Set<DomainAllowlist<"a.example">, DomainDenylist<"*">>, None>);
static_assert(strictly<Set<DomainAllowlist<"a.example">, DomainDenylist<"*:22">>, DomainAllowlist<"a.example">>);
static_assert(equal<Set<DomainAllowlist<"a.example:443">, DomainDenylist<"*:22">>, DomainAllowlist<"a.example:443">>);
static_assert(unrelated<Set<DomainAllowlist<"a.example">, UpstreamProxy<"http://p.example">>, DomainAllowlist<"a.example">>);
static_assert(equal<UpstreamProxy<"http://p.example">, None>);  // allows nothing by itself

// Paths.
static_assert(strictly<None, Reads<"/srv/a">>);
static_assert(equal<None, Reads<"/etc/ssl", "/usr", "/tmp/x", "src">>);  // readable anyway
static_assert(strictly<Reads<"/a/b">, Reads<"/a">>);
static_assert(unrelated<Reads<"/a/bc">, Reads<"/a/b">>);
static_assert(equal<Reads<"/a//b/../c/">, Reads<"/a/c">>);
static_assert(equal<Reads<"~/a/./b">, Reads<"~/x/../a/b/">>);
static_assert(strictly<Reads<"~/a">, Reads<"~">>);
static_assert(unrelated<Reads<"~/a">, Reads<"/a">>);
static_assert(strictly<Reads<"/a">, AllReads>);
static_assert(strictly<Reads<"~/a">, AllReads>);
static_assert(strictly<Reads<"/a">, Writes<"/a">>);
static_assert(strictly<Writes<"/a/b">, Set<Writes<"/a">>>);
static_assert(unrelated<Writes<"/a">, AllReads>);
static_assert(strictly<PrivateTmp, None>);
static_assert(strictly<ReadOnly, None>);
static_assert(strictly<Set<ReadOnly, Writes<"out">>, None>);
static_assert(unrelated<Set<ReadOnly, Writes<"/a">>, None>);
static_assert(equal<Writes<"out", "/tmp/build">, None>);
static_assert(strictly<Set<PrivateTmp, Writes<"/tmp/build">>, None>);
static_assert(strictly<Set<AllReads, PrivateTmp>, AllReads>);
static_assert(equal<Set<AllReads, PrivateTmp>, Set<PrivateTmp, AllReads>>);
static_assert(unrelated<Set<AllReads, PrivateTmp>, None>);
static_assert(strictly<Set<PrivateTmp, ReadOnly, Writes<"/a">, Reads<"~/a">>, Set<PrivateTmp, Writes<"/a">, Reads<"~/a">>>);

// Denials.
static_assert(strictly<NoReads<"keys">, None>);
static_assert(strictly<NoWrites<".env">, None>);
static_assert(strictly<NoReads<".env">, NoWrites<".env">>);  // what cannot be read cannot be written
static_assert(strictly<NoReads<"a">, NoReads<"a/b">>);
static_assert(unrelated<NoReads<"a">, NoReads<"ab">>);
static_assert(equal<Set<NoReads<"a">, NoWrites<"a/b">>, NoReads<"a/">>);
static_assert(strictly<ReadOnly, NoWrites<".env">>);  // nothing to deny
static_assert(strictly<Set<Reads<"/a">, NoReads<"/a/b">>, Reads<"/a">>);
static_assert(narrower_than<Set<Reads<"/a">, NoReads<"/a">>, None>);
static_assert(strictly<NoReads<"~/.ssh">, None>);   // the root may lie at home
static_assert(!narrower_than<Reads<"~">, NoReads<"/a">>);  // home may lie in /a
static_assert(strictly<Set<Reads<"~">, NoReads<"/a">>, Reads<"~">>);
static_assert(equal<Set<ReadOnly, Writes<"/a">, NoWrites<"/b">>, Set<ReadOnly, Writes<"/a">>>);  // two trees that do not meet
static_assert(equal<NoReads<"/etc/shadow">, None>);

// Environment.
static_assert(strictly<None, EnvAllowlist<"CI">>);
static_assert(strictly<EnvAllowlist<"CI">, EnvAllowlist<"CI", "TZ">>);
static_assert(equal<EnvAllowlist<"CI">, EnvCredential<"CI">>);
static_assert(strictly<None, EnvCredential<"GH_TOKEN">>);
static_assert(strictly<None, EnvValue<"A", "1">>);
static_assert(unrelated<EnvValue<"A", "1">, EnvValue<"A", "2">>);
static_assert(unrelated<EnvValue<"CI", "1">, EnvAllowlist<"CI">>);
static_assert(equal<Set<EnvValue<"CI", "1">, EnvAllowlist<"CI">>, EnvValue<"CI", "1">>);

// Sockets, ports, limits.
static_assert(strictly<None, AllUnixSockets>);
static_assert(strictly<UnixSocketAllowlist<"/run/a">, AllUnixSockets>);
static_assert(unrelated<UnixSocketAllowlist<"/run/a">, UnixSocketAllowlist<"/run/ab">>);
static_assert(strictly<None, LocalBinding>);
static_assert(strictly<CpuTimeLimit<60>, None>);
static_assert(strictly<CpuTimeLimit<30>, CpuTimeLimit<60>>);
static_assert(unrelated<CpuTimeLimit<30>, OpenFileLimit<60>>);
static_assert(equal<Set<MemoryLimit<1_GiB>, MemoryLimit<4_GiB>>, MemoryLimit<1_GiB>>);
static_assert(strictly<Set<ProcessLimit<8>, FileSizeLimit<1_MiB>>, ProcessLimit<9>>);

// A policy of one's own counts where both have it.
struct Own {
    void apply(Boundary&) const {}
};
static_assert(equal<Set<Own>, Own>);
static_assert(strictly<Workspace<Own, ReadOnly>, Set<Own>>);
static_assert(narrower_than<Set<Own, NoReads<"a">>, Set<NoReads<"a">, Own>>);
static_assert(!narrower_than<Set<Own, ReadOnly>, Set<Own, NoWrites<"/a">>>);  // it may grant /a
static_assert(!narrower_than<Set<Own>, Set<Own, EnvValue<"A", "1">>>);

// More than clang folds, and within its steps.
#define BAILEY_TEST_4(x) x "a", x "b", x "c", x "d"
#define BAILEY_TEST_16(x) BAILEY_TEST_4(x "a"), BAILEY_TEST_4(x "b"), BAILEY_TEST_4(x "c"), BAILEY_TEST_4(x "d")
#define BAILEY_TEST_64(x) BAILEY_TEST_16(x "a"), BAILEY_TEST_16(x "b"), BAILEY_TEST_16(x "c"), BAILEY_TEST_16(x "d")
using Many = Set<DomainAllowlist<BAILEY_TEST_64("a.x"), BAILEY_TEST_64("b.x")>, Reads<BAILEY_TEST_64("/a")>, EnvAllowlist<BAILEY_TEST_64("A")>>;
static_assert(strictly<Many, Set<DomainAllowlist<BAILEY_TEST_64("a.x"), BAILEY_TEST_64("b.x")>, Reads<BAILEY_TEST_64("/a")>, EnvAllowlist<BAILEY_TEST_64("A")>,
                                 DomainAllowlist<"other.example">>>);

}  // namespace
