// What a rule answers: which rule a value breaks and where; and how that is said, to a compiler's user and at run time alike.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <bailey/base/fixed_string.hpp>
#include <bailey/base/text.hpp>

namespace bailey::grammar {

/// The first fault of a value; Kind::none when it has none.
template <class Kind>
struct Fault {
    Kind kind = Kind::none;
    std::size_t position = 0;  ///< offset of the offending character, from 0

    [[nodiscard]] constexpr explicit operator bool() const { return kind != Kind::none; }
    [[nodiscard]] constexpr bool operator==(const Fault&) const = default;
};

// A refused literal is spelled out in the name of a type, the one form that gcc 12 and clang 14 both print readably:
//   refused_domain<DomainFault::scheme, at<5>, text<'h', 't', 't', 'p', 's', ':', ...>>
template <char...>
struct text {};
template <std::size_t>
struct at {};

// An unqualified call with a pointer to such a type: looking for overloads, the compiler looks into the type, where an assertion
// fails; and nothing that stands around the call needs the type, so that our sentence is the only error (clang takes sizeof, {}
// or a trait of a type with a failed assertion for a second one).
constexpr void look_into(const void*) {}

template <fixed_string Value, std::size_t... I>
text<Value.chars[I]...> spell(std::index_sequence<I...>);
template <fixed_string Value>
using spelled = decltype(spell<Value>(std::make_index_sequence<Value.view().size()>{}));

/// A fold over && that has no limit: clang refuses to fold more than 256 arguments.
[[nodiscard]] consteval bool all(std::initializer_list<bool> checks) {
    for (const bool check : checks)
        if (!check) return false;
    return true;
}

/// The same sentence that a compiler prints, then where it happened:
///   bailey: a domain has no scheme; ... (in DomainAllowlist: "https://example.com", at byte 5)
[[nodiscard]] inline std::string refusal(std::string_view sentence, std::string_view where, std::string_view value,
                                         std::size_t position) {
    std::string result = "bailey: ";
    result.append(sentence).append(" (in ").append(where).append(": ").append(bailey::text::quoted(value));
    if (position > 0) result.append(", at byte ").append(std::to_string(position));
    return result.append(")");
}

}  // namespace bailey::grammar
