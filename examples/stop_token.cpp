// Cancels a command from another thread, by the standard library's own means. Usage: stop_token [directory]
#include <bailey/bailey.hpp>

#include <chrono>
#include <stop_token>
#include <thread>

#include <fmt/core.h>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    try {
        const bailey::Workspace<> workspace{argc > 1 ? argv[1] : "."};
        std::stop_source impatience;
        std::jthread user{[&] {
            std::this_thread::sleep_for(2s);
            impatience.request_stop();
        }};
        const auto result = workspace.run("echo working; sleep 60", {.stop = impatience.get_token()});
        fmt::print("{} {}", result.outcome, result.out);
    } catch (const bailey::Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
