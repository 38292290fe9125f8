// Finds srt, node, bwrap, socat and rg, makes them absolute and real, and refuses what a sandbox could rewrite.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bailey/base/error.hpp>
#include <bailey/base/platform.hpp>
#include <bailey/base/text.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/paths.hpp>
#include <bailey/boundary/resolve.hpp>
#include <bailey/process/fd.hpp>

namespace bailey {

/// Where the tools are; an empty member is looked up on the host's PATH.
struct Tools {
    std::string srt{};    ///< the executable, or the directory of the npm package @anthropic-ai/sandbox-runtime
    std::string node{};   ///< the real node, not a version manager's shim
    std::string bwrap{};  ///< Linux only, as is socat
    std::string socat{};
    std::string rg{};
};

namespace srt {

/// The oldest srt whose behaviour bailey was measured against; older ones run without settings they cannot read, or break as root.
inline constexpr std::string_view oldest_srt = "0.0.83";
inline constexpr std::string_view package_name = "@anthropic-ai/sandbox-runtime";
inline constexpr std::string_view install_srt = "install it outside the workspace with: npm install -g @anthropic-ai/sandbox-runtime@latest";  // without the tag npm takes an older one for an older node

struct FoundTools {
    std::string package;      ///< real directory of the npm package
    std::string version;
    std::string node;
    std::string node_floor;   ///< the oldest node that this srt accepts
    std::string bwrap, socat, rg;

