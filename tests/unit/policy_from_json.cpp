// Policies from an operator's file: what is read, what is refused and how that is said.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <bailey/policy/from_json.hpp>

using namespace bailey;

namespace {

Boundary made_of(const runtime::PolicyFile& file) {
    Boundary boundary;
    file.apply(boundary);
    return boundary;
}

/// The one refusal of a text.
std::string refusal(std::string_view text) {
    const auto file = runtime::from_json(text);
    REQUIRE(file.refusals.size() == 1);
    return file.refusals[0];
}

using List = std::vector<std::string>;

constexpr std::string_view every_key = R"({
  "$schema": "https://example.com/policy.schema.json",
  "read": {"allow": ["~/.cargo"], "deny": ["keys"]},
  "write": {"allow": ["/srv/out"], "deny": [".env", "ci"]},
  "read_only": true, "private_tmp": true, "all_reads": true,
  "network": {"allow": ["API.example.com", "*.b.example:443"], "deny": ["*:22"], "upstream_proxy": "http://me:word@p.example:3128"},
  "all_unix_sockets": true, "local_binding": true,
  "environment": {"allow": ["CI"], "credentials": ["GH_TOKEN"], "set": {"NODE_ENV": "test", "EMPTY": ""}},
  "limits": {"cpu_seconds": 60, "memory_bytes": 4294967296, "processes": 100, "file_size_bytes": 1152921504606846976, "open_files": 256}
})";

}  // namespace

TEST_CASE("from_json: every key") {
    const auto b = made_of(runtime::from_json(every_key));
    CHECK(b.refusals == List{});
    CHECK(b.read_grants == List{"~/.cargo"});
    CHECK(b.read_denials == List{"keys"});
    CHECK(b.write_grants == List{"/srv/out"});
    CHECK(b.write_denials == List{".env", "ci"});
    CHECK((b.read_only && b.private_tmp && b.all_reads && b.all_unix_sockets && b.local_binding));
    CHECK(b.allowed_domains == List{"api.example.com", "*.b.example:443"});
    CHECK(b.denied_domains == List{"*:22"});
    CHECK(b.upstream_proxy == "http://me:word@p.example:3128");
    CHECK(b.env_passed == List{"CI"});
    CHECK(b.env_credentials == List{"GH_TOKEN"});
    CHECK(b.env_runtime_values == std::vector<EnvironmentEntry>{{"NODE_ENV", "test"}, {"EMPTY", ""}});
    CHECK(b.limits.cpu_seconds == 60);
    CHECK(b.limits.file_size_bytes == 1152921504606846976U);
    CHECK(made_of(runtime::from_json("{}")).refusals.empty());
}

TEST_CASE("from_json and to_json go round") {
    const auto once = runtime::to_json(made_of(runtime::from_json(every_key)));
    const auto again = made_of(runtime::from_json(once));
    CHECK(again.refusals.empty());
    CHECK(runtime::to_json(again) == once);
    CHECK(runtime::to_json(Boundary{}) == "{}\n");
    // A literal value and one given at run time become one.
    Boundary values;
    values.env_values = {{"A", "1"}};
    values.env_runtime_values = {{"A", "2"}};
    CHECK(made_of(runtime::from_json(runtime::to_json(values))).env_runtime_values == std::vector<EnvironmentEntry>{{"A", "2"}});
}

