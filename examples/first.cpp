#include <bailey/bailey.hpp>
#include <fmt/core.h>
using namespace std::chrono_literals;

using AgentWorkspace = bailey::Workspace<
    bailey::DomainAllowlist<"api.github.com", "*.pypi.org">,
    bailey::WritePolicy<bailey::Allow<"/tmp/build">, bailey::Deny<".env">>,
    bailey::ReadPolicy<bailey::Allow<"/etc/ssl">>,
    bailey::EnvAllowlist<"CI">,
    bailey::EnvValue<"NODE_ENV", "test">>;

int main() {
    AgentWorkspace workspace{"./project"};
    bailey::CommandResult r = workspace.run("echo $NODE_ENV; echo hi > .env; cat /etc/shadow", {.timeout = 30s});
    fmt::print("{} {}\n{}{}", r.outcome, r.exit_code, r.out, r.err);
}
