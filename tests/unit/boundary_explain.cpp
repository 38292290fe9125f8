// What people are told about a boundary.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include <bailey/boundary/explain.hpp>

using namespace bailey;

namespace {

bool has(const std::string& text, std::string_view part) {
    const bool found = text.find(part) != std::string::npos;
    if (!found) MESSAGE(text);
    return found;
}

const Boundary example{.root = "/srv/work",
                       .read_grants = {"/data/a|b"},
                       .read_denials = {"/srv/work/keys"},
                       .write_grants = {"/srv/out"},
                       .write_denials = {"/srv/work/.env"},
                       .private_tmp = true,
                       .allowed_domains = {"*.b.example"},
                       .denied_domains = {"x.b.example"},
                       .upstream_proxy = "http://me:s3cr3t@p.example",
                       .env_passed = {"CI"},
                       .env_credentials = {"GH_TOKEN"},
                       .env_values = {{"A", "s3cr3t"}},
                       .env_runtime_values = {{"B", "s3cr3t"}},
                       .limits = {.cpu_seconds = 60},
                       .notes = {"a note with a\nbreak"}};

}  // namespace

TEST_CASE("explain: one fact a line, marked") {
    const auto text = explain(example);
    CHECK(has(text, "workspace    \"/srv/work\"\n"));
    CHECK(has(text, "paths        rw         \"/srv/work\"  (the workspace)\n"));
    CHECK(has(text, "             rw         \"/srv/out\"  (write grant)\n"));
    CHECK(has(text, "             ro         \"/data/a|b\"  (read grant)\n"));
    CHECK(has(text, "             ro         \"/srv/work/.env\"  (write denial)\n"));
    CHECK(has(text, "             hidden     \"/srv/work/keys\"  (read denial)\n"));
    CHECK(has(text, "             hidden     \"/tmp\"  (PrivateTmp)\n"));
    CHECK(has(text, "network      allowed    *.b.example"));
    CHECK(has(text, "             denied     x.b.example"));
    CHECK(has(text, "             weakening  GH_TOKEN"));
    CHECK(has(text, "CPU seconds 60"));
    CHECK(has(text, "note         a note"));
    CHECK(text.find("s3cr3t") == std::string::npos);
    CHECK(text.find('\033') == std::string::npos);
}

TEST_CASE("explain: how many variables do not pass") {
    ::setenv("BAILEY_TEST_EXPLAIN", "1", 1);
    const auto count = detail::variables_kept_out(example);
    ::unsetenv("BAILEY_TEST_EXPLAIN");
    CHECK(detail::variables_kept_out(example) == count - 1);
    CHECK(has(explain(example), std::to_string(count - 1) + " variables of this process  (not passed on)"));
}

TEST_CASE("explain: the defaults and the weakenings") {
    const auto plain = explain(Boundary{.root = "/srv/work"});
    CHECK(has(plain, "rw         \"/tmp\"  (shared with the host)"));
    CHECK(has(plain, "network      denied     everything\n"));
    CHECK(has(plain, "sockets      denied     all Unix sockets\n"));
    const auto weak = explain(Boundary{.root = "/srv/work", .read_only = true, .all_reads = true, .all_unix_sockets = true});
    CHECK(has(weak, "ro         \"/srv/work\"  (the workspace, ReadOnly)"));
    CHECK(has(weak, "weakening  everything else can be read"));
    CHECK(has(weak, "weakening  every Unix socket"));
}

TEST_CASE("explain: colour, Markdown, JSON") {
    CHECK(has(explain(example, ExplainFormat::colour), "\033[31mweakening  \033[0m"));
    const auto markdown = explain(example, ExplainFormat::markdown);
    CHECK(markdown.starts_with("| matter | | what | why |\n|---|---|---|---|\n| workspace |"));
    CHECK(has(markdown, "a\\|b"));
    const auto json = explain(example, ExplainFormat::json);
    CHECK(has(json, "{\"matter\": \"paths\", \"mark\": \"ro\", \"what\": \"/data/a|b\", \"why\": \"read grant\"}"));
    CHECK(has(json, "a note with a\\u000abreak"));
    CHECK(json.starts_with("[\n"));
    CHECK(json.ends_with("}\n]\n"));
}
