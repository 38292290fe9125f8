// What hosts get wrong: said in words, or what was meant; never a crash, and never in silence.
#include "inside.hpp"
#include "support.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace support;
using bailey::ErrorCode;
using bailey::Outcome;

namespace {

/// A policy of a user's own, which appends what it likes.
template <class Apply>
struct Own {
    Apply change;
    void apply(bailey::Boundary& boundary) const { change(boundary); }
};

template <class... Ps>
std::string refusal_of(const std::string& root, Ps... policies) {
    const auto made = bailey::Workspace<Ps...>::open(root, std::move(policies)...);
    if (made) return "made";
    CHECK(made.error().code() == ErrorCode::policy);
    return made.error().what();
}

template <class... Ps>
bailey::Boundary boundary_of(const std::string& root, Ps... policies) {
    const auto made = bailey::Workspace<Ps...>::open(root, std::move(policies)...);
    REQUIRE(made.has_value());
    return made->boundary();
}

bool says(const std::string& text, std::string_view part) { return text.starts_with("bailey: ") && text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a result is handed out once, and then there are words") {
    TempDir root;
    const auto space = workspace(root.path());
    auto running = space.spawn("exit 3");
    CHECK(running.wait().exit_code == 3);
    const auto again = running.try_wait();
    REQUIRE_FALSE(again.has_value());
    CHECK(again.error().code() == ErrorCode::process);
    CHECK(says(again.error().what(), "handed out already"));
    CHECK_THROWS_AS(running.wait(), bailey::ProcessError);

    auto throwing = space.spawn("echo x", {.on_stdout = [](std::string_view) { throw std::runtime_error{"mine"}; }});
    CHECK_THROWS_AS(throwing.wait(), std::runtime_error);
    CHECK_THROWS_AS(throwing.wait(), bailey::ProcessError);
}

TEST_CASE("an empty callback is none") {
    TempDir root;
    void (*no_function)(std::string_view) = nullptr;
    const auto space = workspace(root.path());
    CHECK(space.run("echo x; echo y >&2", {.on_stdout = std::function<void(std::string_view)>{}, .on_stderr = no_function}).out == "x\n");
    CHECK(space.run("echo x", {.on_stdout = nullptr}).ok());
    bailey::SessionOptions options{.prepared = 0};
    options.on_network_request = std::function<bailey::NetworkAnswer(const bailey::NetworkRequest&)>{};
    const auto refused = space.open_session(options).run("curl -sS --noproxy '' https://unlisted.example/");
    REQUIRE(refused.violations.size() == 1);
    CHECK(refused.violations[0].rule == "no allowed domain covers it");
}

TEST_CASE("no limit is written as the longest time, and a time that is up starts nothing") {
    TempDir root;
    const auto space = workspace(root.path());
    CHECK(space.run("sleep 0.2; echo done", {.timeout = std::chrono::milliseconds::max()}).out == "done\n");
    for (const auto past : {std::chrono::milliseconds{-1}, std::chrono::milliseconds::min()}) {
        const auto late = space.run("touch made", {.timeout = past});
        CHECK(late.outcome == Outcome::timed_out);
        CHECK_FALSE(fs::exists(root / "made"));
    }
    auto running = space.spawn("sleep 0.2");
    CHECK(running.wait_for(std::chrono::milliseconds::max()));
    CHECK(running.wait().ok());
}

TEST_CASE("options of a session that make no sense are refused; the longest times are none") {
    TempDir root;
    const auto space = workspace(root.path());
    const auto refusal = [&](const bailey::SessionOptions& options) {
        const auto opened = space.try_open_session(options);
        return opened ? std::string{"opened"} : std::string{opened.error().what()};
    };
    CHECK(says(refusal({.prepared = 1'000'000}), "at most 64"));
    CHECK(says(refusal({.time_to_live = 0ms}), "prepared = 0"));
    CHECK(says(refusal({.time_to_live = -5ms}), "prepared = 0"));
    CHECK(says(refusal({.answer_within = 0ms}), "on_network_request"));

    std::atomic<int> asked{0};
    const auto session = space.open_session({.time_to_live = std::chrono::milliseconds::max(),
                                             .on_network_request = [&](const bailey::NetworkRequest&) {
                                                 std::this_thread::sleep_for(300ms);
                                                 return ++asked, bailey::NetworkAnswer::deny("mine");
                                             },
                                             .answer_within = std::chrono::milliseconds::max()});
    const auto denied = session.run("curl -sS --noproxy '' https://unlisted.example/");
    REQUIRE(denied.violations.size() == 1);
    CHECK(denied.violations[0].rule.find("mine") != std::string::npos);
    CHECK(asked == 1);
    for (const auto until = std::chrono::steady_clock::now() + 30s; session.stats().waiting == 0 && std::chrono::steady_clock::now() < until;) std::this_thread::sleep_for(20ms);
    CHECK(session.stats().waiting == 1);
}

TEST_CASE("run gives nobody a pipe to write into") {
    TempDir root;
    const auto result = workspace(root.path()).try_run("cat", {.input = bailey::Input::pipe()});
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code() == ErrorCode::policy);
    CHECK(says(result.error().what(), "spawn()"));
}

