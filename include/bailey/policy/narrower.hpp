// Proofs: static_assert(bailey::narrower_than<Reviewer, Developer>).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>

#include <bailey/base/fixed_string.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/compare.hpp>
#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/hosts.hpp>
#include <bailey/grammar/path.hpp>
#include <bailey/policy/bundle.hpp>
#include <bailey/policy/concept.hpp>
#include <bailey/policy/environment.hpp>
#include <bailey/policy/filesystem.hpp>
#include <bailey/policy/limits.hpp>
#include <bailey/policy/network.hpp>
#include <bailey/policy/weakenings.hpp>

namespace bailey {

template <Policy... Ps>
class Workspace;

namespace proof {

/// A list that can be a constant: std::vector cannot.
template <class T>
struct List {
    const T* first = nullptr;
    std::size_t size = 0;
    [[nodiscard]] constexpr const T* begin() const { return first; }
    [[nodiscard]] constexpr const T* end() const { return first + size; }
};

struct Variable {
    std::string_view first, second;
};

/// What Boundary is at run time, with members of the same names.
struct Rules {
    static constexpr std::string_view root = ".";
    List<std::string_view> read_grants{}, read_denials{}, write_grants{}, write_denials{};
    bool read_only = false, private_tmp = false, all_reads = false;
    List<hosts::Pattern> allowed_domains{}, denied_domains{};
    std::string_view upstream_proxy{};
    List<std::string_view> unix_sockets{};
    bool all_unix_sockets = false, local_binding = false;
    List<std::string_view> env_passed{}, env_credentials{};
    List<Variable> env_values{}, env_runtime_values{};
    ResourceLimits limits{};
};

/// The paths that every workspace has, as they are spelled: a link among them (/bin) does not change what is compared.
struct Places {
    std::string_view tmp = defaults::tmp;
    List<std::string_view> system{defaults::system_paths.data(), defaults::system_paths.size()};
};

enum Matter : std::size_t { read_grant, read_denial, write_grant, write_denial, unix_socket, env_passed, env_credential, texts };

// "./a//b/../c/" as "./a/c", "a" as "./a", "." as ".", "~/a/" as "~/a": one spelling for one path, so that text can be compared.
template <std::size_t Size>
struct Spelling {
    char chars[Size + 2]{};
    std::size_t size = 0;
    [[nodiscard]] constexpr std::string_view view() const { return {chars, size}; }
};
template <fixed_string Path>
[[nodiscard]] consteval auto spelling_of() {
    constexpr std::string_view path = Path.view();
    Spelling<path.size()> result;
    const bool absolute = path[0] == '/', home = path[0] == '~';
    if (!absolute) result.chars[result.size++] = home ? '~' : '.';
    const std::size_t start = result.size;
    for (std::size_t i = home ? 1 : 0; i < path.size();) {
        std::size_t end = i;
        while (end < path.size() && path[end] != '/') ++end;
        const std::string_view name = path.substr(i, end - i);
        if (grammar::same(name, "..")) {
            while (result.size > start && result.chars[--result.size] != '/') {
            }
        } else if (!name.empty() && !grammar::same(name, ".")) {
            result.chars[result.size++] = '/';
            for (const char c : name) result.chars[result.size++] = c;
        }
        i = end + 1;
    }
    return result;
}
template <fixed_string Path>
inline constexpr auto spelling = spelling_of<Path>();

/// How many literals there are of each kind; the first of two passes over the policies.
struct Counter {
    std::size_t text[texts]{}, allowed = 0, denied = 0, values = 0;
    constexpr void add(Matter matter, std::string_view) { ++text[matter]; }
    constexpr void domain(bool allow, std::string_view) { ++(allow ? allowed : denied); }
    constexpr void value(std::string_view, std::string_view) { ++values; }
    constexpr void proxy(std::string_view) {}
    template <class Set>
    constexpr void plain_value(Set) {}
};

/// The second pass: the literals, each kind in one piece.
template <std::size_t Texts, std::size_t Domains, std::size_t Values>
struct Table {
    std::string_view text[Texts + 1]{};
    hosts::Pattern domains[Domains + 1]{};
    Variable values[Values + 1]{};
    Rules plain{};
    std::size_t text_end[::bailey::proof::texts]{}, allowed_end = 0, denied_end = 0, values_end = 0;