TEST_CASE("C02 unknown keys are refused with their path and what they might mean") {
    CHECK(refusal(R"({"netwrok": {}})") == R"(bailey: there is no key "netwrok"; did you mean "network"?)");
    CHECK(refusal(R"({"network": {"alow": []}})") == R"(bailey: there is no key "network.alow"; did you mean "allow"?)");
    CHECK(refusal(R"({"denyreads": []})") == R"(bailey: there is no key "denyreads"; did you mean "read.deny"?)");
    CHECK(refusal(R"({"alowLocalBinding": true})") == R"(bailey: there is no key "alowLocalBinding"; did you mean "local_binding"?)");
    CHECK(refusal(R"({"network": {"allowedDomain": []}})") == R"(bailey: there is no key "network.allowedDomain"; did you mean "network.allow"?)");
    CHECK(refusal(R"({"readOnly": true})") == R"(bailey: there is no key "readOnly"; did you mean "read_only"?)");
    CHECK(refusal(R"({"limits": {"gpu": 1}})") == "bailey: there is no key \"limits.gpu\"; write one of cpu_seconds memory_bytes processes file_size_bytes open_files");
    CHECK(refusal("{\"\": 1}").starts_with("bailey: there is no key \"\""));
    CHECK(refusal("{\"a\\u0000\\u001b[2J\": 1}").find('\033') == std::string::npos);
    CHECK(runtime::from_json(R"({"a": 1, "b": 2, "read": {"c": 3}})").refusals.size() == 3);
}

TEST_CASE("C02 mistyped values are refused with their path") {
    CHECK(refusal(R"({"network": {"allow": "a.example"}})") == R"(bailey: "network.allow" is a string; write a list)");
    CHECK(refusal(R"({"network": {"allow": ["a.example", 7]}})") == R"(bailey: "network.allow[1]" is a whole number; write a string)");
    CHECK(refusal(R"({"network": []})") == R"(bailey: "network" is a list; write an object)");
    CHECK(refusal(R"({"read_only": "yes"})") == R"(bailey: "read_only" is a string; write true or false)");
    CHECK(refusal(R"({"read_only": null})") == R"(bailey: "read_only" is null; write true or false)");
    for (const auto* number : {"-1", "1.5", "1e3", "18446744073709551616"})
        CHECK(refusal(std::string{R"({"limits": {"cpu_seconds": )"} + number + "}}") == R"(bailey: "limits.cpu_seconds" is a number that is negative, fractional or too large; write a whole number)");
    CHECK(refusal(R"({"environment": {"set": {"A": 1}}})") == R"(bailey: "environment.set.A" is a whole number; write a string)");
    CHECK(refusal("[]") == "bailey: the policy file is a list; write an object");
    CHECK(refusal("7") == "bailey: the policy file is a whole number; write an object");
}

TEST_CASE("C02 duplicate keys, trailing garbage, depth, and what is no JSON") {
    CHECK(refusal(R"({"read": {}, "read": {}})") == R"(bailey: the key "read" comes twice; remove one)");
    CHECK(refusal(R"({"network": {"allow": [], "allow": ["a.example"]}})") == R"(bailey: the key "network.allow" comes twice; remove one)");
    CHECK(refusal(R"({"environment": {"set": {"A": "1", "A": "2"}}})") == R"(bailey: the key "environment.set.A" comes twice; remove one)");
    for (const auto* text : {"{} x", "{}{}", "{", "{\"read\": }", "{'read': {}}", "// comment\n{}", "{\"read\": {},}", "\"\\ud800\"", "{\"a\": \"\xff\"}", "nul"})
        CHECK(refusal(text).starts_with("bailey: the policy file is no JSON, at byte "));
    for (const auto* text : {"", " \n"}) CHECK(refusal(text) == "bailey: the policy file is empty; write {} for one without policies");
    std::string deep = R"({"read": )";
    for (int i = 0; i < 64; ++i) deep += "[";
    CHECK(refusal(deep) == "bailey: the policy file is nested deeper than 8 levels; no policy is");
    CHECK(refusal(std::string(1'000'000, '[')) == "bailey: the policy file is nested deeper than 8 levels; no policy is");
}

