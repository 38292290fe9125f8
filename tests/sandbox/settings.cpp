// The settings that srt receives: judged by srt's own schema, key by key, and compared with those in golden/.
#include "../unit/domain_table.hpp"
#include "inside.hpp"

using namespace support;
using namespace bailey;

namespace {

/// srt's verdict on each of the named settings, by one node for all.
std::map<std::string, std::string> verdicts(const std::vector<std::pair<std::string, std::string>>& all) {
    TempDir scratch;
    std::string lines;
    for (const auto& [name, text] : all) lines += "{\"name\": " + settings::json_string(name) + ", \"settings\": " + settings::json_string(text) + "}\n";
    write(scratch / "lines", lines);
    const auto output = host_output(shell_word(environment("BAILEY_NODE")) + " " + shell_word(environment("BAILEY_TEST_ROOT") + "/tests/sandbox/check_settings.mjs") + " " +
                                    shell_word(environment("BAILEY_SRT")) + " <" + scratch / "lines");
    std::map<std::string, std::string> result;
    for (std::size_t begin = 0; begin < output.size();) {
        const auto end = output.find('\n', begin), tab = output.find('\t', begin);
        result[output.substr(begin, tab - begin)] = output.substr(tab + 1, end - tab - 1);
        begin = end + 1;
    }
    REQUIRE(result.size() == all.size());
    return result;
}

void replace(std::string& text, const std::string& what, const std::string& by) {
    if (what.empty()) return;
    for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size()) text.replace(at, what.size(), by);
}

/// Without what differs from one machine to the next: where things are, which system paths and which secrets there are.
std::string portable(std::string text, const std::vector<std::pair<std::string, std::string>>& names) {
    for (const auto& [path, name] : names) replace(text, path, name);
    const auto secrets = settings::existing_system_secrets();
    std::string result;
    std::vector<std::string> entries;
    const auto flush = [&] {
        std::sort(entries.begin(), entries.end());
        entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
        for (const auto& entry : entries) result += "      " + entry + (&entry == &entries.back() ? "\n" : ",\n");
        entries.clear();
    };
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = text.find('\n', begin);
        auto line = text.substr(begin, end - begin);
        begin = end + 1;
        const std::string_view opening = "      {\"path\": \"";
        if (line.rfind(opening, 0) != 0) {
            flush();
            result += line + "\n";
            continue;
        }
        if (line.back() == ',') line.pop_back();
        const auto path = line.substr(opening.size(), line.find('"', opening.size()) - opening.size());
        const auto among = [&](const auto& list) { return std::find(list.begin(), list.end(), path) != list.end(); };
        entries.push_back(among(defaults::system_paths) ? "\"<system paths>\"" : among(secrets) ? "\"<system secrets>\"" : line.substr(6));
    }
    return result;
}

const std::string base_keys =
    "bwrapPath filesystem filesystem.allowRead filesystem.allowRead[].literal filesystem.allowRead[].path filesystem.allowWrite "
    "filesystem.allowWrite[].literal filesystem.allowWrite[].path filesystem.denyRead filesystem.denyRead[].literal filesystem.denyRead[].path "
    "filesystem.denyWrite DENY_WRITE network network.allowAllUnixSockets network.allowLocalBinding network.allowedDomains network.deniedDomains "
    "PROXY network.strictAllowlist ripgrep ripgrep.command socatPath";

std::string expected_keys(bool denies_writes, bool proxy) {
    auto keys = base_keys;
    replace(keys, "DENY_WRITE ", denies_writes ? "filesystem.denyWrite[].literal filesystem.denyWrite[].path " : "");
    replace(keys, "PROXY ", proxy ? "network.parentProxy network.parentProxy.http network.parentProxy.https " : "");
    return "ok " + keys;
}

struct Case {
    std::string name, settings;
    bool denies_writes = false, proxy = false, golden = false;
};

}  // namespace

