// The workspace that the tests of the run path use: with BAILEY_TEST_THROUGH=session its commands run through a session of it, and the
// same tests hold.
#pragma once

#include <bailey/bailey.hpp>

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace support {

inline bool through_session() {
    const char* through = std::getenv("BAILEY_TEST_THROUGH");
    return through != nullptr && std::string_view{through} == "session";
}

template <bailey::Policy... Ps>
class Subject : public bailey::Workspace<Ps...> {
    using Base = bailey::Workspace<Ps...>;

public:
    using Base::Base;
    explicit Subject(Base base) : Base{std::move(base)} {}

    Subject& use(bailey::Tools tools) {
        Base::use(std::move(tools));
        opened_ = std::make_shared<Opened>();
        return *this;
    }

    [[nodiscard]] auto try_spawn(std::string_view command, bailey::RunOptions options = {}) const { return commands().try_spawn(command, std::move(options)); }
    [[nodiscard]] auto try_run(std::string_view command, bailey::RunOptions options = {}) const { return commands().try_run(command, std::move(options)); }
    [[nodiscard]] auto try_run_argv(std::span<const std::string_view> argv, bailey::RunOptions options = {}) const { return commands().try_run_argv(argv, std::move(options)); }
    [[nodiscard]] auto try_run_argv(std::initializer_list<std::string_view> argv, bailey::RunOptions options = {}) const { return commands().try_run_argv(argv, std::move(options)); }
    [[nodiscard]] auto spawn(std::string_view command, bailey::RunOptions options = {}) const { return commands().spawn(command, std::move(options)); }
    auto run(std::string_view command, bailey::RunOptions options = {}) const { return commands().run(command, std::move(options)); }
    auto run_argv(std::span<const std::string_view> argv, bailey::RunOptions options = {}) const { return commands().run_argv(argv, std::move(options)); }
    auto run_argv(std::initializer_list<std::string_view> argv, bailey::RunOptions options = {}) const { return commands().run_argv(argv, std::move(options)); }

private:
    struct Opened {
        std::mutex mutex;
        std::optional<bailey::Session> session;
    };

    /// Where no session can be opened, the workspace says why.
    [[nodiscard]] const bailey::Commands& commands() const {
        if (!through_session()) return *this;
        const std::lock_guard lock{opened_->mutex};
        if (!opened_->session) {
            if (auto session = Base::try_open_session()) opened_->session.emplace(std::move(*session));
        }
        if (!opened_->session) return *this;
        return *opened_->session;
    }

    std::shared_ptr<Opened> opened_ = std::make_shared<Opened>();
};

}  // namespace support