    constexpr void add(Matter matter, std::string_view value) { text[text_end[matter]++] = value; }
    constexpr void domain(bool allow, std::string_view value) { domains[(allow ? allowed_end : denied_end)++] = hosts::split(value); }
    constexpr void value(std::string_view name, std::string_view value) { values[values_end++] = {name, value}; }
    constexpr void proxy(std::string_view url) { plain.upstream_proxy = url; }
    template <class Set>
    constexpr void plain_value(Set set) {
        set(plain);
    }
};

/// What a policy says, told to a Counter or a Table. A policy that is not among these is opaque.
template <class P>
struct Said {
    static constexpr bool opaque = true;
    template <class To>
    static constexpr void tell(To&) {}
};

struct Clear {
    static constexpr bool opaque = false;
};

template <fixed_string... Domains>
struct Said<DomainAllowlist<Domains...>> : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        for (const std::string_view domain : std::initializer_list<std::string_view>{Domains.view()...}) to.domain(true, domain);
    }
};
template <fixed_string... Domains>
struct Said<DomainDenylist<Domains...>> : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        for (const std::string_view domain : std::initializer_list<std::string_view>{Domains.view()...}) to.domain(false, domain);
    }
};
template <fixed_string Url>
struct Said<UpstreamProxy<Url>> : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        to.proxy(Url.view());
    }
};

// Allow and Deny, inside of ReadPolicy and WritePolicy.
template <class AllowOrDeny>
struct SaidPaths;
template <fixed_string... Paths>
struct SaidPaths<Allow<Paths...>> {
    template <class To>
    static constexpr void tell(To& to, Matter grant, Matter) {
        for (const std::string_view path : std::initializer_list<std::string_view>{spelling<Paths>.view()...}) to.add(grant, path);
    }
};
template <fixed_string... Paths>
struct SaidPaths<Deny<Paths...>> {
    template <class To>
    static constexpr void tell(To& to, Matter, Matter denial) {
        for (const std::string_view path : std::initializer_list<std::string_view>{spelling<Paths>.view()...}) to.add(denial, path);
    }
};
template <class... AllowOrDeny>
struct Said<ReadPolicy<AllowOrDeny...>> : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        (SaidPaths<AllowOrDeny>::tell(to, read_grant, read_denial), ...);
    }
};
template <class... AllowOrDeny>
struct Said<WritePolicy<AllowOrDeny...>> : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        (SaidPaths<AllowOrDeny>::tell(to, write_grant, write_denial), ...);
    }
};
template <fixed_string... Paths>
struct Said<UnixSocketAllowlist<Paths...>> : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        for (const std::string_view path : std::initializer_list<std::string_view>{spelling<Paths>.view()...}) to.add(unix_socket, path);
    }
};
template <fixed_string... Names>
struct Said<EnvAllowlist<Names...>> : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        for (const std::string_view name : std::initializer_list<std::string_view>{Names.view()...}) to.add(env_passed, name);
    }
};
template <fixed_string... Names>
struct Said<EnvCredential<Names...>> : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        for (const std::string_view name : std::initializer_list<std::string_view>{Names.view()...}) to.add(env_credential, name);
    }
};
template <fixed_string Name, fixed_string Value>
struct Said<EnvValue<Name, Value>> : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        to.value(Name.view(), Value.view());
    }
};

// Everything that is one value of Rules.
template <bool Rules::*Flag>
struct SaidFlag : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        to.plain_value([](Rules& rules) { rules.*Flag = true; });
    }
};
template <std::optional<std::uint64_t> ResourceLimits::*Limit, std::uint64_t Value>
struct SaidLimit : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        to.plain_value([](Rules& rules) {
            auto& limit = rules.limits.*Limit;
            if (!limit || Value < *limit) limit = Value;
        });
    }
};
template <>
struct Said<ReadOnly> : SaidFlag<&Rules::read_only> {};
template <>
struct Said<PrivateTmp> : SaidFlag<&Rules::private_tmp> {};
template <>
struct Said<AllReads> : SaidFlag<&Rules::all_reads> {};
template <>
struct Said<AllUnixSockets> : SaidFlag<&Rules::all_unix_sockets> {};
template <>
struct Said<LocalBinding> : SaidFlag<&Rules::local_binding> {};
template <std::uint64_t Seconds>
struct Said<CpuTimeLimit<Seconds>> : SaidLimit<&ResourceLimits::cpu_seconds, Seconds> {};
template <std::uint64_t Bytes>
struct Said<MemoryLimit<Bytes>> : SaidLimit<&ResourceLimits::memory_bytes, Bytes> {};
template <std::uint64_t Count>
struct Said<ProcessLimit<Count>> : SaidLimit<&ResourceLimits::processes, Count> {};
template <std::uint64_t Bytes>
struct Said<FileSizeLimit<Bytes>> : SaidLimit<&ResourceLimits::file_size_bytes, Bytes> {};
template <std::uint64_t Count>
struct Said<OpenFileLimit<Count>> : SaidLimit<&ResourceLimits::open_files, Count> {};

