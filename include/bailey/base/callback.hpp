// A callable that takes live bytes: what std::function would be, without its header.
#pragma once

#include <concepts>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bailey {

/// Any callable taking std::string_view; copies share it. Called in the thread that drives the run.
class OutputCallback {
public:
    OutputCallback() = default;
    template <class Callable>
        requires(!std::same_as<std::remove_cvref_t<Callable>, OutputCallback> && std::invocable<std::remove_cvref_t<Callable>&, std::string_view>)
    OutputCallback(Callable&& callable)  // NOLINT: implicit, `.on_stdout = [](std::string_view bytes) { … }`
        : object_{std::make_shared<std::remove_cvref_t<Callable>>(std::forward<Callable>(callable))},
          call_{[](void* object, std::string_view bytes) { (*static_cast<std::remove_cvref_t<Callable>*>(object))(bytes); }} {}

    [[nodiscard]] explicit operator bool() const { return call_ != nullptr; }
    void operator()(std::string_view bytes) const { call_(object_.get(), bytes); }

private:
    std::shared_ptr<void> object_;
    void (*call_)(void*, std::string_view) = nullptr;
};

}  // namespace bailey
