// What a reviewing agent may do is less than what a developing one may, and the compiler knows.
#include <bailey/bailey.hpp>

#include <cstdio>

// A policy of one's own is one struct. Others may hold it, proofs count it where both sides have it.
struct OfflineNode {
    void apply(bailey::Boundary& boundary) const { boundary.env_values.emplace_back("NPM_CONFIG_OFFLINE", "true"); }
};

// What all agents here have in common.
using Common = bailey::PolicySet<OfflineNode, bailey::ReadPolicy<bailey::Deny<"keys">>, bailey::WritePolicy<bailey::Deny<".env">>,
                                 bailey::EnvAllowlist<"CI">>;

using Developer = bailey::Workspace<Common, bailey::DomainAllowlist<"*.github.com">>;
using Reviewer = bailey::Workspace<Common, bailey::DomainAllowlist<"api.github.com:443">, bailey::ReadOnly>;

static_assert(bailey::narrower_than<Reviewer, Developer>);
static_assert(!bailey::narrower_than<Developer, Reviewer>);

int main(int argc, char** argv) {
    const char* root = argc > 1 ? argv[1] : ".";
    const Reviewer reviewer{root};
    const Developer developer{root};
    std::puts(reviewer.explain().c_str());

    // On resolved paths, links and all; and why not the other way round.
    if (!reviewer.boundary().narrower_than(developer.boundary())) return 1;
    for (const auto& reason : developer.boundary().narrower_than(reviewer.boundary()).reasons) std::printf("The developer %s.\n", reason.text.c_str());

    const auto answer = reviewer.boundary().permits_write("README.md");
    std::printf("May the reviewer write README.md? %s: %s.\n", answer ? "Yes" : "No", answer.rule.c_str());
}