template <class... Ps>
struct Said<PolicySet<Ps...>> : Clear {
    template <class To>
    static constexpr void tell(To& to) {
        (Said<Ps>::tell(to), ...);
    }
};

template <class... Ps>
struct Types {};

template <class... Lists>
struct Joined {
    using type = Types<>;
};
template <class... Ps>
struct Joined<Types<Ps...>> {
    using type = Types<Ps...>;
};
template <class... As, class... Bs, class... Rest>
struct Joined<Types<As...>, Types<Bs...>, Rest...> : Joined<Types<As..., Bs...>, Rest...> {};

/// The policies that nobody can look into.
template <class P>
struct Opaque {
    using type = std::conditional_t<Said<P>::opaque, Types<P>, Types<>>;
};
template <class... Ps>
struct Opaque<PolicySet<Ps...>> : Joined<typename Opaque<Ps>::type...> {};
template <Policy... Ps>
struct Opaque<Workspace<Ps...>> : Joined<typename Opaque<Ps>::type...> {};

template <class P>
struct AsSet {
    using type = P;
};
template <Policy... Ps>
struct AsSet<Workspace<Ps...>> {
    // Not PolicySet: its own sentence would come first when a policy has values.
    struct type {
        template <class To>
        static constexpr void tell(To& to) {
            (Said<Ps>::tell(to), ...);
        }
    };
};
template <class P>
    requires requires { &P::template tell<Counter>; }
struct Said<P> : P {};

/// All that a Workspace, a PolicySet or a policy says, as constants.
template <class P>
struct Statement {
    using Speaker = Said<typename AsSet<P>::type>;
    static constexpr Counter count = [] {
        Counter counter;
        Speaker::tell(counter);
        return counter;
    }();
    static constexpr std::size_t all_texts = [] {
        std::size_t sum = 0;
        for (const std::size_t size : count.text) sum += size;
        return sum;
    }();
    static constexpr auto table = [] {
        Table<all_texts, count.allowed + count.denied, count.values> table;
        for (std::size_t matter = 1; matter < texts; ++matter) table.text_end[matter] = table.text_end[matter - 1] + count.text[matter - 1];
        table.denied_end = count.allowed;
        Speaker::tell(table);
        return table;
    }();
    static constexpr Rules rules = [] {
        Rules rules = table.plain;
        const auto list = [](Matter matter) {
            return List<std::string_view>{table.text + table.text_end[matter] - count.text[matter], count.text[matter]};
        };
        rules.read_grants = list(read_grant);
        rules.read_denials = list(read_denial);
        rules.write_grants = list(write_grant);
        rules.write_denials = list(write_denial);
        rules.unix_sockets = list(unix_socket);
        rules.env_passed = list(env_passed);
        rules.env_credentials = list(env_credential);
        rules.allowed_domains = {table.domains, count.allowed};
        rules.denied_domains = {table.domains + count.allowed, count.denied};
        rules.env_values = {table.values, count.values};
        return rules;
    }();
};

struct Found {
    bool any = false;
    template <class... Details>
    constexpr void path(const Details&...) { any = true; }
    template <class... Details>
    constexpr void host(const Details&...) { any = true; }
    template <class... Details>
    constexpr void variable(const Details&...) { any = true; }
    template <class... Details>
    constexpr void limit(const Details&...) { any = true; }
    template <class... Details>
    constexpr void named(const Details&...) { any = true; }
};

// One constant for each matter: clang counts the steps of each.
enum class About { reads, writes, network, rest };