TEST_CASE("srt's own schema accepts the settings of every policy, knows every key, and each key is meant") {
    TempDir root{"bailey-golden"}, outside{"bailey-outside"}, repository{"bailey-repo"};
    for (const auto* directory : {"data", "data/inner", "cache", "quo\"te", "back\\slash", "new\nline", "日本", "[x]{a,b}"}) fs::create_directories(outside / directory);
    fs::create_directories(root / "keys");
    write(root / ".env", "");
    REQUIRE(host("cd " + repository.path() + " && git init -q . && touch .bashrc && mkdir .vscode") == 0);
    const std::string o = outside.path();
    std::vector<Case> cases;
    const auto add = [&](const std::string& name, const auto& opened, bool denies_writes = false, bool proxy = false, bool golden = false) {
        auto text = opened.settings_json();
        // The private directory, as the settings themselves name it: the parent of TMPDIR.
        const auto base = "/var/tmp/bailey-" + std::to_string(::geteuid());
        const auto begin = text.find(base + "/");
        REQUIRE(begin != text.npos);
        const auto own = text.substr(begin, base.size() + 17);
        replace(text, own, "<private>/<workspace>");
        replace(text, base, "<private>");
        // Where it exists just now and /tmp is not granted, there is one denial more.
        const bool srt_tmp = holds(text, "\"/tmp/claude\"");
        CHECK_FALSE((srt_tmp && holds(text, "{\"path\": \"/tmp\", \"literal\": true},\n      {\"path\": \"<private>/<workspace>/tmp\"")));
        cases.push_back({name, text, denies_writes || srt_tmp, proxy, golden && !srt_tmp});
    };

    add("default", workspace(root.path()), false, false, true);
    add("read_only", workspace(root.path(), ReadOnly{}), false, false, true);
    add("private_tmp", workspace(root.path(), PrivateTmp{}), false, false, true);
    add("read only and private", workspace(root.path(), ReadOnly{}, PrivateTmp{}));
    add("all_reads", workspace(root.path(), AllReads{}, ReadPolicy<Deny<"keys">>{}), false, false, true);
    add("domains", workspace(root.path(), DomainAllowlist<"api.github.com", "*.pypi.org", "localhost:8080", "[::1]:443">{}, DomainDenylist<"x.pypi.org", "*:22">{}), false, false, true);
    add("deny all domains", workspace(root.path(), DomainAllowlist<"example.com">{}, DomainDenylist<"*">{}));
    add("upstream_proxy", workspace(root.path(), DomainAllowlist<"example.com">{}, UpstreamProxy<"http://proxy.corp.example:3128">{}), false, true, true);
    add("upstream with a word", workspace(root.path(), runtime::UpstreamProxy{"https://user:w%40rd@proxy.corp.example"}), false, true);
    add("all_unix_sockets", workspace(root.path(), AllUnixSockets{}), false, false, true);
    add("local_binding", workspace(root.path(), LocalBinding{}), false, false, true);
    add("reads", workspace(root.path(), runtime::AllowRead{o + "/data"}, ReadPolicy<Deny<".env", "keys">>{}), false, false, true);
    add("read grant above a write grant", workspace(root.path(), runtime::AllowRead{o}, runtime::AllowWrite{o + "/cache"}), false, false, true);
    add("writes", workspace(root.path(), runtime::AllowWrite{o + "/cache", o + "/data"}, WritePolicy<Deny<".env", "missing/deep">>{}), true, false, true);
    add("denied system path", workspace(root.path(), runtime::DenyRead{"/usr/share/doc", "/opt"}));
    add("dropped grants", workspace(root.path(), WritePolicy<Allow<"/tmp/build", "keys">>{}, ReadPolicy<Allow<"/etc/ssl">>{}));
    add("environment and limits", workspace(root.path(), EnvAllowlist<"CI">{}, EnvValue<"NODE_ENV", "test">{}, runtime::Env{{"TOKEN", "s3cr3t"}}, CpuTimeLimit<9>{}, MemoryLimit<1_GiB>{}));
    add("strange names", workspace(root.path(), runtime::AllowRead{o + "/quo\"te", o + "/back\\slash", o + "/new\nline"}, runtime::AllowWrite{o + "/日本", o + "/[x]{a,b}"}));
    add("repository", workspace(repository.path()), true, false, true);
    add("bundle", workspace(root.path(), PolicySet<PolicySet<DomainAllowlist<"example.com">, ReadOnly>, EnvAllowlist<"CI">>{}));
    add("everything", workspace(root.path(), DomainAllowlist<"example.com">{}, DomainDenylist<"x.example.com">{}, UpstreamProxy<"http://proxy.corp.example:3128">{},
                                runtime::AllowRead{o + "/data"}, runtime::AllowWrite{o + "/cache"}, ReadPolicy<Deny<"keys">>{}, WritePolicy<Deny<".env">>{},
                                AllUnixSockets{}, LocalBinding{}), true, true, true);

    std::vector<std::pair<std::string, std::string>> texts;
    for (const auto& each : cases) texts.emplace_back(each.name, [&] {
        auto text = each.settings;
        replace(text, "<private>", "/var/tmp/private");
        return text;
    }());
    REQUIRE(texts.size() > 15);
    // The judge can say no.
    texts.emplace_back("typo", [&] { auto text = texts[0].second; replace(text, "\"denyRead\"", "\"denyread\""); return text; }());
    texts.emplace_back("unknown", [&] { auto text = texts[0].second; replace(text, "\"network\": {", "\"network\": {\"allowedDomain\": [],"); return text; }());
    texts.emplace_back("twice", [&] { auto text = texts[0].second; replace(text, "\"network\": {", "\"network\": {\"deniedDomains\": [],"); return text; }());
    texts.emplace_back("relative", [&] { auto text = texts[0].second; replace(text, "\"/tmp\"", "\"tmp\""); return text; }());
    texts.emplace_back("bad domain", [&] { auto text = texts[0].second; replace(text, "\"allowedDomains\": []", "\"allowedDomains\": [\"*\"]"); return text; }());
    const auto said = verdicts(texts);
    CHECK(holds(said.at("typo"), "denyRead: Required"));
    CHECK(holds(said.at("unknown"), "srt ignores some of it: network.allowedDomain"));
    CHECK(holds(said.at("twice"), "twice"));
    CHECK(holds(said.at("relative"), "no absolute literal path"));
    CHECK(holds(said.at("bad domain"), "Invalid domain pattern"));

    const auto tools = srt::find_tools(support::tools(), workspace(root.path()).boundary());
    REQUIRE(tools);
    for (const auto& each : cases) {
        CAPTURE(each.name);
        CHECK(said.at(each.name) == expected_keys(each.denies_writes, each.proxy));
        CHECK_FALSE(holds(each.settings, "s3cr3t"));
        if (!each.golden) continue;
        const auto text = portable(each.settings, {{root.path(), "<root>"}, {repository.path(), "<repository>"}, {o, "<outside>"}, {tools->package, "<srt>"},
                                                   {tools->bwrap, "<bwrap>"}, {tools->socat, "<socat>"}, {tools->rg, "<rg>"}});
        auto name = each.name;
        std::replace(name.begin(), name.end(), ' ', '_');
        const auto file = environment("BAILEY_TEST_ROOT") + "/tests/sandbox/golden/" + name + ".json";
        if (std::getenv("BAILEY_UPDATE_GOLDEN") != nullptr) write(file, text);
        CHECK_MESSAGE(text == read(file), "golden/", name, ".json; after looking at the difference, set BAILEY_UPDATE_GOLDEN and run this again");
    }
    for (const auto& entry : fs::directory_iterator{environment("BAILEY_TEST_ROOT") + "/tests/sandbox/golden"}) {
        const auto stem = entry.path().stem().string();
        CHECK_MESSAGE(std::any_of(cases.begin(), cases.end(), [&](const Case& each) {
            auto name = each.name;
            std::replace(name.begin(), name.end(), ' ', '_');
            return name == stem;
        }), stem);
    }
}

