// What an agent might try, tried: some twenty commands in a real sandbox, and what became of each. `./tools/demo` runs it.
// Exit status 0 when everything came out as it should.
#include <bailey/bailey.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/core.h>

using namespace std::chrono_literals;
using namespace bailey::literals;
namespace fs = std::filesystem;

namespace {

// The boundary of this tour. What is not written here is the default: nothing.
using TourPolicy = bailey::PolicySet<
    bailey::WritePolicy<bailey::Deny<".env">>,  // secrets of the project: not to be changed,
    bailey::ReadPolicy<bailey::Deny<".env">>,   // nor read
    bailey::EnvAllowlist<"CI">,                 // one variable of the host's passes
    bailey::MemoryLimit<8_GiB>>;

struct Attempt {
    std::string what;                 // for people
    std::string command;
    bool allowed;                     // should it work?
    std::string rule;                 // what decides
    std::chrono::milliseconds timeout = 30s;
};

/// A server on the host's loopback that answers every request with one line; what a listed host would be.
class Server {
public:
    Server() : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(socket_, 8) != 0) std::abort();
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread{[this] {
            for (int client; (client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; ::close(client)) {
                char request[4096];
                (void)!::read(client, request, sizeof request);
                constexpr std::string_view answer = "HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nhello\n";
                (void)!::write(client, answer.data(), answer.size());
            }
        }};
    }
    ~Server() {
        ::shutdown(socket_, SHUT_RDWR);
        thread_.join();
        ::close(socket_);
    }
    [[nodiscard]] int port() const { return port_; }

private:
    int socket_;
    int port_ = 0;
    std::thread thread_;
};

struct Style {
    bool terminal = ::isatty(STDOUT_FILENO) == 1;
    bool colour = terminal && std::getenv("NO_COLOR") == nullptr;
    std::size_t width = [this]() -> std::size_t {
        const char* columns = std::getenv("COLUMNS");
        if (const int wanted = columns != nullptr ? std::atoi(columns) : 0; wanted > 0) return static_cast<std::size_t>(wanted);
        winsize size{};
        return terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 120;
    }();
    [[nodiscard]] std::string paint(std::string_view text, int code) const {
        return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string{text};
    }
};

/// As many characters as fit.
std::string fit(const std::string& text, std::size_t width) { return text.size() <= width ? text : text.substr(0, width - 3) + "..."; }

/// Lines that are too long go on in the next, indented; where there is little room, columns close up. Escapes take none.
std::string folded(std::string_view text, std::size_t width) {
    const bool narrow = width < 70;
    const std::string indent(narrow ? 4 : 24, ' ');
    std::string out;
    std::size_t column = 0, blanks = 0;
    while (!text.empty()) {
        const auto word = text.substr(0, std::max<std::size_t>(1, text.find_first_of(" \n")));
        text.remove_prefix(word.size());
        if (word == " ") {
            if (!narrow || blanks < 2) ++blanks;
            continue;
        }
        if (word == "\n") {
            out += word;
            column = blanks = 0;
            continue;
        }
        std::size_t shown = 0;
        for (std::size_t i = 0; i < word.size(); ++i, ++shown)
            if (word[i] == '\033') i = word.find('m', i), --shown;
        if (column > indent.size() && column + blanks + shown > width) {
            out.append("\n").append(indent);
            column = indent.size();
            blanks = 0;
        }
        out.append(blanks, ' ').append(word);
        column += blanks + shown;
        blanks = 0;
    }
    return out;
}

void write_file(const fs::path& path, std::string_view content) {
    fs::create_directories(path.parent_path());
    std::ofstream{path} << content;
}

