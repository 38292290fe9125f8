// Policies from an operator's file. Needs nlohmann/json, and is therefore not part of bailey.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <bailey/base/text.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/defaults.hpp>
#include <bailey/grammar/fault.hpp>
#include <bailey/policy/filesystem.hpp>
#include <bailey/policy/runtime.hpp>
#include <bailey/policy/weakenings.hpp>

namespace bailey {

namespace runtime {

/// What a policy file says; a policy like any other. A file that is wrong makes no workspace: all that is wrong with it is in
/// `refusals`, and in the PolicyError.
struct PolicyFile {
    AllowRead allow_read{};
    DenyRead deny_read{};
    AllowWrite allow_write{};
    DenyWrite deny_write{};
    DomainAllowlist allow_domains{};
    DomainDenylist deny_domains{};
    std::optional<UpstreamProxy> upstream_proxy{};
    UnixSocketAllowlist unix_sockets{};
    EnvAllowlist env_allow{};
    EnvCredential env_credentials{};
    Env env_set{};
    Limits limits{};
    bool read_only = false, private_tmp = false, all_reads = false, all_unix_sockets = false, local_binding = false;

    std::vector<std::string> refusals{}, notes{};

    void apply(Boundary& boundary) const {
        for (const auto& refusal : refusals) boundary.refusals.push_back(refusal);
        for (const auto& note : notes) boundary.notes.push_back(note);
        allow_read.apply(boundary);
        deny_read.apply(boundary);
        allow_write.apply(boundary);
        deny_write.apply(boundary);
        allow_domains.apply(boundary);
        deny_domains.apply(boundary);
        if (upstream_proxy) upstream_proxy->apply(boundary);
        unix_sockets.apply(boundary);
        env_allow.apply(boundary);
        env_credentials.apply(boundary);
        env_set.apply(boundary);
        limits.apply(boundary);
        if (read_only) ReadOnly{}.apply(boundary);
        if (private_tmp) PrivateTmp{}.apply(boundary);
        if (all_reads) AllReads{}.apply(boundary);
        if (all_unix_sockets) AllUnixSockets{}.apply(boundary);
        if (local_binding) LocalBinding{}.apply(boundary);
    }
};

}  // namespace runtime

namespace policy_file {

/// JSON, as far as policies need it. Members keep their order, and a key that comes twice is seen.
struct Value {
    enum class Kind { null, truth, number, fraction, string, list, object };
    Kind kind = Kind::null;
    bool truth = false;
    std::uint64_t number = 0;
    std::string string{};
    std::vector<Value> items{};         // of an object: the values of
    std::vector<std::string> keys{};    // these keys
};

[[nodiscard]] inline std::string_view name_of(Value::Kind kind) {
    switch (kind) {
        case Value::Kind::null: return "null";
        case Value::Kind::truth: return "true or false";
        case Value::Kind::number: return "a whole number";
        case Value::Kind::fraction: return "a number that is negative, fractional or too large";
        case Value::Kind::string: return "a string";
        case Value::Kind::list: return "a list";
        case Value::Kind::object: return "an object";
    }
    return {};
}

[[nodiscard]] inline std::string member(const std::string& path, std::string_view key) {
    return path.empty() ? std::string{key} : path + "." + std::string{key};
}

/// Builds Values; stops at what no policy can be.
class Builder : public nlohmann::json_sax<nlohmann::json> {
public:
    static constexpr std::size_t deepest = 8;

    [[nodiscard]] Value& root() { return root_; }
    [[nodiscard]] const std::string& problem() const { return problem_; }

