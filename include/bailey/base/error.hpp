// What can go wrong, as exceptions and, without them, as values.
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
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
template <class T>
class [[nodiscard]] Result {
public:
    using value_type = T;

    Result(T value) : value_{std::move(value)} {}        // NOLINT: implicit, so that `return value;` reads as it should
    Result(Error error) : error_{std::move(error)} {}    // NOLINT: likewise `return error;`

    [[nodiscard]] bool has_value() const { return value_.has_value(); }
    [[nodiscard]] explicit operator bool() const { return has_value(); }

    [[nodiscard]] T& operator*() & { return *value_; }
    [[nodiscard]] const T& operator*() const& { return *value_; }
    [[nodiscard]] T&& operator*() && { return std::move(*value_); }
    [[nodiscard]] T* operator->() { return &*value_; }
    [[nodiscard]] const T* operator->() const { return &*value_; }

    /// Only when there is no value.
    [[nodiscard]] const Error& error() const { return *error_; }

#if defined(__cpp_exceptions)
    [[nodiscard]] T& value() & { return check(), *value_; }
    [[nodiscard]] const T& value() const& { return check(), *value_; }
    [[nodiscard]] T&& value() && { return check(), std::move(*value_); }
#endif

private:
#if defined(__cpp_exceptions)
    void check() const {
        if (error_) raise(*error_);
    }
#endif
    std::optional<T> value_;
    std::optional<Error> error_;
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