/// `opaque`: both have the same policies that nobody can look into, which may grant anything, and to both the same.
template <About Which>
[[nodiscard]] consteval bool holds(const Rules& narrow, const Rules& wide, bool opaque) {
    Found found;
    const Places places;
    if (Which == About::reads || Which == About::writes) {
        const auto grants = [&](auto each) {
            Which == About::reads ? compare::each_read_grant(narrow, places, each) : compare::each_write_grant(narrow, places, each);
            if (opaque) each(std::string_view{"?"});  // lies in no tree that is known
        };
        const auto denials = [&](auto each) {
            for (const std::string_view denial : wide.read_denials) each(denial);
            if (Which == About::writes)
                for (const std::string_view denial : wide.write_denials) each(denial);
        };
        const auto permits = [](const Rules& rules, const Places& at, std::string_view path) {
            return Which == About::reads ? verdict::read(rules, at, path) : verdict::write(rules, at, path);
        };
        compare::paths(narrow, wide, places, permits, grants, denials, WideningKind::read, found);
    } else if (Which == About::network) {
        compare::domains(narrow.allowed_domains, narrow.denied_domains, wide.allowed_domains, wide.denied_domains, found);
        if (opaque) {
            for (const hosts::Pattern& denial : wide.denied_domains)
                if (verdict::host(narrow.allowed_domains, narrow.denied_domains, denial).rule != verdict::Rule::denied_domain) found.any = true;
        }
        if ((opaque || compare::reaches_any(narrow.allowed_domains, narrow.denied_domains)) &&
            !compare::same(narrow.upstream_proxy, wide.upstream_proxy))
            found.any = true;
    } else {
        compare::sockets(narrow, wide, found);
        compare::environment(narrow, wide, found);
        if (opaque) compare::environment(wide, narrow, found);
        compare::limits(narrow.limits, wide.limits, found);
    }
    return !found.any;
}

template <class P, class... Ps>
[[nodiscard]] consteval bool one_of() {
    return (std::is_same_v<P, Ps> || ...);
}
template <class... As, class... Bs>
[[nodiscard]] consteval bool same_types(Types<As...>, Types<Bs...>) {
    return (one_of<As, Bs...>() && ...) && (one_of<Bs, As...>() && ...);
}
template <class... Ps>
[[nodiscard]] consteval bool without_values(Types<Ps...>) {
    return (std::is_empty_v<Ps> && ...);
}

template <class A, class B>
[[nodiscard]] consteval bool narrower() {
    using OpaqueA = typename Opaque<A>::type;
    using OpaqueB = typename Opaque<B>::type;
    constexpr bool literal = without_values(OpaqueA{}) && without_values(OpaqueB{});
    constexpr bool comparable = literal && same_types(OpaqueA{}, OpaqueB{});
    static_assert(literal,
                  "bailey: narrower_than compares policies without values of their own; compare what runtime:: policies add up to when "
                  "the program runs: a.boundary().narrower_than(b.boundary())");
    static_assert(!literal || comparable,
                  "bailey: narrower_than cannot look into a policy of your own that only one side has; give it to both, or compare when "
                  "the program runs: a.boundary().narrower_than(b.boundary())");
    if constexpr (!comparable) {
        return false;
    } else {
        constexpr bool opaque = !std::is_same_v<OpaqueA, Types<>>;
        using N = Statement<A>;
        using W = Statement<B>;
        constexpr bool reads = holds<About::reads>(N::rules, W::rules, opaque);
        constexpr bool writes = holds<About::writes>(N::rules, W::rules, opaque);
        constexpr bool network = holds<About::network>(N::rules, W::rules, opaque);
        constexpr bool rest = holds<About::rest>(N::rules, W::rules, opaque);
        return reads && writes && network && rest;
    }
}

}  // namespace proof

/// For one root, all that A permits, B permits: `static_assert(narrower_than<Reviewer, Developer>)`. A and B are Workspace types,
/// PolicySets, or single policies, with literal policies.
///
/// Lexical: paths are compared as they are spelled, in three trees ("/x", "~/x" and relative ones). Where one of them lies in
/// another nobody knows while compiling, so a denial of B must be denied by A too unless A grants nothing that could be around it:
/// what is proved holds for every root that does not lie in a denied directory, on every machine, but for links. What a link
/// leads to is seen at run time: `a.boundary().narrower_than(b.boundary())` is the authority, and gives the reasons.
///
/// A variable must have the same source and, when it is set, the same value. A policy of your own can be compared only where both
/// have it; else, as with values known only at run time, this does not compile.
template <class A, class B>
inline constexpr bool narrower_than = proof::narrower<A, B>();

}  // namespace bailey
