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
    bool colour = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    int width = [] {
        winsize size{};
        return ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
    }();
    [[nodiscard]] std::string paint(std::string_view text, int code) const {
        return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string{text};
    }
};

/// As many characters as fit, on one line.
std::string fit(std::string text, std::size_t width) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

void write_file(const fs::path& path, std::string_view content) {
    fs::create_directories(path.parent_path());
    std::ofstream{path} << content;
}

/// The end of the last line that says something.
std::string gist(const bailey::CommandResult& result) {
    if (result.outcome != bailey::Outcome::exited) return fmt::format("{} after {} ms", result.outcome, result.elapsed.count());
    if (!result.violations.empty()) return fmt::format("reported as {}", result.violations.front().kind);
    std::string text = result.exit_code == 0 ? result.out : result.err;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    text = text.substr(text.rfind('\n') + 1);
    if (const auto reason = text.rfind(": "); result.exit_code != 0 && reason != std::string::npos) text = text.substr(reason + 2);
    return text.empty() ? fmt::format("exit {}", result.exit_code) : text;
}

std::vector<Attempt> attempts(const fs::path& stage, int port) {
    const std::string home = stage / "home", neighbour = stage / "neighbour";
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
        {"inherit a token", "test -n \"$GH_TOKEN\" && echo \"$GH_TOKEN\"", false, "environment: only what is listed"},
        {"outlive its time", "setsid sleep 4321 & sleep 60", false, "timeout: everything is stopped", 3s},
        {"use a listed variable", "test \"$CI\" = true && echo \"CI=$CI\"", true, "EnvAllowlist<\"CI\">"},
        {"make a commit", "git add -A && git -c user.name=t -c user.email=t@e.x commit -qm tour && git log --oneline", true, "workspace"},
        {"build and run a program", "printf 'int main(){return 0;}' > a.c && cc a.c -o a && ./a && echo built", true, "workspace"},
        {"run python", "python3 -c 'import tempfile; print(\"temp in\", tempfile.gettempdir().split(\"/\")[1])'", true, "workspace"},
    };
}

int tour(const bailey::Tools& tools) {
    const Style style;
    char stage_name[] = "/var/tmp/bailey-tour-XXXXXX";
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
    bailey::Workspace workspace{(stage / "project").string(), TourPolicy{}, bailey::runtime::DomainAllowlist{fmt::format("127.0.0.1:{}", server.port())}};
    workspace.use(tools);
    fmt::print("{}\n{}\n", style.paint("The boundary", 1), workspace.explain());

    const bool wide = style.width >= 90;
    const auto outcome_width = static_cast<std::size_t>(std::max(24, style.width - 34 - 12 - 40));
    if (wide) fmt::print("{}\n", style.paint(fmt::format("{:<46}{:<{}}  {}", "attempted", "what happened", outcome_width, "which rule decided"), 1));
    int surprises = 0;
    const auto list = attempts(stage, server.port());
    for (const auto& attempt : list) {
        const auto result = workspace.run(attempt.command, {.timeout = attempt.timeout});
        const bool worked = result.ok() && result.violations.empty();
        const bool right = worked == attempt.allowed;
        surprises += right ? 0 : 1;
        const auto verdict = !right ? style.paint("SURPRISE", 35) : worked ? style.paint("allowed", 32) : style.paint("refused", 31);
        const std::string padding(!right ? 4 : 5, ' ');
        if (wide) {
            fmt::print("{:<34}{}{}{:<{}}  {}\n", attempt.what, verdict, padding, fit(gist(result), outcome_width), outcome_width, attempt.rule);
        } else {
            fmt::print("{} {}\n    {}\n    {}\n", verdict, attempt.what, fit(gist(result), static_cast<std::size_t>(std::max(20, style.width - 5))), attempt.rule);
        }
        std::fflush(stdout);
    }

    std::ifstream notes{stage / "neighbour/notes.txt"};
    std::string untouched;
    std::getline(notes, untouched);
    if (untouched != "original") ++surprises;
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
