// What every consumer builds: makes a workspace and runs a command in it. Its argument is the directory.
#include <bailey/bailey.hpp>

#include <cstdio>
#include <string>

std::string explained();  // second.cpp

namespace {

int report(const bailey::CommandResult& result) {
    std::fputs(result.out.c_str(), stdout);
    std::fputs(result.err.c_str(), stderr);
    return result.ok() && !explained().empty() ? 0 : 1;
}

#if defined(__cpp_exceptions)
int run(const char* directory) {
    const bailey::Workspace<> workspace{directory};
    return report(workspace.run("echo hello from the workspace"));
}
#else
int run(const char* directory) {
    const auto workspace = bailey::Workspace<>::open(directory);
    if (!workspace) return std::fprintf(stderr, "%s\n", workspace.error().what()), 1;
    const auto result = workspace->try_run("echo hello from the workspace");
    if (!result) return std::fprintf(stderr, "%s\n", result.error().what()), 1;
    return report(*result);
}
#endif

}  // namespace

int main(int argc, char** argv) { return argc == 2 ? run(argv[1]) : 2; }
