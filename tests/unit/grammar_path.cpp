// Which paths grants and denials can name, at run time.
#include <doctest/doctest.h>

#include <string>

#include <bailey/grammar/path.hpp>

using namespace bailey::grammar;
using namespace std::string_literals;

namespace {
PathFault kind(const std::string& path, PathUse use = PathUse::read) { return path_fault(path, use).kind; }
}  // namespace

TEST_CASE("paths: names of any bytes but NUL are fine") {
    for (const auto& path :
         {"/etc/ssl"s,       "src"s,           "./src"s,       "src/"s,    "src//lib"s,   "."s,         "./"s,
          ".env"s,           "..."s,           "..a"s,         "a.."s,     " "s,          "a b"s,       "a\nb"s,
          "a\tb"s,           "[wip] project"s, "{x,y}"s,       "-dash"s,   "$HOME"s,      "quo\"te's"s, "back\\slash"s,
          "m\xc3\xbcnchen"s, "\xff\xfe"s,      "a~b"s,         "a/~b"s,    "./~bob"s,     "~"s,         "~/"s,
          "~/.cargo"s,       "~/a/../b"s,      "/tmp/../opt"s, "/../opt"s, "/x/../../y"s, "a/.."s,      "a/../b"s,
          "a/b/../../c"s}) {
        CAPTURE(std::string{path});
        CHECK(kind(path, PathUse::read) == PathFault::none);
        CHECK(kind(path, PathUse::write) == PathFault::none);
        CHECK(kind(path, PathUse::deny) == PathFault::none);
        CHECK(kind(path, PathUse::socket) == PathFault::none);
    }
}

TEST_CASE("paths: empty, NUL and patterns are refused") {
    CHECK(kind("") == PathFault::empty);
    CHECK(kind("a\0b"s) == PathFault::nul);
    CHECK(path_fault("a\0b"s, PathUse::write).position == 1);
    for (const auto& path : {"*", "**", "**/.env", "*.key", "src/*", "a?b", "/tmp/*", "~/*"})
        CHECK(kind(path, PathUse::deny) == PathFault::pattern);
    CHECK(path_fault("src/*.c", PathUse::read).position == 4);
}

TEST_CASE("paths: another user's home is refused") {
    CHECK(kind("~bob") == PathFault::other_home);
    CHECK(kind("~bob/x") == PathFault::other_home);
    CHECK(kind("~~") == PathFault::other_home);
    CHECK(kind("~+/x") == PathFault::other_home);
}

TEST_CASE("paths: a relative path does not climb out") {
    for (const auto& path :
         {"..", "../", "../x", "./..", "a/../..", "a/../../b", "a/./../../b", "~/..", "~/../bob", "~/a/../../bob"}) {
        CAPTURE(std::string{path});
        CHECK(kind(path) == PathFault::climbs);
        CHECK(kind(path, PathUse::deny) == PathFault::climbs);
    }
    CHECK(path_fault("a/../../b", PathUse::read).position == 5);
}

TEST_CASE("paths: the root of the file system is refused in every spelling") {
    for (const auto& path : {"/", "//", "/.", "/./", "/..", "/../..", "/tmp/..", "/tmp/../"}) {
        CAPTURE(std::string{path});
        CHECK(kind(path, PathUse::read) == PathFault::root_read);
        CHECK(kind(path, PathUse::write) == PathFault::root_write);
        CHECK(kind(path, PathUse::deny) == PathFault::root_denied);
        CHECK(kind(path, PathUse::socket) == PathFault::root_socket);
    }
}
