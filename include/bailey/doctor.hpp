// What a workspace needs of this machine, whether it is there, and how to mend it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <stdlib.h>

#include <bailey/base/error.hpp>
#include <bailey/base/text.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/process/fd.hpp>
#include <bailey/srt/private_directory.hpp>
#include <bailey/srt/tools.hpp>
#include <bailey/workspace.hpp>

namespace bailey {

struct Check {
    std::string name;    ///< what was looked at: "tools", "sandbox"
    bool ok = false;
    std::string detail;  ///< what was found, or what is wrong and how to mend it
};

/// Looks for the tools, then runs a command in a real sandbox in a temporary directory. Takes about a second; throws nothing.
[[nodiscard]] inline std::vector<Check> doctor(const Tools& tools = {}) {
    std::vector<Check> checks;
    const auto found = srt::find_tools(tools, Boundary{.root = "/nonexistent", .read_only = true, .private_tmp = true});
    if (!found) {
        checks.push_back({"tools", false, found.error().what()});
        return checks;
    }
    checks.push_back({"tools", true, text::concat({"srt ", found->version, " in ", found->package, ", node ", found->node, ", bwrap ", found->bwrap, ", socat ", found->socat, ", rg ", found->rg})});

    char root[] = "/tmp/bailey-doctor-XXXXXX";
    if (::mkdtemp(root) == nullptr) {
        checks.push_back({"sandbox", false, process::system_error(text::concat({"mkdtemp(", text::quoted(root), ")"})).what()});
        return checks;
    }
    if (auto workspace = Workspace<>::open(root, tools); !workspace) {
        checks.push_back({"sandbox", false, workspace.error().what()});
    } else {
        const auto result = workspace->try_run("echo ok");
        checks.push_back({"sandbox", result && result->ok(), result ? text::concat({"a command ran and ", to_string(result->outcome)}) : result.error().what()});
    }
    srt::remove_tree(root);
    return checks;
}

}  // namespace bailey
