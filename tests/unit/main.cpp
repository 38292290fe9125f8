// The main of every doctest binary. A filter that matches nothing is a failure, not a silent success.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>

namespace {

unsigned matched = 0;

/// Says what runs, so that a slow or stuck case has a name in the log.
struct Progress : doctest::IReporter {
    explicit Progress(const doctest::ContextOptions&) {}

    void test_case_start(const doctest::TestCaseData& test) override {
        std::fprintf(stderr, "- %s\n", test.m_name);
    }
    void test_run_end(const doctest::TestRunStats& stats) override { matched = stats.numTestCasesPassingFilters; }

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("progress", 1, Progress);

}  // namespace

int main(int argc, char** argv) {
    // Under nohup, or behind an & in a script, some signals come ignored: bash says so, and what is stopped by them does not stop.
    for (int signal = 1; signal < 32; ++signal) std::signal(signal, SIG_DFL);
    doctest::Context context{argc, argv};
    const int result = context.run();
    if (context.shouldExit()) return result;  // --help, --list-test-cases: a query, nothing was to be run
    if (matched == 0) std::fprintf(stderr, "no test case matches\n");
    return matched == 0 ? 1 : result;
}