    [[nodiscard]] std::string cli() const { return package + "/dist/cli.js"; }
    [[nodiscard]] std::string library() const { return package + "/dist/index.js"; }
    [[nodiscard]] std::string vendor() const { return package + "/vendor"; }
};

/// -1, 0 or 1 for dotted numbers; anything after the numbers is ignored.
[[nodiscard]] constexpr int compare_versions(std::string_view a, std::string_view b) {
    const auto next = [](std::string_view& text) {
        long number = 0;
        while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
            number = number * 10 + (text.front() - '0');
            text.remove_prefix(1);
        }
        if (!text.empty() && text.front() == '.') text.remove_prefix(1);
        return number;
    };
    for (int part = 0; part < 3; ++part) {
        const long left = next(a), right = next(b);
        if (left != right) return left < right ? -1 : 1;
    }
    return 0;
}

namespace detail {

[[nodiscard]] inline Error unavailable(const std::string& what) { return {ErrorCode::srt_unavailable, "bailey: " + what}; }

[[nodiscard]] inline std::string read_small_file(const std::string& path) {
    std::string content;
    const process::Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    std::array<char, 4096> buffer;
    while (file && content.size() < 1'000'000) {
        const auto size = ::read(file.get(), buffer.data(), buffer.size());
        if (size <= 0) break;
        content.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return content;
}

/// The string value of a key path such as {"engines", "node"}; enough of JSON for a package.json that npm wrote.
[[nodiscard]] inline std::string json_member(std::string_view json, std::initializer_list<std::string_view> path) {
    std::vector<std::string> here;  // the keys that lead to the current object
    std::string key, text;
    bool expects_value = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (c == '"') {
            text.clear();
            for (++i; i < json.size() && json[i] != '"'; ++i) {
                if (json[i] == '\\') ++i;
                if (i < json.size()) text += json[i];
            }
            if (!expects_value) {
                key = text;
            } else if (here.size() + 1 == path.size() && std::equal(here.begin(), here.end(), path.begin()) && key == *(path.end() - 1)) {
                return text;
            }
        } else if (c == ':') {
            expects_value = true;
        } else if (c == ',') {
            expects_value = false;
        } else if (c == '{') {
            if (i != 0) here.push_back(expects_value ? key : "");
            expects_value = false;
        } else if (c == '}' || c == ']') {
            if (!here.empty()) here.pop_back();
        } else if (c == '[') {
            here.push_back(key);
        }
    }
    return {};
}

/// The first of that name on the host's PATH, else in the places where it is usually installed.
[[nodiscard]] inline std::string search_path(std::string_view name) {
    const char* variable = std::getenv("PATH");
    std::string directories = variable != nullptr ? variable : "";
    directories += ":/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";
    for (std::size_t begin = 0; begin <= directories.size();) {
        const auto end = std::min(directories.find(':', begin), directories.size());
        const auto directory = directories.substr(begin, end - begin);
        begin = end + 1;
        if (!directory.starts_with('/')) continue;  // relative entries change with the host's directory
        auto candidate = paths::join(directory, name);
        struct stat status {};
        if (::stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return {};
}

/// The file or directory above it that every user of the machine may change; empty when there is none.
[[nodiscard]] inline std::string writable_by_others(const std::string& path) {
    for (std::string at = path;; at = paths::parent(at)) {
        struct stat status {};
        if (::stat(at.c_str(), &status) != 0) return at;
        const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
        if ((status.st_mode & S_IWOTH) != 0 && !sticky) return at;
        if (at == "/") return {};
    }
}

class ToolFinder {
public:
    ToolFinder(const Tools& tools, const Boundary& boundary) : tools_{tools}, writable_{writable_paths(boundary)} {}

    Result<FoundTools> find() {
        std::string problems;
        const auto is_there = [&](const Result<void>& looked) {
            if (!looked) problems += text::concat({problems.empty() ? "" : "\n", looked.error().what()});
            return looked.has_value();
        };
        is_there(find_srt());
        if (is_there(find_program("node", tools_.node, found_.node, text::concat({"install node ", found_.node_floor, found_.node_floor.empty() ? "" : " or newer, ", "or name it in Tools::node"})))) is_there(check_node());
        if (on_linux) {
            is_there(find_program("bwrap", tools_.bwrap, found_.bwrap, "install bubblewrap (Debian: apt-get install bubblewrap)"));
            is_there(find_program("socat", tools_.socat, found_.socat, "install socat (Debian: apt-get install socat)"));
        }
        is_there(find_program("rg", tools_.rg, found_.rg, "install ripgrep (Debian: apt-get install ripgrep)"));
        if (!problems.empty()) return Error{ErrorCode::srt_unavailable, std::move(problems)};
        return std::move(found_);
    }

private:
    Result<void> find_srt() {
        std::string named = tools_.srt;
        if (named.empty()) named = search_path("srt");
        if (named.empty()) return unavailable(text::concat({"srt is not on the PATH; ", install_srt}));
        const auto real = paths::real(named);
        if (!real) return unavailable(text::concat({"srt ", text::quoted(named), ": ", std::strerror(errno), "; ", install_srt}));
        struct stat status {};
        ::stat(real->c_str(), &status);
        if (!S_ISDIR(status.st_mode) && ::access(real->c_str(), X_OK) != 0)
            return unavailable(text::concat({"srt ", text::quoted(named), " is not executable; ", install_srt}));

        // npm links bin/srt to <package>/dist/cli.js.
        found_.package = S_ISDIR(status.st_mode) ? *real : std::string{paths::parent(paths::parent(*real))};
        const auto manifest = read_small_file(found_.package + "/package.json");
        if (json_member(manifest, {"name"}) != package_name || (!S_ISDIR(status.st_mode) && *real != found_.cli()))
            return unavailable(text::concat({"srt ", text::quoted(named), " leads to ", text::quoted(*real), ", which is not part of the npm package ", package_name, " (a version manager's shim?); set Tools::srt to the directory of the package"}));
        found_.version = json_member(manifest, {"version"});
        if (compare_versions(found_.version, oldest_srt) < 0)
            return unavailable(text::concat({"srt ", found_.version, " in ", text::quoted(found_.package), " is too old: bailey needs ", oldest_srt, " or newer; ", install_srt}));
        const auto engines = json_member(manifest, {"engines", "node"});
        const auto digit = std::find_if(engines.begin(), engines.end(), [](char c) { return c >= '0' && c <= '9'; });
        found_.node_floor.assign(digit, std::find_if(digit, engines.end(), [](char c) { return c != '.' && (c < '0' || c > '9'); }));
        if (!paths::exists(found_.cli())) return unavailable(text::concat({"srt ", text::quoted(found_.package), " has no dist/cli.js; ", install_srt}));
        if (auto trusted = trust("srt", found_.cli()); !trusted) return trusted;

        // node takes srt's own dependencies from the node_modules of every directory above it.
        for (std::string_view above = found_.package; above != "/"; above = paths::parent(above)) {
            const auto modules = paths::join(above, "node_modules");
            for (const auto& writable : writable_) {
                if (paths::is_within(writable, modules) || paths::is_within(writable, found_.package))
                    return unavailable(text::concat({"srt's modules in ", text::quoted(modules), " could be rewritten by the sandbox, which may write ", text::quoted(writable), "; ", install_srt}));
            }
        }
        return {};
    }

    Result<void> find_program(std::string_view name, const std::string& named, std::string& found, const std::string& remedy) {
        const std::string candidate = named.empty() ? search_path(name) : named;
        if (candidate.empty()) return unavailable(text::concat({name, " is not on the PATH; ", remedy}));
        const auto real = paths::real(candidate);
        if (!real) return unavailable(text::concat({name, " ", text::quoted(candidate), ": ", std::strerror(errno), "; ", remedy}));
        struct stat status {};
        if (::stat(real->c_str(), &status) != 0 || !S_ISREG(status.st_mode) || ::access(real->c_str(), X_OK) != 0)
            return unavailable(text::concat({name, " ", text::quoted(candidate), " is not an executable file; ", remedy}));
        found = *real;
        return trust(name, found);
    }

    /// A shim would look up another node by an environment that the launcher does not have.
    Result<void> check_node() const {
        const auto name = found_.node.substr(found_.node.rfind('/') + 1);
        const auto beginning = [&] {
            const process::Fd file{::open(found_.node.c_str(), O_RDONLY | O_CLOEXEC)};
            char bytes[2]{};
            return ::read(file.get(), bytes, sizeof bytes) == 2 ? std::string{bytes, 2} : std::string{};
        }();
        if (name.starts_with("node") && beginning != "#!") return {};
        return unavailable(text::concat({"node ", text::quoted(found_.node), " is no node, or a version manager's shim; set Tools::node to the real node"}));
    }

    [[nodiscard]] Result<void> trust(std::string_view name, const std::string& path) const {
        for (const auto& writable : writable_) {
            if (paths::is_within(path, writable))
                return unavailable(text::concat({name, " ", text::quoted(path), " could be rewritten by the sandbox, which may write ", text::quoted(writable), "; install it elsewhere"}));
        }
        if (const auto loose = writable_by_others(path); !loose.empty())
            return unavailable(text::concat({name, " ", text::quoted(path), " could be rewritten by any user of this machine: ", text::quoted(loose), " is writable for all; chmod o-w it"}));
        return {};
    }

    const Tools& tools_;
    std::vector<std::string> writable_;
    FoundTools found_;
};

}  // namespace detail

/// Every tool, found and trusted for this boundary, or a SrtUnavailableError: what is wrong with each and how to mend it, one a line.
[[nodiscard]] inline Result<FoundTools> find_tools(const Tools& tools, const Boundary& boundary) {
    return detail::ToolFinder{tools, boundary}.find();
}

}  // namespace srt
}  // namespace bailey