    bool null() override { return add({}); }
    bool boolean(bool value) override { return add({.kind = Value::Kind::truth, .truth = value}); }
    bool number_integer(number_integer_t) override { return add({.kind = Value::Kind::fraction}); }
    bool number_unsigned(number_unsigned_t value) override { return add({.kind = Value::Kind::number, .number = value}); }
    bool number_float(number_float_t, const string_t&) override { return add({.kind = Value::Kind::fraction}); }
    bool string(string_t& value) override { return add({.kind = Value::Kind::string, .string = std::move(value)}); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open({.kind = Value::Kind::object}); }
    bool start_array(std::size_t) override { return open({.kind = Value::Kind::list}); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& key) override {
        auto& keys = open_.back()->keys;
        for (const auto& known : keys)
            if (known == key) return refuse("the key " + text::quoted(member(path(), key)) + " comes twice; remove one");
        keys.push_back(std::move(key));
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        return refuse("the policy file is no JSON, at byte " + std::to_string(position) + "; mend it there, nothing may follow the closing brace");
    }

private:
    /// Of what is open, without what an index would add: enough to find it.
    [[nodiscard]] std::string path() const {
        std::string path;
        for (std::size_t i = 0; i + 1 < open_.size(); ++i)
            if (!open_[i]->keys.empty()) path = member(path, open_[i]->keys.back());
        return path;
    }
    bool refuse(std::string problem) {
        if (problem_.empty()) problem_ = std::move(problem);
        return false;
    }
    bool add(Value value) {
        if (open_.empty()) {
            root_ = std::move(value);
        } else {
            open_.back()->items.push_back(std::move(value));
        }
        return true;
    }
    bool open(Value value) {
        if (open_.size() == deepest) return refuse("the policy file is nested deeper than " + std::to_string(deepest) + " levels; no policy is");
        add(std::move(value));
        open_.push_back(open_.empty() ? &root_ : &open_.back()->items.back());  // stays where it is: nothing joins its siblings before it is closed
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    Value root_;
    std::vector<Value*> open_;
    std::string problem_;
};

/// How many letters are to be changed, added, left out or swapped; either case, "_" left out.
[[nodiscard]] inline std::size_t distance(std::string_view a, std::string_view b) {
    const auto plain = [](std::string_view text) {
        std::string result;
        for (const char c : text)
            if (c != '_' && c != '-') result += grammar::lower(c);
        return result;
    };
    const std::string from = plain(a), to = plain(b);
    std::vector<std::vector<std::size_t>> row(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
    for (std::size_t i = 0; i <= from.size(); ++i) {
        for (std::size_t j = 0; j <= to.size(); ++j) {
            if (i == 0 || j == 0) {
                row[i][j] = i + j;
                continue;
            }
            std::size_t least = row[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
            for (const std::size_t other : {row[i - 1][j] + 1, row[i][j - 1] + 1})
                if (other < least) least = other;
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] && row[i - 2][j - 2] + 1 < least) least = row[i - 2][j - 2] + 1;
            row[i][j] = least;
        }
    }
    return row[from.size()][to.size()];
}

/// What srt calls it, and others who look for it by another word.
struct OtherName {
    std::string_view name, ours;
};
inline constexpr OtherName other_names[] = {
    {"allowedDomains", "network.allow"}, {"deniedDomains", "network.deny"}, {"domains", "network.allow"}, {"allowRead", "read.allow"},
    {"denyRead", "read.deny"}, {"allowWrite", "write.allow"}, {"denyWrite", "write.deny"}, {"allowLocalBinding", "local_binding"},
    {"allowUnixSockets", "unix_sockets"}, {"allowAllUnixSockets", "all_unix_sockets"}, {"filesystem", "read and write"}, {"proxy", "network.upstream_proxy"},
    {"parentProxy", "network.upstream_proxy"}, {"env", "environment"}, {"variables", "environment.set"}, {"timeout", "RunOptions::timeout, in the program"},
};

/// Reads Values into a PolicyFile; every complaint names the path of the key.
class Reader {
public:
    explicit Reader(runtime::PolicyFile& file) : file_{file} {}

    void refuse(std::string_view problem) { file_.refusals.push_back("bailey: " + std::string{problem}); }

    bool is(const Value& value, Value::Kind kind, const std::string& path) {
        if (value.kind == kind) return true;
        refuse((path.empty() ? std::string{"the policy file"} : text::quoted(path)) + " is " + std::string{name_of(value.kind)} + "; write " +
               std::string{name_of(kind)});
        return false;
    }

    /// `read(key, value, path)` for each member with a known key.
    template <class Read>
    void object(const Value& value, const std::string& path, std::initializer_list<std::string_view> known, Read read, bool suggest_ours = true) {
        if (!is(value, Value::Kind::object, path)) return;
        for (std::size_t i = 0; i < value.keys.size(); ++i) {
            const std::string& key = value.keys[i];
            bool is_known = false;
            for (const auto name : known) is_known |= name == key;
            if (is_known) {
                read(std::string_view{key}, value.items[i], member(path, key));
            } else {
                unknown(key, path, known, suggest_ours);
            }
        }
    }

