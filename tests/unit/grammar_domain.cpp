// The table of domains at run time, the sentences, and the promise that srt accepts what the grammar accepts.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "domain_table.hpp"

using namespace bailey::grammar;

TEST_CASE("domains: the table that the compiler checks holds at run time") {
    for (const auto& row : domain_table::rows) {
        const std::string entry{row.entry};  // not the literal's own storage
        CAPTURE(entry);
        CHECK(domain_fault(entry, DomainUse::allow).kind == row.allow);
        CHECK(domain_fault(entry, DomainUse::deny).kind == row.deny);
    }
}

TEST_CASE("domains: a position is inside the entry, or at its end") {
    for (const auto& row : domain_table::rows) CHECK(domain_fault(row.entry, DomainUse::allow).position <= row.entry.size());
}

TEST_CASE("domains: the refusal has the compiler's sentence, then policy, value and position") {
    const auto fault = domain_fault("https://example.com", DomainUse::allow);
    CHECK(refusal(sentence(fault.kind), "DomainAllowlist", "https://example.com", fault.position) ==
          "bailey: a domain has no scheme; write \"example.com\" instead of \"https://example.com\" "
          "(in DomainAllowlist: \"https://example.com\", at byte 5)");
}

TEST_CASE("domains: srt gets lower case") {
    CHECK(fold_domain("*.EXAMPLE.com:443") == "*.example.com:443");
    CHECK(fold_domain("[2001:DB8::1]") == "[2001:db8::1]");
}

namespace {

// srt's own schema decides; it reports the index of every entry it refuses.
constexpr char asks_srt[] = R"js(
const {SandboxRuntimeConfigSchema: schema} = await import(process.argv[1] + "/dist/sandbox/sandbox-config.js");
let text = "";
for await (const chunk of process.stdin) text += chunk;
const lists = {allowedDomains: [], deniedDomains: []};
for (const line of text.split("\n").filter(Boolean)) lists[line[0] === "A" ? "allowedDomains" : "deniedDomains"].push(line.slice(1));
if (lists.allowedDomains.length < 50 || lists.deniedDomains.length < 50) throw Error("too few entries arrived");
const config = {network: lists, filesystem: {denyRead: [], allowWrite: [], denyWrite: []}};
const result = schema.safeParse(config);
for (const {path, message} of result.success ? [] : result.error.issues)
    console.error("srt refuses", path.join("."), JSON.stringify(path.reduce((value, key) => value?.[key], config)), message);
process.exit(result.success ? 0 : 1);
)js";

std::string accepted_entries() {
    std::string lines;
    const auto add = [&](const std::string& entry) {
        if (!domain_fault(entry, DomainUse::allow)) lines += 'A' + fold_domain(entry) + '\n';
        if (!domain_fault(entry, DomainUse::deny)) lines += 'D' + fold_domain(entry) + '\n';
    };
    for (const auto& row : domain_table::rows) add(std::string{row.entry});

    // Short random strings over the characters that matter: a few percent are accepted, and all of those count.
    std::mt19937 random{20240501};
    constexpr std::string_view alphabet = "aAz019..::-_*[]f";
    for (int i = 0; i < 300'000; ++i) {
        std::string entry;
        for (auto length = random() % 12 + 1; length > 0; --length) entry += alphabet[random() % alphabet.size()];
        add(entry);
    }
    constexpr std::string_view inside = "1f:::.";
    for (int i = 0; i < 100'000; ++i) {
        std::string entry = "[";
        for (auto length = random() % 16 + 2; length > 0; --length) entry += inside[random() % inside.size()];
        add(entry + "]");
    }
    return lines;
}

}  // namespace

TEST_CASE("domains: all that is accepted, srt's own validator accepts") {
    const char* srt = std::getenv("BAILEY_SRT");
    const char* node = std::getenv("BAILEY_NODE");
    REQUIRE_MESSAGE((srt && node), "BAILEY_SRT and BAILEY_NODE name srt's package directory and node: tools/setup --print-env");
    const std::string command = std::string{"'"} + node + "' --input-type=module -e '" + asks_srt + "' '" + srt + "'";
    std::FILE* pipe = ::popen(command.c_str(), "w");
    REQUIRE(pipe != nullptr);
    const std::string lines = accepted_entries();
    CHECK(std::fwrite(lines.data(), 1, lines.size(), pipe) == lines.size());
    CHECK(::pclose(pipe) == 0);
}
