// Setuid and setgid files that a command made lose their bits; all else stays as it is.
#include "protect_fixture.hpp"

#include <time.h>

#include <bailey/srt/setuid_files.hpp>

using protect::Place;
using protect::told;

namespace {
mode_t mode_of(const std::string& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 07777;
}
}  // namespace

TEST_CASE("protect: setuid and setgid files are stripped") {
    const Place place;
    place.make("mkdir -p a/b && : >old && chmod 4755 old && : >\"$E/victim\" && chmod 4755 \"$E/victim\" && : >plain && sleep 0.1");
    timespec since{};
    ::clock_gettime(CLOCK_REALTIME, &since);
    place.make("cp /bin/true a/b/suid && chmod 4711 a/b/suid && : >a/sgid && chmod 2644 a/sgid && : >both && chmod 6000 both && mkdir sgiddir && chmod 2755 sgiddir && ln -s \"$E/victim\" link && ln -s \"$E\" dir && ln a/sgid a/again");
    const auto violations = bailey::srt::strip_setuid_files({place.workspace}, since);
    INFO(told(violations));
    CHECK(violations.size() == 3);
    for (const bailey::Violation& violation : violations) {
        CHECK(violation.kind == bailey::ViolationKind::setuid_file);
        CHECK(violation.certain);
    }
    CHECK(mode_of(place.workspace + "/a/b/suid") == 0711);
    CHECK(mode_of(place.workspace + "/a/sgid") == 0644);
    CHECK(mode_of(place.workspace + "/both") == 0);
    CHECK(mode_of(place.workspace + "/old") == 04755);
    CHECK(mode_of(place.workspace + "/sgiddir") == 02755);
    CHECK(mode_of(place.outside + "/victim") == 04755);
    CHECK(bailey::srt::strip_setuid_files({place.workspace, place.base + "/none"}, since).empty());
}

TEST_CASE("protect: a setuid file deep down") {
    const Place place;
    timespec since{};
    ::clock_gettime(CLOCK_REALTIME, &since);
    place.make("i=0; while [ $i -lt 150 ]; do mkdir d && cd d; i=$((i+1)); done; : >s && chmod 4755 s");
    const auto violations = bailey::srt::strip_setuid_files({place.workspace}, since);
    REQUIRE(violations.size() == 1);
    CHECK(mode_of(violations[0].subject) == 0755);
}

TEST_CASE("protect: a directory that somebody removes meanwhile is not said to be one that cannot be listed") {
    const Place place;
    const std::string gone = place.workspace + "/gone";
    for (const int how : {O_RDONLY, bailey::srt::detail::search_only}) {
        REQUIRE(::mkdir(gone.c_str(), 0700) == 0);
        const bailey::process::Fd directory{::open(gone.c_str(), how | O_DIRECTORY | O_CLOEXEC)};
        REQUIRE(directory);
        REQUIRE(::rmdir(gone.c_str()) == 0);
        CHECK(bailey::srt::list_directory(directory.get(), [](std::string_view, unsigned char) { return true; }));
    }
}
