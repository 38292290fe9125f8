// Head and tail of a stream: exact bytes, exact counts, and cuts only between characters.
#include "support.hpp"

using bailey::Keep;
using bailey::process::Capture;

namespace {

constexpr Keep all_keeps[] = {Keep::head_and_tail, Keep::head, Keep::tail};

struct Expected {
    std::string bytes;
    std::size_t gap;
    bool truncated;
};

/// Said in the plainest way: the longest beginning and end that fit and cut no character of this valid UTF-8.
Expected expected(std::string_view text, std::size_t limit, Keep keep) {
    const std::size_t head_limit = keep == Keep::tail ? 0 : keep == Keep::head ? limit : limit - limit / 2;
    const std::size_t tail_limit = limit - head_limit;
    if (text.size() <= limit) return {std::string{text}, text.size(), false};
    const auto starts_character = [&](std::size_t at) { return at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80; };
    std::size_t head = head_limit;
    while (!starts_character(head)) --head;
    std::size_t tail = text.size() - tail_limit;
    while (!starts_character(tail)) ++tail;
    return {std::string{text.substr(0, head)} + std::string{text.substr(tail)}, head, true};
}

}  // namespace

TEST_CASE("capture: every limit, every kind, every chunk size, over characters of one to four bytes") {
    const std::string_view texts[] = {"", "x", "abcdefgh", "aéb日c😀d", "😀😀😀", "日本語", "éééééé", "\xF0\x9F\x98\x80z", "zé"};
    for (const auto text : texts) {
        for (const auto keep : all_keeps) {
            for (std::size_t limit = 0; limit <= text.size() + 2; ++limit) {
                for (std::size_t chunk = 1; chunk <= text.size() + 1; ++chunk) {
                    Capture capture{limit, keep};
                    for (std::size_t at = 0; at < text.size(); at += chunk) capture.append(text.substr(at, chunk));
                    const auto total = capture.total();
                    const auto kept = capture.take();
                    const auto wanted = expected(text, limit, keep);
                    INFO("text ", std::string{text}, ", limit ", limit, ", chunk ", chunk, ", keep ", static_cast<int>(keep));
                    REQUIRE(total == text.size());
                    REQUIRE(kept.bytes == wanted.bytes);
                    REQUIRE(kept.gap == wanted.gap);
                    REQUIRE(kept.truncated == wanted.truncated);
                }
            }
        }
    }
}

TEST_CASE("capture: limit 0 keeps nothing and counts all, limit 1 keeps one byte") {
    for (const auto keep : all_keeps) {
        Capture none{0, keep};
        none.append("abc");
        none.append("");
        CHECK(none.total() == 3);
        const auto kept = none.take();
        CHECK(kept.bytes.empty());
        CHECK(kept.truncated);
        CHECK(kept.gap == 0);

        Capture one{1, keep};
        one.append("ab");
        one.append("c");
        CHECK(one.total() == 3);
        CHECK(one.take().bytes == (keep == Keep::tail ? "c" : "a"));
    }
    Capture untouched{0, Keep::head};
    CHECK_FALSE(untouched.take().truncated);
}

TEST_CASE("capture: the greatest limits keep all") {
    for (const std::size_t limit : {std::size_t{1} << 63U, ~std::size_t{0}}) {
        for (const auto keep : {bailey::Keep::head, bailey::Keep::tail, bailey::Keep::head_and_tail}) {
            bailey::process::Capture capture{limit, keep};
            for (int i = 0; i < 3; ++i) capture.append("abc");
            const auto kept = capture.take();
            CHECK(kept.bytes == "abcabcabc");
            CHECK_FALSE(kept.truncated);
        }
    }
}

TEST_CASE("capture: one huge chunk and many small ones give the same") {
    std::string text;
    for (int line = 0; line < 200'000; ++line) text += std::to_string(line) + " é\n";
    for (const auto keep : all_keeps) {
        for (const std::size_t limit : {1000U, 65536U, 65537U}) {
            Capture whole{limit, keep}, pieces{limit, keep};
            whole.append(text);
            for (std::size_t at = 0, size = 1; at < text.size(); at += size, size = size * 7 % 4093) pieces.append(std::string_view{text}.substr(at, size));
            const auto wanted = expected(text, limit, keep);
            CHECK(whole.total() == text.size());
            CHECK(pieces.total() == text.size());
            CHECK(whole.take().bytes == wanted.bytes);
            const auto kept = pieces.take();
            CHECK(kept.bytes == wanted.bytes);
            CHECK(kept.gap == wanted.gap);
        }
    }
}

TEST_CASE("capture: bytes that are no UTF-8 are kept as they are, up to three at a cut") {
    // Nothing is cut: nothing may be touched, however the bytes look.
    const std::string binary{"\x80\x80\xFF\xC3\0\xE2\x82", 7};
    for (const auto keep : all_keeps) {
        Capture fits{7, keep};
        fits.append(binary);
        CHECK(fits.take().bytes == binary);
    }
    // Five continuation bytes in a row are no end of a character.
    Capture tail{5, Keep::tail};
    tail.append("abc");
    tail.append("\x80\x80\x80\x80\x80");
    CHECK(tail.take().bytes == "\x80\x80\x80\x80\x80");
    Capture head{5, Keep::head};
    head.append("\x80\x80\x80\x80\x80" "abc");
    CHECK(head.take().bytes == "\x80\x80\x80\x80\x80");
    // Every byte value, at any limit: what is kept is a beginning and an end of what was written, short of at most three bytes each.
    std::string all(512, '\0');
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * 7 + i / 256);
    for (std::size_t limit = 0; limit < all.size(); ++limit) {
        Capture capture{limit, Keep::head_and_tail};
        capture.append(all);
        const auto kept = capture.take();
        REQUIRE(kept.truncated);
        REQUIRE(kept.bytes.size() <= limit);
        REQUIRE(kept.bytes.size() + 6 >= limit);
        REQUIRE(all.starts_with(kept.bytes.substr(0, kept.gap)));
        REQUIRE(all.ends_with(kept.bytes.substr(kept.gap)));
    }
}

TEST_CASE("capture: memory is bounded by the limit, not by the stream") {
    std::ofstream{"/proc/self/clear_refs"} << "5";  // VmHWM starts anew
    const long before = process_support::status_number("VmHWM:");
    REQUIRE(before > 0);
    const std::string block(1 << 16, 'x');
    Capture capture{1 << 20, Keep::head_and_tail};
    for (int i = 0; i < 16'000; ++i) capture.append(block);  // 1 GiB
    CHECK(capture.total() == 16'000ULL * (1 << 16));
    CHECK(process_support::status_number("VmHWM:") - before < 4096 + process_support::memory_slack_kib);
}