TEST_CASE("from_json: values are judged as everywhere, and the workspace is refused") {
    const auto b = made_of(runtime::from_json(R"({"network": {"allow": ["https://a.example"]}, "environment": {"allow": ["GH_TOKEN"]}, "nonsense": 1})"));
    REQUIRE(b.refusals.size() == 3);
    CHECK(b.refusals[0].find("\"nonsense\"") != std::string::npos);
    CHECK(b.refusals[1].find("a domain has no scheme") != std::string::npos);
    CHECK(b.refusals[2].find("EnvCredential") != std::string::npos);
}

TEST_CASE("the schema and the reader know the same keys") {
    const char* top = std::getenv("BAILEY_TEST_ROOT");
    if (top == nullptr) return;  // run by hand
    std::ifstream file{std::string{top} + "/docs/policy.schema.json"};
    const auto schema = nlohmann::json::parse(std::string{std::istreambuf_iterator<char>{file}, {}});
    const auto whole = nlohmann::json::parse(every_key);
    CHECK(schema["additionalProperties"] == false);
    for (const auto& entry : schema["properties"].items()) {
        const std::string key = entry.key();
        const auto& inner = entry.value();
        CAPTURE(key);
        if (key != "unix_sockets") CHECK(whole.contains(key));
        if (!inner.contains("properties")) continue;
        CHECK(inner["additionalProperties"] == false);
        for (const auto& member : inner["properties"].items()) CHECK(whole[key].contains(member.key()));
        CHECK(inner["properties"].size() == whole[key].size());
    }
    CHECK(schema["properties"].size() == whole.size() + 1);
}

TEST_CASE("from_srt_settings: never wider than srt was told") {
    const auto b = made_of(runtime::from_srt_settings(R"({
      "network": {"allowedDomains": ["github.com", "*.npmjs.org"], "deniedDomains": ["evil.example"], "allowLocalBinding": false, "parentProxy": {"https": "http://p.example:1"}},
      "filesystem": {"denyRead": ["~/.ssh"], "allowWrite": [".", {"path": "/srv/out", "literal": true}], "denyWrite": [".env"]},
      "ripgrep": {"command": "rg"}
    })"));
    CHECK(b.refusals == List{});
    CHECK(b.allowed_domains == List{"github.com", "*.npmjs.org"});
    CHECK(b.denied_domains == List{"evil.example"});
    CHECK(b.upstream_proxy == "http://p.example:1");
    CHECK(b.read_denials == List{"~/.ssh"});
    CHECK(b.write_grants == List{".", "/srv/out"});
    CHECK(b.write_denials == List{".env"});
    CHECK(b.read_only);  // but for what is granted
    CHECK_FALSE(b.all_reads);
    REQUIRE(b.notes.size() == 2);
    CHECK(b.notes[0].find("\"ripgrep\"") != std::string::npos);
    CHECK(b.notes[1].find("reads need a grant") != std::string::npos);

    const auto closed = made_of(runtime::from_srt_settings(R"({"filesystem": {"denyRead": ["/"], "allowRead": ["/opt/data"]}})"));
    CHECK(closed.refusals.empty());
    CHECK(closed.read_denials.empty());
    CHECK(closed.private_tmp);

    const auto refused = [](std::string_view text) { return made_of(runtime::from_srt_settings(text)).refusals; };
    CHECK(refused(R"({"filesystem": {"denyreads": []}})") == List{R"(bailey: nothing in bailey answers to the key "filesystem.denyreads" of srt's settings; did you mean "denyRead"?)"});
    CHECK(refused(R"({"network": {"allowedDomain": []}})") == List{R"(bailey: nothing in bailey answers to the key "network.allowedDomain" of srt's settings; did you mean "allowedDomains"?)"});
    CHECK(refused(R"({"filesystem": {"denyWrite": ["**/.env"]}})").size() == 1);
    CHECK(refused(R"({"filesystem": {"denyWrite": [{"path": "a", "literal": false}]}})").size() == 1);
    // What srt has and bailey has not is no misspelling of something else.
    for (const std::string key : {"filesystem.disabled", "network.httpProxyPort", "network.mitmProxy", "network.deniedDomainReasons", "enableWeakerNestedSandbox"}) {
        const auto dot = key.find('.');
        const auto member = "\"" + key.substr(dot + 1) + "\": true";
        CHECK(refused(dot == key.npos ? "{" + member + "}" : "{\"" + key.substr(0, dot) + "\": {" + member + "}}") ==
              List{"bailey: nothing in bailey answers to the key \"" + key + "\" of srt's settings; leave it out, docs/migration.md says what a workspace does instead"});
    }
    CHECK(refused("{").size() == 1);
}