TEST_CASE("policies that contradict one another, or could not hold, are refused") {
    TempDir root;
    for (const std::string path : {"/proc", "/sys", "/dev", "/dev/null", "/proc/self"}) {
        CAPTURE(path);
        CHECK(says(refusal_of(root.path(), bailey::runtime::DenyRead{path}), "cannot be hidden"));
    }
    CHECK(says(refusal_of(root.path(), bailey::PrivateTmp{}, bailey::runtime::AllowWrite{"/tmp"}), "PrivateTmp"));
    CHECK(says(refusal_of(root.path(), bailey::PrivateTmp{}, bailey::runtime::AllowRead{"/tmp/"}), "PrivateTmp"));
    CHECK(says(refusal_of(root.path(), bailey::ReadOnly{}, bailey::runtime::AllowWrite{"."}), "ReadOnly"));
    CHECK(says(refusal_of(root.path(), bailey::runtime::Limits{.memory_bytes = ~0ULL}), "leave the limit out"));
    CHECK(says(refusal_of(root.path(), bailey::runtime::Limits{.open_files = 3}), "8 or more"));
    CHECK(says(refusal_of(root.path(), bailey::runtime::DomainDenylist{"*.com"}), "top-level domain"));
    const auto hidden = workspace(root.path(), bailey::runtime::DenyRead{"/usr"}).try_run("true");
    REQUIRE_FALSE(hidden.has_value());
    CHECK(says(hidden.error().what(), "deny what is inside them"));
}

TEST_CASE("a domain that clients do not ask the proxy for is noted, unless NO_PROXY is set") {
    TempDir root;
    const auto notes_it = [&](const std::string& domain, auto... policies) {
        return noted(boundary_of(root.path(), bailey::runtime::DomainAllowlist{domain}, policies...), "is within srt's NO_PROXY");
    };
    for (const std::string domain : {"localhost", "localhost:8080", "127.0.0.1:80", "[::1]:443", "10.1.2.3", "172.16.0.1", "172.31.9.9:1", "192.168.1.1", "169.254.1.1"}) {
        CAPTURE(domain);
        CHECK(notes_it(domain));
        CHECK_FALSE(notes_it(domain, bailey::EnvValue<"NO_PROXY", "">{}));
    }
    for (const std::string domain : {"172.32.0.1", "11.0.0.1", "127.0.0.2", "[2001:db8::1]", "localhost.example"}) CHECK_FALSE(notes_it(domain));
}

TEST_CASE("of domains that lie inside others the wider one stays, and is said") {
    TempDir root;
    using bailey::runtime::DomainAllowlist, bailey::runtime::DomainDenylist;
    const auto boundary = boundary_of(
        root.path(), DomainAllowlist{"api.x.example", "*.x.example", "api.x.example:443", "y.example:80", "y.example:443", "[2001:db8::1]", "[2001:db8:0::1]", "b.z.example"}, DomainDenylist{"*.z.example", "a.z.example"});
    CHECK(boundary.allowed_domains == std::vector<std::string>{"*.x.example", "y.example:80", "y.example:443", "[2001:db8::1]", "b.z.example"});
    CHECK(boundary.denied_domains == std::vector<std::string>{"*.z.example"});
    std::vector<std::string> of_domains;
    for (const auto& note : boundary.notes)
        if (note.find("domain \"") != note.npos) of_domains.push_back(note);
    CHECK(of_domains == std::vector<std::string>{
                            R"(denied domain "a.z.example" is dropped: it lies inside "*.z.example")",
                            R"(allowed domain "api.x.example" is dropped: it lies inside "*.x.example")",
                            R"(allowed domain "api.x.example:443" is dropped: it lies inside "api.x.example")",
                            R"(allowed domain "[2001:db8:0::1]" is dropped: it lies inside "[2001:db8::1]")",
                            R"(allowed domain "b.z.example" lies inside the denied domain "*.z.example": the denial wins)",
                        });
}

