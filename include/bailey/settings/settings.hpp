// Boundary → the settings of srt. Every key of srt stands here, once; srt ignores keys it does not know, so a typo would be a hole.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bailey/base/platform.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/defaults.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/resolve.hpp>
#include <bailey/settings/json.hpp>
#include <bailey/settings/secrets.hpp>

namespace bailey::settings {

/// What one run adds to the boundary: bailey's own directories, the tools, and what stands in the workspace just now.
struct RunContext {
    std::string private_base;                        ///< hidden, but for:
    std::vector<std::string> private_readable;       ///< what the sandbox needs to start (srt's sockets, the prelude)
    std::string private_tmp;                         ///< TMPDIR
    std::vector<std::string> protected_paths;        ///< existing files by which the host would run what is planted in them
    std::string srt_vendor;                          ///< srt's helper programs; must be visible inside
    std::string bwrap, socat, rg;                    ///< absolute
    bool asks = false;                               ///< somebody is asked about hosts that no rule decides
};

/// The paths of a run, as srt is told them.
struct FilesystemRules {
    std::vector<std::string> deny_read, allow_read, allow_write, deny_write;

    [[nodiscard]] bool operator==(const FilesystemRules&) const = default;
};

[[nodiscard]] inline FilesystemRules filesystem_rules(const Boundary& boundary, const RunContext& context) {
    FilesystemRules rules;
    const auto writable = writable_paths(boundary);
    const std::string tmp = real_tmp();

    rules.allow_write = writable;
    rules.allow_write.push_back(context.private_tmp);

    if (!boundary.all_reads) {
        rules.deny_read.emplace_back("/");
        for (const auto system : defaults::system_paths) {
            std::string path{system};
            // A denial wins over the default grant; srt would let the deeper or equal allowRead win.
            if (paths::exists(path) && !paths::is_within_any(path, boundary.read_denials)) rules.allow_read.push_back(std::move(path));
        }
        if (shares_tmp(boundary)) rules.allow_read.push_back(tmp);
    }
    const bool alone = root_stands_alone(boundary);
    if (alone) rules.allow_read.push_back(boundary.root);
    paths::append(rules.allow_read, boundary.read_grants);
    // srt mounts a readable directory over the writable ones beneath it, read-only. Hiding those first makes it mount them back.
    for (const auto& path : rules.allow_write) {
        if ((alone && paths::is_beneath(path, boundary.root)) ||
            std::any_of(boundary.read_grants.begin(), boundary.read_grants.end(), [&](const auto& grant) { return paths::is_beneath(path, grant); }))
            rules.deny_read.push_back(path);
    }
    if (boundary.private_tmp) rules.deny_read.push_back(tmp);
    for (auto& secret : existing_system_secrets()) rules.deny_read.push_back(std::move(secret));
    paths::append(rules.deny_read, boundary.read_denials);
    rules.deny_read.push_back(context.private_base);
    paths::append(rules.allow_read, context.private_readable);
    rules.allow_read.push_back(context.srt_vendor);

    rules.deny_write = boundary.write_denials;
    paths::append(rules.deny_write, context.protected_paths);
    const std::string srt_tmp{defaults::srt_tmp};
    if (paths::exists(srt_tmp) && !paths::is_within_any(srt_tmp, writable)) rules.deny_write.push_back(srt_tmp);

    for (auto* list : {&rules.deny_read, &rules.allow_read, &rules.allow_write, &rules.deny_write}) {
        paths::sort_once(*list);  // srt mounts in this order
    }
    return rules;
}

[[nodiscard]] inline std::string to_json(const Boundary& boundary, const RunContext& context, const FilesystemRules& rules) {
    const auto text = [](const std::string& value) { return json_string(value); };
    // `literal`: the path is taken as it is, glob characters included.
    const auto path = [](const std::string& value) { return "{\"path\": " + json_string(value) + ", \"literal\": true}"; };

    JsonObject network{2};
    network.array("allowedDomains", boundary.allowed_domains, text);
    network.array("deniedDomains", boundary.denied_domains, text);
    network.truth("strictAllowlist", !context.asks);  // no per-command list may widen it, and no callback unless that is meant
    if (on_macos) network.array("allowUnixSockets", boundary.unix_sockets, text);
    network.truth("allowAllUnixSockets", boundary.all_unix_sockets);
    network.truth("allowLocalBinding", boundary.local_binding);
    if (!boundary.upstream_proxy.empty()) {
        JsonObject proxy{3};
        proxy.string("http", boundary.upstream_proxy);
        proxy.string("https", boundary.upstream_proxy);
        network.object("parentProxy", proxy);
    }

    JsonObject filesystem{2};
    filesystem.array("denyRead", rules.deny_read, path);
    filesystem.array("allowRead", rules.allow_read, path);
    filesystem.array("allowWrite", rules.allow_write, path);
    filesystem.array("denyWrite", rules.deny_write, path);

    JsonObject settings;
    settings.object("network", network);
    settings.object("filesystem", filesystem);
    if (on_linux) {
        settings.string("bwrapPath", context.bwrap);
        settings.string("socatPath", context.socat);
    }
    JsonObject ripgrep{2};
    ripgrep.string("command", context.rg);
    settings.object("ripgrep", ripgrep);
    return settings.str() + "\n";
}
[[nodiscard]] inline std::string to_json(const Boundary& boundary, const RunContext& context) {
    return to_json(boundary, context, filesystem_rules(boundary, context));
}

}  // namespace bailey::settings