/// The reason at the end of the last line that says something.
std::string gist(const bailey::CommandResult& result) {
    if (result.outcome != bailey::Outcome::exited) return fmt::format("{} after {} ms", result.outcome, result.elapsed.count());
    if (!result.violations.empty()) return fmt::format("reported as {}", result.violations.front().kind);
    std::string text = result.exit_code == 0 ? result.out : result.err;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    text = text.substr(text.rfind('\n') + 1);
    if (const auto reason = text.rfind(": "); result.exit_code != 0 && reason != std::string::npos) text = text.substr(reason + 2);
    if (text.starts_with("[Errno ")) text = text.substr(text.find(']') + 2);  // python's
    if (text == "403") text = "HTTP 403";                                     // curl's
    return text.empty() ? fmt::format("exit {}", result.exit_code) : text;
}

/// How long, in seconds, what should not outlive its command would sleep: a number by which it is found.
int lifetime() { return 100'000'000 + ::getpid(); }

std::vector<Attempt> attempts(const fs::path& stage, int port) {
    const std::string home = stage / "home", neighbour = stage / "neighbour";
    const std::string forever = "sleep " + std::to_string(lifetime());
    return {
        {"read a key in the home directory", "cat " + home + "/.ssh/id_ed25519", false, "reads: homes are hidden"},
        {"read /etc/shadow", "cat /etc/shadow", false, "reads: secrets of /etc are hidden"},
        {"read a neighbour's project", "cat " + neighbour + "/notes.txt", false, "reads: only this workspace"},
        {"read the project's own .env", "cat .env", false, "ReadPolicy<Deny<\".env\">>"},
        {"change the project's own .env", "echo KEY=mine > .env", false, "WritePolicy<Deny<\".env\">>"},
        {"write to /etc", "echo owned > /etc/tour", false, "writes: workspace and /tmp only"},
        {"write outside through a symlink", "ln -s " + neighbour + "/notes.txt link && echo owned > link", false, "writes: by the kernel, not by name"},
        {"plant a git hook", "echo 'touch /tmp/owned' > .git/hooks/pre-commit", false, "the host's git is protected"},
        {"plant git's commondir", "mkdir -p evil && echo evil > .git/commondir && echo planted", false, "quarantine: planted_file"},
        {"plant a launcher", "echo 'touch /tmp/owned' > .bashrc && echo planted", false, "quarantine: planted_file"},
        {"leave a setuid program", "cp /bin/true ./su && chmod 4755 su && echo made", false, "setuid bits are taken away"},
        {"reach an unlisted host", "curl -fsS -m 10 http://example.com/", false, "network: not on the list"},
        {"reach the listed host", fmt::format("curl -fsS -m 10 --noproxy '' http://127.0.0.1:{}/", port), true, "runtime::DomainAllowlist"},
        {"reach the metadata address", "curl -fsS -m 10 --noproxy '' http://169.254.169.254/", false, "network: not on the list"},
        {"go around the proxy", "curl -fsS -m 10 --noproxy '*' http://192.0.2.1/", false, "network: no route but the proxy"},
        {"connect to a Unix socket", "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'", false, "sockets: none by default"},
        {"inherit a token", "echo \"${GH_TOKEN:?is not set}\"", false, "environment: only what is listed"},
        {"outlive its time", "setsid " + forever + " & sleep 60", false, "timeout: everything is stopped", 3s},
        {"fork past its time", "brood() { (setsid " + forever + " &); (sleep 1; brood) & }; brood; brood; sleep 60", false, "timeout: everything is stopped", 3s},
        {"use a listed variable", "test \"$CI\" = true && echo \"CI=$CI\"", true, "EnvAllowlist<\"CI\">"},
        {"make a commit", "git add -A && git -c user.name=t -c user.email=t@e.x commit -qm tour && git log --oneline", true, "workspace"},
        {"build and run a program", "printf 'int main(){return 0;}' > a.c && cc a.c -o a && ./a && echo built", true, "workspace"},
        {"run python", "python3 -c 'import tempfile; print(\"temp in\", tempfile.gettempdir().split(\"/\")[1])'", true, "workspace"},
        {"run node", "\"$NODE\" -e 'require(\"fs\").writeFileSync(\"a.js\", \"console.log(1 + 1)\")' && \"$NODE\" a.js", true, "workspace"},
    };
}

