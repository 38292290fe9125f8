// `co_await run(…)`: a C++20 coroutine over the live handle, with a loop of twenty lines. Usage: coroutine [directory]
#include <bailey/bailey.hpp>

#include <coroutine>
#include <exception>
#include <utility>
#include <vector>

#include <poll.h>

#include <fmt/core.h>

namespace {

/// Resumes whoever waits for a command when that has ended. One thread.
class Loop {
public:
    void add(bailey::Running& command, std::coroutine_handle<> waiter) { waiting_.push_back({&command, waiter}); }

    void run() {
        while (!waiting_.empty()) {
            std::vector<pollfd> ready;
            for (const auto& [command, waiter] : waiting_) ready.push_back({command->fd(), POLLIN, 0});
            ::poll(ready.data(), ready.size(), -1);
            for (std::size_t i = ready.size(); i-- > 0;) {
                if (ready[i].revents == 0 || !waiting_[i].first->step()) continue;
                const auto waiter = waiting_[i].second;
                waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
                waiter.resume();  // may add others: those are looked at in the next round
                break;
            }
        }
    }

private:
    std::vector<std::pair<bailey::Running*, std::coroutine_handle<>>> waiting_;
};

/// What `co_await` waits for.
class Ended {
public:
    Ended(Loop& loop, bailey::Running command) : loop_{loop}, command_{std::move(command)} {}
    bool await_ready() { return command_.step(); }
    void await_suspend(std::coroutine_handle<> waiter) { loop_.add(command_, waiter); }
    bailey::CommandResult await_resume() { return command_.wait(); }

private:
    Loop& loop_;
    bailey::Running command_;
};

/// Outside of the coroutine: gcc 12 miscompiles the temporaries of a call inside a co_await.
Ended run(Loop& loop, const bailey::Workspace<>& workspace, const char* command) { return {loop, workspace.spawn(command)}; }

struct Task {
    struct promise_type {
        Task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

Task build_and_test(Loop& loop, const bailey::Workspace<>& workspace, int number) {
    const auto built = co_await run(loop, workspace, "sleep 0.2; echo built");
    fmt::print("{}: {}", number, built.out);
    const auto tested = co_await run(loop, workspace, "echo tested");
    fmt::print("{}: {}", number, tested.out);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const bailey::Workspace<> workspace{argc > 1 ? argv[1] : "."};
        Loop loop;
        build_and_test(loop, workspace, 1);
        build_and_test(loop, workspace, 2);
        loop.run();
    } catch (const bailey::Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
