// A callable that is kept for later: what std::function would be, without its header.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bailey {

template <class Signature>
class Callback;

/// Any callable of that signature; copies share it. Made from a null pointer or an empty std::function it is none.
template <class Answer, class... Arguments>
class Callback<Answer(Arguments...)> {
public:
    Callback() = default;
    Callback(std::nullptr_t) {}
    template <class Callable>
        requires(!std::same_as<std::remove_cvref_t<Callable>, Callback> && std::is_invocable_r_v<Answer, std::remove_cvref_t<Callable>&, Arguments...>)
    Callback(Callable&& callable)  // NOLINT: implicit, `.on_stdout = [](std::string_view bytes) { … }`
    {
        using Kept = std::remove_cvref_t<Callable>;
        if constexpr (std::is_constructible_v<Kept, std::nullptr_t>) {  // a pointer to a function, a std::function
            if (callable == nullptr) return;
        }
        object_ = std::make_shared<Kept>(std::forward<Callable>(callable));
        call_ = [](void* object, Arguments... arguments) -> Answer { return static_cast<Answer>((*static_cast<Kept*>(object))(arguments...)); };
    }

    [[nodiscard]] explicit operator bool() const { return call_ != nullptr; }
    Answer operator()(Arguments... arguments) const { return call_(object_.get(), arguments...); }

private:
    std::shared_ptr<void> object_;
    Answer (*call_)(void*, Arguments...) = nullptr;
};

/// Takes live bytes, in the thread that drives the run.
using OutputCallback = Callback<void(std::string_view)>;

}  // namespace bailey