    void truth(const Value& value, const std::string& path, bool& target) {
        if (is(value, Value::Kind::truth, path)) target = value.truth;
    }
    void string(const Value& value, const std::string& path, std::string& target) {
        if (is(value, Value::Kind::string, path)) target = value.string;
    }
    void number(const Value& value, const std::string& path, std::optional<std::uint64_t>& target) {
        if (is(value, Value::Kind::number, path)) target = value.number;
    }
    void strings(const Value& value, const std::string& path, policy::Strings& target) {
        if (!is(value, Value::Kind::list, path)) return;
        for (std::size_t i = 0; i < value.items.size(); ++i) {
            const auto at = path + "[" + std::to_string(i) + "]";
            if (is(value.items[i], Value::Kind::string, at)) target.values.push_back(value.items[i].string);
        }
    }

private:
    void unknown(const std::string& key, const std::string& path, std::initializer_list<std::string_view> known, bool suggest_ours) {
        std::string_view best;
        std::size_t least = suggest_ours ? 1 + key.size() / 3 : 3;  // farther is another word; srt has many
        const auto offer = [&](std::string_view name, std::string_view instead) {
            if (const auto steps = distance(key, name); steps < least || (steps == least && best.empty())) {
                least = steps;
                best = instead;
            }
        };
        for (const auto name : known) offer(name, name);
        if (suggest_ours)
            for (const auto& other : other_names) offer(other.name, other.ours);
        std::string problem = "there is no key " + text::quoted(member(path, key));
        if (!suggest_ours) problem = "nothing in bailey answers to the key " + text::quoted(member(path, key)) + " of srt's settings";
        if (!best.empty()) {
            problem += "; did you mean " + text::quoted(best) + "?";
        } else if (!suggest_ours) {
            problem += "; leave it out, docs/migration.md says what a workspace does instead";
        } else {
            problem += "; write one of";
            for (const auto name : known) problem += " " + std::string{name};
        }
        refuse(problem);
    }

