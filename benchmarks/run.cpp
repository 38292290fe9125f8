// What bailey adds to srt: run("true") against `srt -c true` started by hand with the same settings, and draining a gigabyte.
#include "measure.hpp"

#include <fstream>

using namespace measure;

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 21;
    const TempDir root, by_hand;
    bailey::Workspace<> workspace{root.path(), tools()};

    // By hand: the same settings in a file, the same private directories, nothing else.
    for (const char* name : {"/cwd", "/s"}) std::filesystem::create_directory(by_hand.path() + name);
    std::ofstream{by_hand.path() + "/settings.json"} << workspace.settings_json();
    const auto srt = [&](const std::string& command, const std::string& pipe) {
        const auto line = fmt::format("cd {0}/cwd && env -i PATH=/usr/bin:/bin HOME={0}/s TMPDIR={0}/s CLAUDE_CODE_TMPDIR=/tmp {1} {2}/dist/cli.js "
                                      "--settings {0}/settings.json -c '{3}' </dev/null {4}",
                                      by_hand.path(), environment("BAILEY_NODE"), environment("BAILEY_SRT"), command, pipe);
        if (std::system(line.c_str()) != 0) std::exit(2);
    };
    const auto bailey = [&](const char* command) {
        if (!workspace.run(command, {.timeout = std::chrono::minutes{5}}).ok()) std::exit(2);
    };
    bailey("true");
    srt("true", "");

    compare("run(\"true\")", [&] { bailey("true"); }, "srt -c true", [&] { srt("true", ""); }, rounds);
    compare("run(\"head -c 1000000000 /dev/zero\")", [&] { bailey("head -c 1000000000 /dev/zero"); }, "the same into cat",
            [&] { srt("head -c 1000000000 /dev/zero", "| cat >/dev/null"); }, rounds);

    const long before = peak_memory();
    bailey("head -c 1000000000 /dev/zero");
    fmt::print("memory growth while draining 1 GB: {} KiB\n", peak_memory() - before);
}
