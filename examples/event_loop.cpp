// Four commands at once from one epoll loop, with no thread. Usage: event_loop [directory]
#include <bailey/bailey.hpp>

#include <vector>

#include <sys/epoll.h>
#include <unistd.h>

#include <fmt/core.h>

int main(int argc, char** argv) {
    try {
        const bailey::Workspace<> workspace{argc > 1 ? argv[1] : "."};
        std::vector<bailey::Running> commands;
        for (const char* command : {"sleep 1; echo one", "echo two; exit 2", "sleep 0.5; echo three", "echo four"})
            commands.push_back(workspace.spawn(command));

        const int loop = ::epoll_create1(EPOLL_CLOEXEC);
        for (std::size_t i = 0; i < commands.size(); ++i) {
            epoll_event interest{};
            interest.events = EPOLLIN;
            interest.data.u64 = i;
            ::epoll_ctl(loop, EPOLL_CTL_ADD, commands[i].fd(), &interest);
        }
        for (std::size_t running = commands.size(); running > 0;) {
            epoll_event ready{};
            if (::epoll_wait(loop, &ready, 1, -1) != 1) continue;
            auto& command = commands[ready.data.u64];
            if (!command.step()) continue;  // did what there was to do; not ended yet
            ::epoll_ctl(loop, EPOLL_CTL_DEL, command.fd(), nullptr);
            const auto result = command.wait();  // has ended: does not wait
            fmt::print("{}: {} {}: {}", ready.data.u64 + 1, result.outcome, result.exit_code, result.out);
            --running;
        }
        ::close(loop);
    } catch (const bailey::Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