int tour(const bailey::Tools& tools) {
    const Style style;
    char stage_name[] = "/var/tmp/tour-XXXXXX";
    if (::mkdtemp(stage_name) == nullptr) return 2;
    const fs::path stage = stage_name;
    struct Cleanup {
        fs::path path;
        ~Cleanup() { fs::remove_all(path); }
    } const cleanup{stage};

    write_file(stage / "home/.ssh/id_ed25519", "a private key\n");
    write_file(stage / "neighbour/notes.txt", "original\n");
    write_file(stage / "project/.env", "KEY=secret\n");
    write_file(stage / "project/.gitignore", ".env\n");
    if (std::system(("git init -q '" + (stage / "project").string() + "'").c_str()) != 0) return 2;
    ::setenv("GH_TOKEN", "ghp_not_for_you", 1);
    ::setenv("CI", "true", 1);
    const Server server;

    // One host is listed, on a port that is known only now.
    bailey::Workspace workspace{(stage / "project").string(), TourPolicy{}, bailey::runtime::DomainAllowlist{fmt::format("127.0.0.1:{}", server.port())},
                                bailey::runtime::Env{{"NODE", tools.node.empty() ? "node" : tools.node}}};
    workspace.use(tools);
    const std::string boundary = bailey::explain(workspace.boundary(), style.colour ? bailey::ExplainFormat::colour : bailey::ExplainFormat::text);
    fmt::print("{}\n{}\n", style.paint("The boundary", 1), folded(boundary, style.width));

    const auto list = attempts(stage, server.port());
    std::size_t what_width = 0, rule_width = 0;
    for (const auto& attempt : list) {
        what_width = std::max(what_width, attempt.what.size());
        rule_width = std::max(rule_width, attempt.rule.size());
    }
    constexpr std::size_t verdict_width = 9, gist_width = 26;
    const bool wide = style.width >= what_width + 2 + verdict_width + gist_width + 2 + rule_width;
    if (wide) fmt::print("{}\n", style.paint(fmt::format("{:<{}}  {:<{}}  {}", "attempted", what_width, "what happened", verdict_width + gist_width, "which rule decided"), 1));
    int surprises = 0;
    for (const auto& attempt : list) {
        const auto result = workspace.run(attempt.command, {.timeout = attempt.timeout});
        const bool worked = result.ok() && result.violations.empty();
        const bool right = worked == attempt.allowed;
        surprises += right ? 0 : 1;
        const std::string_view verdict = !right ? "SURPRISE" : worked ? "allowed" : "refused";
        const std::string marked = style.paint(verdict, !right ? 35 : worked ? 32 : 31) + std::string(verdict_width - verdict.size(), ' ');
        const std::string happened = gist(result);
        if (wide) {
            fmt::print("{:<{}}  {}{:<{}}  {}\n", attempt.what, what_width, marked, fit(happened, gist_width), gist_width, attempt.rule);
        } else {
            fmt::print("{}{}\n    {}", marked, attempt.what, fit(happened, style.width - 4));
            fmt::print("{}{}\n", 4 + happened.size() + 2 + attempt.rule.size() + 2 <= style.width ? "  " : "\n    ", style.paint("(" + attempt.rule + ")", 2));
        }
        std::fflush(stdout);
    }

    std::ifstream notes{stage / "neighbour/notes.txt"};
    std::string untouched;
    std::getline(notes, untouched);
    if (untouched != "original") ++surprises;
    if (std::system(fmt::format("pgrep -fx 'sleep {}' >/dev/null", lifetime()).c_str()) == 0) ++surprises;
    fmt::print("\n{} attempts, {} surprises\n", list.size(), surprises);
    return surprises == 0 ? 0 : 1;
}

}  // namespace

int main() {
    const auto from_environment = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string{value != nullptr ? value : ""};
    };
    try {
        return tour({.srt = from_environment("BAILEY_SRT"), .node = from_environment("BAILEY_NODE")});
    } catch (const bailey::Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}
