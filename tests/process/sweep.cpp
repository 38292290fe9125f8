// What has left the group is found by its mark and ended with it.
#include <bailey/process/process.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include <signal.h>
#include <unistd.h>

using namespace bailey;
using namespace bailey::process;

namespace {
/// A zombie that nobody has reaped yet is not.
bool is_alive(int pid) {
    std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
    std::string line;
    std::getline(stat, line);
    return stat.good() && line.find(") Z") == std::string::npos;
}
/// Before its exec it has the mark among its words, too, but not as its name.
bool goes_by(int pid, const std::string& name) {
    std::ifstream words{"/proc/" + std::to_string(pid) + "/cmdline"};
    std::string first;
    std::getline(words, first, '\0');
    return first == name;
}
}  // namespace

TEST_CASE("a process that has left the group is ended by its mark, and lives on without one") {
    const std::string mark = "bailey-mark-" + std::to_string(::getpid());
    for (const bool marked : {false, true}) {
        auto readiness = Readiness::open();
        REQUIRE(readiness.has_value());
        StopSignal stop;
        REQUIRE(stop.attach(*readiness).has_value());
        const Fd directory{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        ProcessPlan plan;
        plan.spawn = {{"/bin/bash", "-c", "setsid bash -c 'echo $$; exec -a " + mark + " sleep 300' >&2 & wait"}, {"PATH=/usr/bin:/bin"}, {}, directory.get()};
        if (marked) plan.mark = mark;
        auto started = Process::start(std::move(plan), *readiness, stop);
        REQUIRE(started.has_value());
        auto& process = **started;
        std::string escaped;
        const auto step = [&] { process.step([&](Stream, std::string_view bytes) { escaped += bytes; }); };
        while (escaped.find('\n') == std::string::npos) {
            process.wait(std::chrono::milliseconds{20});
            step();
        }
        const int pid = std::atoi(escaped.c_str());
        for (int i = 0; i < 1000 && !goes_by(pid, mark); ++i) ::usleep(10'000);
        stop.request();
        while (!process.done()) {
            process.wait(std::nullopt);
            step();
        }
        for (int i = 0; i < 1000 && marked && is_alive(pid); ++i) ::usleep(10'000);
        CHECK(is_alive(pid) == !marked);
        if (!marked) ::kill(pid, SIGKILL);
    }
}