    runtime::PolicyFile& file_;
};

/// The root of the file, or nothing and a refusal.
[[nodiscard]] inline std::optional<Value> parse(std::string_view text, Reader& reader) {
    Builder builder;
    if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return std::move(builder.root());
    reader.refuse(builder.problem());
    return std::nullopt;
}

}  // namespace policy_file

namespace runtime {

/// A policy from JSON, as docs/policy.schema.json describes it:
///
///     {"network": {"allow": ["api.example.com"]}, "write": {"deny": [".env"]}, "environment": {"allow": ["CI"]}}
///
///     bailey::Workspace workspace{root, bailey::runtime::from_json(text)};
///
/// Never fails; what is wrong is said when the workspace is made: a key that is unknown (and what it might mean), comes twice or has a
/// value of another type, what is no JSON, and values that a policy refuses.
[[nodiscard]] inline PolicyFile from_json(std::string_view text) {
    PolicyFile file;
    policy_file::Reader reader{file};
    if (text.find_first_not_of(" \t\r\n") == text.npos) {
        reader.refuse("the policy file is empty; write {} for one without policies");
        return file;
    }
    const auto root = policy_file::parse(text, reader);
    if (!root) return file;
    using policy_file::Value;
    const auto grants = [&](const Value& value, const std::string& path, policy::Strings& allow, policy::Strings& deny) {
        reader.object(value, path, {"allow", "deny"}, [&](std::string_view key, const Value& list, const std::string& at) { reader.strings(list, at, key == "allow" ? allow : deny); });
    };
    reader.object(
        *root, "",
        {"$schema", "read", "write", "read_only", "private_tmp", "all_reads", "network", "unix_sockets", "all_unix_sockets", "local_binding", "environment", "limits"},
        [&](std::string_view key, const Value& value, const std::string& path) {
            std::string ignored;
            if (key == "$schema") reader.string(value, path, ignored);
            if (key == "read") grants(value, path, file.allow_read, file.deny_read);
            if (key == "write") grants(value, path, file.allow_write, file.deny_write);
            if (key == "read_only") reader.truth(value, path, file.read_only);
            if (key == "private_tmp") reader.truth(value, path, file.private_tmp);
            if (key == "all_reads") reader.truth(value, path, file.all_reads);
            if (key == "unix_sockets") reader.strings(value, path, file.unix_sockets);
            if (key == "all_unix_sockets") reader.truth(value, path, file.all_unix_sockets);
            if (key == "local_binding") reader.truth(value, path, file.local_binding);
            if (key == "network") {
                reader.object(value, path, {"allow", "deny", "upstream_proxy"}, [&](std::string_view what, const Value& inner, const std::string& at) {
                    if (what == "allow") reader.strings(inner, at, file.allow_domains);
                    if (what == "deny") reader.strings(inner, at, file.deny_domains);
                    if (what == "upstream_proxy" && reader.is(inner, Value::Kind::string, at)) file.upstream_proxy.emplace(inner.string);
                });
            }
            if (key == "environment") {
                reader.object(value, path, {"allow", "credentials", "set"}, [&](std::string_view what, const Value& inner, const std::string& at) {
                    if (what == "allow") reader.strings(inner, at, file.env_allow);
                    if (what == "credentials") reader.strings(inner, at, file.env_credentials);
                    if (what != "set" || !reader.is(inner, Value::Kind::object, at)) return;
                    for (std::size_t i = 0; i < inner.keys.size(); ++i)
                        if (reader.is(inner.items[i], Value::Kind::string, policy_file::member(at, inner.keys[i])))
                            file.env_set.values.emplace_back(inner.keys[i], inner.items[i].string);
                });
            }
            if (key == "limits") {
                reader.object(value, path, {"cpu_seconds", "memory_bytes", "processes", "file_size_bytes", "open_files"},
                              [&](std::string_view what, const Value& inner, const std::string& at) {
                                  if (what == "cpu_seconds") reader.number(inner, at, file.limits.cpu_seconds);
                                  if (what == "memory_bytes") reader.number(inner, at, file.limits.memory_bytes);
                                  if (what == "processes") reader.number(inner, at, file.limits.processes);
                                  if (what == "file_size_bytes") reader.number(inner, at, file.limits.file_size_bytes);
                                  if (what == "open_files") reader.number(inner, at, file.limits.open_files);
                              });
            }
        });
    return file;
}

/// A boundary as a policy file: `from_json(to_json(b))` adds up to the same, but for values that are no UTF-8, whose bytes become U+FFFD. Holds the values of variables and the proxy's URL with
/// its password: treat it as a secret where they are.
[[nodiscard]] inline std::string to_json(const Boundary& boundary) {
    auto file = nlohmann::ordered_json::object();
    // What says nothing is left out.
    const auto list = [](nlohmann::ordered_json& target, const char* key, const std::vector<std::string>& values) {
        if (!values.empty()) target[key] = values;
    };
    const auto truth = [&](const char* key, bool value) {
        if (value) file[key] = true;
    };
    const auto object = [&](const char* key, nlohmann::ordered_json value) {
        if (!value.empty()) file[key] = std::move(value);
    };
    auto read = nlohmann::ordered_json::object(), write = read, network = read, environment = read, limits = read;
    list(read, "allow", boundary.read_grants);
    list(read, "deny", boundary.read_denials);
    list(write, "allow", boundary.write_grants);
    list(write, "deny", boundary.write_denials);
    list(network, "allow", boundary.allowed_domains);
    list(network, "deny", boundary.denied_domains);
    if (!boundary.upstream_proxy.empty()) network["upstream_proxy"] = boundary.upstream_proxy;
    list(environment, "allow", boundary.env_passed);
    list(environment, "credentials", boundary.env_credentials);
    for (const auto* entries : {&boundary.env_values, &boundary.env_runtime_values})
        for (const auto& [name, value] : *entries) environment["set"][name] = value;
    const auto limit = [&](const char* key, const std::optional<std::uint64_t>& value) {
        if (value) limits[key] = *value;
    };
    limit("cpu_seconds", boundary.limits.cpu_seconds);
    limit("memory_bytes", boundary.limits.memory_bytes);
    limit("processes", boundary.limits.processes);
    limit("file_size_bytes", boundary.limits.file_size_bytes);
    limit("open_files", boundary.limits.open_files);

    object("read", read);
    object("write", write);
    truth("read_only", boundary.read_only);
    truth("private_tmp", boundary.private_tmp);
    truth("all_reads", boundary.all_reads);
    object("network", network);
    list(file, "unix_sockets", boundary.unix_sockets);
    truth("all_unix_sockets", boundary.all_unix_sockets);
    truth("local_binding", boundary.local_binding);
    object("environment", environment);
    object("limits", limits);
    return file.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// A policy from the settings of srt (`~/.srt-settings.json`). It is narrower than they are where bailey's defaults are: reads beyond
/// the defaults need a grant, a denial wins over every grant, and no variable of the host passes. It is wider in one thing: the
/// workspace and the system can always be read. Writes are what the settings grant: the workspace and /tmp are writable only where they
/// name them ("." is the workspace). Keys that would be lost are refused.
[[nodiscard]] inline PolicyFile from_srt_settings(std::string_view text) {
    PolicyFile file;
    policy_file::Reader reader{file};
    const auto root = policy_file::parse(text, reader);
    if (!root) return file;
    using policy_file::Value;
    file.read_only = true;
    const auto paths = [&](const Value& value, const std::string& path, policy::Strings& target) {
        if (!reader.is(value, Value::Kind::list, path)) return;
        for (std::size_t i = 0; i < value.items.size(); ++i) {
            const auto at = path + "[" + std::to_string(i) + "]";
            const Value& item = value.items[i];
            if (item.kind == Value::Kind::object) {
                reader.object(
                    item, at, {"path", "literal"},
                    [&](std::string_view key, const Value& inner, const std::string& inner_path) {
                        std::string spelled;
                        bool literal = true;
                        if (key == "literal") reader.truth(inner, inner_path, literal);
                        if (!literal) reader.refuse(text::quoted(inner_path) + " is false; there are only exact paths");
                        if (key == "path") reader.string(inner, inner_path, spelled);
                        if (key == "path" && inner.kind == Value::Kind::string) target.values.push_back(spelled);
                    },
                    false);
            } else if (reader.is(item, Value::Kind::string, at)) {
                target.values.push_back(item.string);
            }
        }
    };
    reader.object(
        *root, "", {"network", "filesystem", "ripgrep", "bwrapPath", "socatPath", "ignoreViolations", "mandatoryDenySearchDepth"},
        [&](std::string_view key, const Value& value, const std::string& path) {
            if (key == "network") {
                reader.object(
                    value, path, {"allowedDomains", "deniedDomains", "strictAllowlist", "allowUnixSockets", "allowAllUnixSockets", "allowLocalBinding", "parentProxy"},
                    [&](std::string_view what, const Value& inner, const std::string& at) {
                        bool strict = true;  // always so here
                        if (what == "allowedDomains") reader.strings(inner, at, file.allow_domains);
                        if (what == "deniedDomains") reader.strings(inner, at, file.deny_domains);
                        if (what == "strictAllowlist") reader.truth(inner, at, strict);
                        if (what == "allowUnixSockets") reader.strings(inner, at, file.unix_sockets);
                        if (what == "allowAllUnixSockets") reader.truth(inner, at, file.all_unix_sockets);
                        if (what == "allowLocalBinding") reader.truth(inner, at, file.local_binding);
                        if (what != "parentProxy") return;
                        std::string http, https;
                        reader.object(
                            inner, at, {"http", "https"},
                            [&](std::string_view scheme, const Value& url, const std::string& url_path) { reader.string(url, url_path, scheme == "http" ? http : https); }, false);
                        if (!http.empty() && !https.empty() && http != https)
                            reader.refuse(text::quoted(at) + " names two proxies; a workspace has one");
                        if (const auto& url = https.empty() ? http : https; !url.empty()) file.upstream_proxy.emplace(url);
                    },
                    false);
            } else if (key == "filesystem") {
                reader.object(
                    value, path, {"denyRead", "allowRead", "allowWrite", "denyWrite"},
                    [&](std::string_view what, const Value& inner, const std::string& at) {
                        if (what == "denyRead") paths(inner, at, file.deny_read);
                        if (what == "allowRead") paths(inner, at, file.allow_read);
                        if (what == "allowWrite") paths(inner, at, file.allow_write);
                        if (what == "denyWrite") paths(inner, at, file.deny_write);
                    },
                    false);
            } else {
                file.notes.push_back("the key " + text::quoted(path) + " of srt's settings has no effect: bailey decides it");
            }
        },
        false);
    // "/" is denied in any case, and could not be: only what is beneath can.
    auto& denied = file.deny_read.values;
    bool everything_denied = false;
    for (std::size_t i = denied.size(); i > 0; --i) {
        if (denied[i - 1] != "/") continue;
        everything_denied = true;
        denied.erase(denied.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
    const auto names_tmp = [](const policy::Strings& list) {
        for (const auto& path : list.values)
            if (path == defaults::tmp) return true;
        return false;
    };
    file.private_tmp = everything_denied && !names_tmp(file.allow_read) && !names_tmp(file.allow_write);
    if (!everything_denied) file.notes.push_back("srt's settings let commands read everything that they do not deny; here reads need a grant (AllReads gives them all)");
    return file;
}

}  // namespace runtime
}  // namespace bailey
