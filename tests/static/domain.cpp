// The table of domains, decided by the compiler.
#include "../unit/domain_table.hpp"

namespace {

using namespace bailey::grammar;

// The index of the first row that the grammar judges otherwise, or -1: a failing assertion names it.
template <DomainUse Use>
consteval int first_difference() {
    int index = 0;
    for (const auto& row : domain_table::rows) {
        const DomainFault expected = Use == DomainUse::allow ? row.allow : row.deny;
        const auto fault = domain_fault(row.entry, Use);
        if (fault.kind != expected) return index;
        if (row.allow == row.deny && fault.position != row.position) return index;
        ++index;
    }
    return -1;
}

template <int Row>
constexpr bool no_difference = Row == -1;

static_assert(no_difference<first_difference<DomainUse::allow>()>);
static_assert(no_difference<first_difference<DomainUse::deny>()>);
static_assert(std::size(domain_table::rows) >= 120);

// One name, for an upstream proxy.
static_assert(!domain_fault("proxy", DomainUse::proxy));
static_assert(!domain_fault("proxy:3128", DomainUse::proxy));
static_assert(!domain_fault("[::1]:3128", DomainUse::proxy));
static_assert(domain_fault("*", DomainUse::proxy).kind == DomainFault::wildcard_host);
static_assert(domain_fault("*.example.com", DomainUse::proxy).kind == DomainFault::wildcard_host);

// Every fault has a sentence, and every sentence says what to write.
consteval bool all_said() {
    for (int fault = 1; fault <= static_cast<int>(DomainFault::single_label); ++fault)
        if (sentence(static_cast<DomainFault>(fault)).empty()) return false;
    return sentence(DomainFault::none).empty();
}
static_assert(all_said());

// A template argument can be judged: under UBSan gcc 12 is strict about what it compares.
template <bailey::fixed_string Text>
constexpr auto judged = domain_fault(Text.view(), DomainUse::allow);
static_assert(!judged<"*.example.co.uk:443">);
static_assert(judged<"*.co.uk">.kind == DomainFault::public_suffix);
static_assert(judged<"[::ffff:1.2.3.400]">.kind == DomainFault::ipv6);

}  // namespace
