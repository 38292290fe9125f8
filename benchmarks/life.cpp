// What a start costs a host of any size, and how long a stop takes.
#include "measure.hpp"

#include <cstring>

#include <sys/mman.h>

using namespace measure;

namespace {

/// Until the child has been replaced by its program, as the host's thread sees it; the end is not part of it.
double spawn_milliseconds(const bailey::process::Fd& directory) {
    bailey::process::Spawned child;
    const double took = milliseconds([&] {
        auto spawned = bailey::process::spawn({{"/bin/true"}, {}, {0, 1, 2}, directory.get()});
        if (!spawned) std::exit(2);
        child = std::move(*spawned);
    });
    ::waitpid(child.pid, nullptr, 0);
    return took;
}

double fork_milliseconds() {
    pid_t child = 0;
    const double took = milliseconds([&] {
        child = ::fork();
        if (child == 0) {
            ::execl("/bin/true", "true", nullptr);
            ::_exit(127);
        }
    });
    ::waitpid(child, nullptr, 0);
    return took;
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 200;
    const std::size_t gib = argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 8;
    const bailey::process::Fd directory{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};

    // The same host, small and large in turn: it takes the memory and gives it back.
    std::vector<double> small, large, small_fork, large_fork;
    for (int block = 0; block < 4; ++block) {
        for (int i = 0; i < 25; ++i) {
            small.push_back(spawn_milliseconds(directory));
            small_fork.push_back(fork_milliseconds());
        }
        void* const memory = ::mmap(nullptr, gib << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (memory == MAP_FAILED) return 2;
        for (int i = 0; i < 25; ++i) {
            large.push_back(spawn_milliseconds(directory));
            large_fork.push_back(fork_milliseconds());
        }
        ::munmap(memory, gib << 30);
    }
    fmt::print("spawn: {:.3f} ms in a small host, {:.3f} ms with {} GiB resident, ratio {:.2f}\n", median(small), median(large), gib, median(large) / median(small));
    fmt::print("fork:  {:.3f} ms in a small host, {:.3f} ms with {} GiB resident, ratio {:.2f}\n", median(small_fork), median(large_fork), gib,
               median(large_fork) / median(small_fork));

    const TempDir root;
    bailey::Workspace<> workspace{root.path(), tools()};
    std::vector<double> stops;
    for (int i = 0; i < rounds; ++i) {
        bool begun = false;
        auto running = workspace.spawn("echo begun; sleep 60", {.on_stdout = [&](std::string_view) { begun = true; }});
        while (!begun) running.wait_for(std::chrono::milliseconds{20});
        stops.push_back(milliseconds([&] {
            running.stop();
            if (running.wait().outcome != bailey::Outcome::cancelled) std::exit(2);
        }));
    }
    fmt::print("stop, until everything is gone: median {:.1f} ms, worst {:.1f} ms of {}\n", median(stops), *std::max_element(stops.begin(), stops.end()), rounds);

    auto running = workspace.spawn("sleep 12");
    running.wait_for(std::chrono::seconds{1});
    const auto cpu = [] {
        rusage usage{};
        ::getrusage(RUSAGE_THREAD, &usage);
        return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 + static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
    };
    const double before = cpu();
    running.wait_for(std::chrono::seconds{10});
    fmt::print("CPU of the waiting thread while a command sleeps 10 s: {:.2f} ms\n", cpu() - before);
}
