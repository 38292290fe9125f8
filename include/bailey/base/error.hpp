// What can go wrong, as exceptions and, without them, as values.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <bailey/base/format.hpp>

namespace bailey {

enum class ErrorCode {
    policy,           ///< a value that the grammar refuses, a root or grant that is missing or no longer the same
    srt_unavailable,  ///< srt, node, bwrap, socat or rg missing, too old, or writable by the sandbox itself
    sandbox_start,    ///< srt ran but the sandbox did not come up; the command never started
    process,          ///< a system call failed: errno and the call
    callback,         ///< a callback of the caller's threw; cause() is what it threw
};

[[nodiscard]] constexpr std::string_view to_string(ErrorCode code) {
    switch (code) {
        case ErrorCode::policy: return "policy";
        case ErrorCode::srt_unavailable: return "srt_unavailable";
        case ErrorCode::sandbox_start: return "sandbox_start";
        case ErrorCode::process: return "process";
        case ErrorCode::callback: return "callback";
    }
    return "unknown";
}

/// The base of all that bailey throws, and the value in a failed Result.
struct Error : std::runtime_error {
    Error(ErrorCode code, const std::string& message, int error_number = 0)
        : std::runtime_error{message}, code_{code}, error_number_{error_number} {}
    Error(ErrorCode code, const std::string& message, std::exception_ptr cause)
        : std::runtime_error{message}, code_{code}, cause_{std::move(cause)} {}

    [[nodiscard]] ErrorCode code() const { return code_; }
    [[nodiscard]] int error_number() const { return error_number_; }            ///< errno of the call that failed, or 0
    [[nodiscard]] const std::exception_ptr& cause() const { return cause_; }    ///< what a callback threw, or null

private:
    ErrorCode code_;
    int error_number_ = 0;
    std::exception_ptr cause_;
};

/// One type per code, so that a catch clause can name what it handles.
template <ErrorCode Code>
struct ErrorOf : Error {
    explicit ErrorOf(const std::string& message, int error_number = 0) : Error{Code, message, error_number} {}
};
struct PolicyError : ErrorOf<ErrorCode::policy> { using ErrorOf::ErrorOf; };
struct SrtUnavailableError : ErrorOf<ErrorCode::srt_unavailable> { using ErrorOf::ErrorOf; };
struct SandboxStartError : ErrorOf<ErrorCode::sandbox_start> { using ErrorOf::ErrorOf; };
struct ProcessError : ErrorOf<ErrorCode::process> { using ErrorOf::ErrorOf; };

#if defined(__cpp_exceptions)
/// Throws an Error as the type that its code names, or what the caller's own callback threw.
[[noreturn]] inline void raise(const Error& error) {
    if (error.cause()) std::rethrow_exception(error.cause());
    switch (error.code()) {
        case ErrorCode::policy: throw PolicyError{error.what(), error.error_number()};
        case ErrorCode::srt_unavailable: throw SrtUnavailableError{error.what(), error.error_number()};
        case ErrorCode::sandbox_start: throw SandboxStartError{error.what(), error.error_number()};
        case ErrorCode::process: throw ProcessError{error.what(), error.error_number()};
        case ErrorCode::callback: break;
    }
    throw error;
}
#endif

/// A value or an Error. `*result` and `result->` need a value; `value()` throws the Error instead.
/// A union and not an optional or a variant: those would be most of what this header costs a compiler.
template <class T>
class [[nodiscard]] Result {
public:
    using value_type = T;

    Result(T value) : has_value_{true}, value_{std::move(value)} {}       // NOLINT: implicit, so that `return value;` reads as it should
    Result(Error error) : has_value_{false}, error_{std::move(error)} {}  // NOLINT: likewise `return error;`
    Result(Result&& other) noexcept : has_value_{other.has_value_} { take(std::move(other)); }
    Result(const Result& other)
        requires(std::is_copy_constructible_v<T>)
        : has_value_{other.has_value_} {
        take(other);
    }
    Result& operator=(Result&& other) noexcept {
        if (this != &other) {
            destroy();
            has_value_ = other.has_value_;
            take(std::move(other));
        }
        return *this;
    }
    Result& operator=(const Result&) = delete;
    ~Result() { destroy(); }

    [[nodiscard]] bool has_value() const { return has_value_; }
    [[nodiscard]] explicit operator bool() const { return has_value_; }

    [[nodiscard]] T& operator*() & { return value_; }
    [[nodiscard]] const T& operator*() const& { return value_; }
    [[nodiscard]] T&& operator*() && { return std::move(value_); }
    [[nodiscard]] T* operator->() { return &value_; }
    [[nodiscard]] const T* operator->() const { return &value_; }

    /// Only when there is no value.
    [[nodiscard]] const Error& error() const { return error_; }

#if defined(__cpp_exceptions)
    [[nodiscard]] T& value() & { return check(), value_; }
    [[nodiscard]] const T& value() const& { return check(), value_; }
    [[nodiscard]] T&& value() && { return check(), std::move(value_); }
#endif

private:
#if defined(__cpp_exceptions)
    void check() const {
        if (!has_value_) raise(error_);
    }
#endif
    template <class Other>
    void take(Other&& other) {
        if (has_value_) {
            ::new (static_cast<void*>(&value_)) T(std::forward<Other>(other).value_);
        } else {
            ::new (static_cast<void*>(&error_)) Error(std::forward<Other>(other).error_);
        }
    }
    void destroy() {
        if (has_value_) {
            value_.~T();
        } else {
            error_.~Error();
        }
    }

    bool has_value_;
    union {
        T value_;
        Error error_;
    };
};

/// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
public:
    using value_type = void;

    Result() = default;
    Result(Error error) : error_{std::move(error)} {}  // NOLINT: implicit, so that `return error;` reads as it should

    [[nodiscard]] bool has_value() const { return !error_; }
    [[nodiscard]] explicit operator bool() const { return has_value(); }
    [[nodiscard]] const Error& error() const { return *error_; }

#if defined(__cpp_exceptions)
    void value() const {
        if (error_) raise(*error_);
    }
#endif

private:
    std::optional<Error> error_;
};

}  // namespace bailey

#if defined(BAILEY_USE_STD_FORMAT)
template <>
struct std::formatter<bailey::ErrorCode> : bailey::text::named_formatter<bailey::ErrorCode> {};
#else
template <>
struct fmt::formatter<bailey::ErrorCode> : bailey::text::named_formatter<bailey::ErrorCode> {};
#endif