TEST_CASE("bailey's own directory is no workspace and no grant; a home that is writable is noted") {
    TempDir root, home;
    const auto made = workspace(root.path());
    const auto base = fs::path{made.run("printf %s $TMPDIR").out}.parent_path().parent_path().string();
    REQUIRE(fs::is_directory(base));
    const std::string words = "where bailey keeps what no command may see";
    CHECK(says(refusal_of(base), words));
    CHECK(says(refusal_of(root.path(), bailey::runtime::AllowWrite{base}), words));
    CHECK(says(refusal_of(root.path(), bailey::runtime::AllowRead{base + "/lock"}), words));

    const std::string_view writable = "the home directory";
    const HostVariable set{"HOME", home.path().c_str()};
    CHECK(noted(boundary_of(home.path()), writable));
    CHECK(noted(boundary_of(root.path(), bailey::runtime::AllowWrite{home.path()}), writable));
    CHECK_FALSE(noted(boundary_of(home.path(), bailey::ReadOnly{}, bailey::PrivateTmp{}), writable));
    fs::create_directory(home / "project");
    CHECK_FALSE(noted(boundary_of(home / "project", bailey::PrivateTmp{}), writable));
}

TEST_CASE("what a user's own policy appends is held to the rules, and what it throws comes out") {
    TempDir root;
    const auto refusal = [&](auto change) { return refusal_of(root.path(), Own<decltype(change)>{change}); };
    CHECK(says(refusal([](bailey::Boundary& b) { b.env_values.emplace_back("A=1; echo INJECTED; B", "x"); }), "name"));
    CHECK(says(refusal([](bailey::Boundary& b) { b.env_values.emplace_back("UID", "0"); }), "bash"));
    CHECK(says(refusal([](bailey::Boundary& b) { b.env_runtime_values.emplace_back("A", std::string{"\0", 1}); }), "NUL"));
    CHECK(says(refusal([](bailey::Boundary& b) { b.env_passed.emplace_back("GH_TOKEN"); }), "EnvCredential"));
    CHECK(says(refusal([](bailey::Boundary& b) { b.allowed_domains.emplace_back("*"); }), "every host"));
    CHECK(says(refusal([](bailey::Boundary& b) { b.denied_domains.emplace_back("https://x.example"); }), "scheme"));
    CHECK(says(refusal([](bailey::Boundary& b) { b.write_denials.emplace_back("*.env"); }), "*.env"));
    CHECK(refusal([](bailey::Boundary& b) { b.env_values.emplace_back("NODE_ENV", "test"); }) == "made");

    const auto throwing = [](bailey::Boundary&) { throw std::logic_error{"mine"}; };
    using Throwing = Own<decltype(throwing)>;
    CHECK_THROWS_AS((bailey::Workspace<Throwing>{root.path(), Throwing{throwing}}), std::logic_error);
    const auto made = bailey::Workspace<Throwing>::open(root.path(), Throwing{throwing});
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code() == ErrorCode::callback);
}

TEST_CASE("the argv form: a vector of strings; what is missing or too long is said without bailey's files") {
    TempDir root;
    const bailey::Workspace<> space{root.path(), tools()};
    const std::vector<std::string> words{"printf", "%s|", "a b", ""};
    CHECK(space.run_argv(words).out == "a b||");
    const auto missing = space.run_argv({"no-such-program", "x"});
    CHECK(missing.exit_code == 127);
    CHECK(missing.err == "bash: no-such-program: command not found\n");
    const auto large = space.try_run_argv({"true", std::string(200'000, 'x')});
    REQUIRE_FALSE(large.has_value());
    CHECK(says(large.error().what(), "argument 1 has 200000 bytes"));
}

TEST_CASE("a domain that is allowed twice is in the list once") {
    TempDir root;
    auto session = workspace(root.path()).open_session({.prepared = 0});
    for (int i = 0; i < 3; ++i) session.allow_domains({"a.example", "b.example", "a.example"});
    CHECK(session.boundary().allowed_domains == std::vector<std::string>{"a.example", "b.example"});
}
