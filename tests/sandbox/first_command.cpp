// The shortest way through everything: a command in a real sandbox.
#include "support.hpp"

using namespace support;

TEST_CASE("a command runs in the workspace and its result comes back") {
    TempDir root;
    const auto result = workspace(root.path()).run("echo out; echo err >&2; pwd; exit 3");
    INFO(shown(result));
    CHECK(result.outcome == bailey::Outcome::exited);
    CHECK(result.exit_code == 3);
    CHECK_FALSE(result.ok());
    CHECK(result.out == "out\n" + root.path() + "\n");
    CHECK(result.err == "err\n");
    CHECK(result.violations.empty());
}

TEST_CASE("an ordinary user gets the same") {
    CHECK(as_ordinary_user([] {
        char root[] = "/var/tmp/bailey-user-XXXXXX";
        if (::mkdtemp(root) == nullptr) return 1;
        support::Subject<> workspace{root, {.srt = std::getenv("BAILEY_SRT"), .node = std::getenv("BAILEY_NODE")}};
        const auto result = workspace.run("id -u; touch made; cat /etc/shadow");
        fs::remove_all(root);
        return result.out == std::to_string(::getuid()) + "\n" && result.exit_code == 1 ? 0 : 2;
    }) == 0);
}