TEST_CASE("the run-time twins and the literal policies write the same settings") {
    TempDir home, root;
    fs::create_directories(home / "data");
    fs::create_directories(home / "cache");
    const HostVariable variable{"HOME", home.path().c_str()};
    const auto stripped = [](const auto& opened) {
        auto text = opened.settings_json();
        const auto base = "/var/tmp/bailey-" + std::to_string(::geteuid()) + "/";
        replace(text, text.substr(text.find(base), base.size() + 16), "<private>");
        return text;
    };
    const auto literal = workspace(root.path(), DomainAllowlist<"a.example", "*.b.example">{}, DomainDenylist<"c.b.example">{}, ReadPolicy<Allow<"~/data">, Deny<"keys">>{},
                                   WritePolicy<Allow<"~/cache">, Deny<".env">>{}, UpstreamProxy<"http://proxy.example:3128">{});
    const auto runtime = workspace(root.path(), runtime::DomainAllowlist{"a.example", "*.b.example"}, runtime::DomainDenylist{"c.b.example"}, runtime::AllowRead{"~/data"},
                                   runtime::DenyRead{"keys"}, runtime::AllowWrite{"~/cache"}, runtime::DenyWrite{".env"}, runtime::UpstreamProxy{"http://proxy.example:3128"});
    CHECK(stripped(literal) == stripped(runtime));
    CHECK(stripped(literal) != stripped(workspace(root.path())));
    // Their order carries no meaning.
    CHECK(stripped(workspace(root.path(), ReadOnly{}, PrivateTmp{}, runtime::AllowRead{"~/data"})) ==
          stripped(workspace(root.path(), runtime::AllowRead{"~/data"}, PrivateTmp{}, ReadOnly{})));
}

