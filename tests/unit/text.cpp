// What is shown to people and models: one line, nothing that steers a terminal or deceives a reader, and always UTF-8.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include <bailey/base/text.hpp>

TEST_CASE("text: quoted spells out what is not plain") {
    struct Row {
        std::string_view given, shown;
    };
    const Row rows[] = {
        {"", R"("")"},
        {"a b/c.txt", R"("a b/c.txt")"},
        {"quote\" back\\", R"("quote\" back\\")"},
        {"new\nline\ttab\x1b[31m\x7f", R"("new\x0aline\x09tab\x1b[31m\x7f")"},
        {"\xc2\x9b" "31m", R"("\xc2\x9b31m")"},                          // CSI as one character
        {"\xc2\xa0\xc3\xa4", "\"\xc2\xa0\xc3\xa4\""},               // U+00A0, ä
        {"\xe6\x97\xa5\xf0\x9f\x8f\xb0", "\"\xe6\x97\xa5\xf0\x9f\x8f\xb0\""},
        {"exe\xe2\x80\xaetxt", R"("exe\xe2\x80\xaetxt")"},               // right to left from here
        {"\xe2\x81\xa6\xe2\x81\xb0", "\"\\xe2\\x81\\xa6\xe2\x81\xb0\""},  // an isolate; superscript zero
        {"\xef\xbb\xbf", R"("\xef\xbb\xbf")"},
        {"\xff\xfe", R"("\xff\xfe")"},
        {"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", R"("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80")"},  // overlong, a surrogate, beyond Unicode
        {"cut \xe6\x97", R"("cut \xe6\x97")"},
        {std::string_view{"nul\0", 4}, R"("nul\x00")"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.shown);
        const auto shown = bailey::text::quoted(row.given);
        CHECK(shown == row.shown);
        CHECK(bailey::text::is_utf8(shown));
        CHECK(shown.find('\n') == shown.npos);
    }
}

TEST_CASE("text: what is no UTF-8 is replaced byte by byte, and nothing else is") {
    CHECK(bailey::text::to_utf8("a\xff\xe6\x97") == "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(bailey::text::to_utf8("\xe6\x97\xa5") == "\xe6\x97\xa5");
}
