// How long a fresh sandbox takes: prepared, wrapped by the broker and cold, against bare bubblewrap with the same mounts and against a
// loop in Python that writes settings, runs srt and waits. In a small tree and in one of 20,000 files in 2,000 directories.
//
//   session [ROUNDS [FILE]]      FILE receives every time, a line each: tree, way, milliseconds
#include "measure.hpp"

#include <csignal>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace measure;

namespace {

constexpr const char* one_python = R"py(
import json, os, subprocess, sys, tempfile
srt, settings = sys.argv[1:3]
for line in sys.stdin:
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        file.write(open(settings).read())
    subprocess.run([*srt.split(" "), "--settings", file.name, "-c", "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=True)
    os.unlink(file.name)
    print("done", flush=True)
)py";

/// The words of the bubblewrap that runs just now, up to the program.
std::vector<std::string> bwrap_words() {
    for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
        std::error_code ignored;
        std::ifstream file{entry.path() / "cmdline", std::ios::binary};
        std::stringstream text;
        if (!file || !(text << file.rdbuf())) continue;
        std::vector<std::string> words;
        for (std::string word; std::getline(text, word, '\0');) words.push_back(word);
        if (words.empty() || !words[0].ends_with("/bwrap")) continue;
        std::ifstream stat{entry.path() / "stat"};
        int pid = 0, parent = 0;
        std::string name, state;
        stat >> pid >> name >> state >> parent;
        std::ifstream above{"/proc/" + std::to_string(parent) + "/stat"};
        int leader = 0, host = 0;
        above >> leader >> name >> state >> host;
        if (host != ::getpid()) continue;
        words.erase(std::find(words.begin(), words.end(), "--"), words.end());
        return words;
    }
    fmt::print(stderr, "no bwrap of ours runs\n");
    std::exit(2);
}

void run_bare(const std::vector<std::string>& words) {
    static const bailey::process::Fd top{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    bailey::process::ChildPlan plan;
    plan.spawn.argv = words;
    plan.spawn.argv.insert(plan.spawn.argv.end(), {"--", "/usr/bin/true"});
    plan.spawn.environment = {"PATH=/usr/bin:/bin"};
    plan.spawn.directory = top.get();
    auto child = bailey::process::start_child(std::move(plan)).value();
    int status = 0;
    if (::waitpid(child.pid, &status, 0) == child.pid && status == 0) return;
    char words_of_it[1000]{};
    (void)!::read(child.err.get(), words_of_it, sizeof words_of_it - 1);
    fmt::print(stderr, "bare bwrap failed: {}\n", words_of_it);
    std::exit(2);
}

void wait_for_prepared(const bailey::Session& session) {
    while (session.stats().waiting == 0) ::usleep(5'000);
    ::usleep(50'000);  // the keeper has gone to sleep again
}

void check(const bailey::CommandResult& result) {
    if (result.ok()) return;
    fmt::print(stderr, "{} {}: {}\n", result.outcome, result.exit_code, result.err);
    std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 25;
    std::ofstream raw{argc > 2 ? argv[2] : "/dev/null"};
    std::signal(SIGPIPE, SIG_IGN);

    for (const bool big : {false, true}) {
        const TempDir root;
        const char* tree = big ? "big" : "small";
        for (int i = 0; i < (big ? 2000 : 14); ++i) {
            const auto directory = fmt::format("{}/d{}/e{}", root.path(), i % 40, i);
            std::filesystem::create_directories(directory);
            for (int k = 0; k < (big ? 10 : 2); ++k) std::ofstream{fmt::format("{}/f{}", directory, k)} << "x";
        }
        if (std::system(("git init -q " + root.path()).c_str()) != 0) return 2;

        bailey::Workspace<> workspace{root.path(), tools()};
        const auto prepared = workspace.open_session({.time_to_live = std::chrono::minutes{10}});
        const auto wrapping = workspace.open_session({.prepared = 0});
        check(prepared.run("true"));
        check(wrapping.run("true"));
        auto running = wrapping.spawn("sleep 20");
        running.wait_for(std::chrono::milliseconds{1500});
        auto words = bwrap_words();
        running.stop();
        (void)running.wait();

        const TempDir by_hand;
        std::ofstream{by_hand.path() + "/settings.json"} << workspace.settings_json();
        std::ofstream{by_hand.path() + "/loop.py"} << one_python;
        std::filesystem::create_directory(by_hand.path() + "/cwd");
        for (auto& word : words) {
            if (word.find("/run/") != std::string::npos) word = by_hand.path();  // its own directory goes with it
        }
        int to[2], from[2];
        if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) return 2;
        const auto loop = fmt::format("cd {0}/cwd && exec python3 {0}/loop.py '{1} {2}/dist/cli.js' {0}/settings.json", by_hand.path(), environment("BAILEY_NODE"), environment("BAILEY_SRT"));
        const pid_t python = ::fork();
        if (python == 0) {
            ::dup2(to[0], 0);
            ::dup2(from[1], 1);
            ::execl("/bin/sh", "sh", "-c", loop.c_str(), nullptr);
            ::_exit(127);
        }
        const auto run_python = [&] {
            char answer[8];
            if (::write(to[1], "\n", 1) != 1 || ::read(from[0], answer, sizeof answer) <= 0) std::exit(2);
        };

        const std::pair<const char*, std::function<void()>> ways[] = {
            {"bare bwrap", [&] { run_bare(words); }},
            {"prepared", [&] { check(prepared.run("true")); }},
            {"broker", [&] { check(wrapping.run("true")); }},
            {"cold", [&] { check(workspace.run("true")); }},
            {"python loop", run_python},
        };
        std::map<std::string, std::vector<double>> times;
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < std::size(ways); ++i) {
                const auto& [name, work] = ways[(i + static_cast<std::size_t>(round)) % std::size(ways)];
                wait_for_prepared(prepared);  // whatever is measured: two processors cannot do two things at once
                times[name].push_back(milliseconds(work));
                raw << tree << '\t' << name << '\t' << times[name].back() << '\n';
            }
        }
        ::close(to[1]);
        ::waitpid(python, nullptr, 0);

        const auto ratio = [&](const char* a, const char* b) {
            std::vector<double> ratios;
            for (std::size_t i = 0; i < times[a].size(); ++i) ratios.push_back(times[a][i] / times[b][i]);
            return median(ratios);
        };
        fmt::print("{} tree, {} rounds: medians in ms, and medians of the rounds' ratios\n", tree, rounds);
        for (const auto& [name, work] : ways)
            fmt::print("  {:<12} {:8.1f}   × bare bwrap {:7.2f}   cold is × {:7.1f}\n", name, median(times[name]), ratio(name, "bare bwrap"), ratio("cold", name));
        const auto stats = prepared.stats();
        fmt::print("  prepared: {} of {} commands found one waiting, {} stale; idle: {} processes, {:.1f} MiB\n", stats.prepared, stats.commands, stats.stale, stats.processes, static_cast<double>(stats.memory) / (1 << 20));

        if (big) continue;
        for (const int in_flight : {1, 2, 4}) {
            const auto throughput = [&](const bailey::Commands& commands, int each) {
                const double took = milliseconds([&] {
                    std::vector<std::thread> threads;
                    for (int t = 0; t < in_flight; ++t) {
                        threads.emplace_back([&] {
                            for (int i = 0; i < each; ++i) check(commands.run("true", {.timeout = std::chrono::minutes{2}}));
                        });
                    }
                    for (auto& thread : threads) thread.join();
                });
                return in_flight * each * 1000.0 / took;
            };
            const double session = throughput(prepared, 24 / in_flight), cold = throughput(workspace, 12 / in_flight);
            fmt::print("  back to back, {} in flight: session {:.1f}/s, cold {:.1f}/s, ratio {:.1f}\n", in_flight, session, cold, session / cold);
        }
    }
}