TEST_CASE("N04 srt takes every domain that bailey's grammar takes") {
    std::vector<std::pair<std::string, std::string>> texts;
    const auto minimal = [](std::string_view allowed, std::string_view denied) {
        return "{\"network\": {\"allowedDomains\": [" + std::string{allowed} + "], \"deniedDomains\": [" + std::string{denied} +
               "]}, \"filesystem\": {\"denyRead\": [], \"allowWrite\": [], \"denyWrite\": []}}";
    };
    std::size_t number = 0, allowed = 0, denied = 0;
    for (const auto& row : domain_table::rows) {
        // As they are written into settings: the boundary holds them as the policies put them.
        Boundary boundary;
        runtime::DomainAllowlist{row.entry}.apply(boundary);
        runtime::DomainDenylist{row.entry}.apply(boundary);
        ++number;
        for (const auto& entry : boundary.allowed_domains) {
            texts.emplace_back("allow " + std::to_string(number) + " " + entry, minimal(settings::json_string(entry), ""));
            ++allowed;
        }
        for (const auto& entry : boundary.denied_domains) {
            texts.emplace_back("deny " + std::to_string(number) + " " + entry, minimal("", settings::json_string(entry)));
            ++denied;
        }
        CHECK(boundary.allowed_domains.empty() == (row.allow != grammar::DomainFault::none));
        CHECK(boundary.denied_domains.empty() == (row.deny != grammar::DomainFault::none));
    }
    CHECK(allowed > 40);
    CHECK(denied > allowed);
    texts.emplace_back("no", minimal("\"com\"", ""));
    const auto said = verdicts(texts);
    CHECK(said.at("no").rfind("ok", 0) != 0);
    for (const auto& judged : said) {
        if (judged.first != "no") CHECK_MESSAGE(judged.second.rfind("ok", 0) == 0, judged.first, ": ", judged.second);
    }
}
