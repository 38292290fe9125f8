// Git's configuration grammar and which of it is harmless. Where git is at hand, it is asked the same.
#include <string>
#include <vector>

#include "protect_fixture.hpp"

#include <bailey/srt/git_config.hpp>
#include <bailey/srt/git_config_rules.hpp>
#include <bailey/srt/git_index.hpp>

using bailey::srt::GitConfigEntry;
using bailey::srt::is_harmless_git_config;
using bailey::srt::read_git_config;
using protect::Place;

namespace {
const std::string byte_order_mark = "\xEF\xBB\xBF";

/// As `git config --null --list` prints them.
std::string listed(const std::vector<GitConfigEntry>& entries) {
    std::string text;
    for (const GitConfigEntry& entry : entries) text += entry.name() + "\n" + entry.value + '\0';
    return text;
}
}  // namespace

TEST_CASE("protect: a configuration is read as git reads it") {
    const std::vector<std::string> texts{
        "", "\n", "[a]", "[a]\n", "[a]b", "[a]b=", "[a]b=c", "[a] b = c d  \n", "[a]\tb\t=\tc\t", "[a]b=\"c\"d\"e f \" g ", "[a]b= \"  c \" # d\n", "[a]b=c;d\n",
        "[a]b=\"c;d\"\n", "[a]b=c\\\nd\n", "[a]b=c\\\n  d ; x\\\n[e]f=g", "[a]b=\\t\\n\\b\\\\\\\"", "[A]BcD=EfG", "[a \"B c\"]d=e", "[A.Bc]D=e", "[a \"b\\\"c\\\\d\\e\"]f=g", "[a.b \"c\"]d=e",
        "[a \"b.c\"]d=e", "[a  \t \"b\"]c=d", "[a]b=c[e]d=f", "[a][b]c=d", "[a] [b] c=d ; [e]\n#[f]\n;g\nh=i", "[a]\r\nb=c\r\n[d]\r\ne=f", "[a]b=c\rd", "[a-1]b-2=c", "[a]b=c d\te",
        "[a]b=\"c\\\nd\"", "[a]b=ü", "[a]b=1\nb=2\n[a]b=3", byte_order_mark + "[a]b=c", "[a \"\"]b=c", "[a]\nb\nc=d\n"};
    const Place place;
    for (const std::string& text : texts) {
        CAPTURE(text);
        const auto entries = read_git_config(text);
        Place::write(place.base + "/c", text);
        const bool accepted = place.sh("git config --null --file ../c --list") == 0;
        CHECK(accepted);
        REQUIRE(entries.has_value());
        // git separates name and value by a line end, and leaves it out when there is no value; an empty subsection has two dots
        std::string theirs = place.log(), ours = listed(*entries);
        if (text == "[a]b" || text == "[a]\nb\nc=d\n") theirs.insert(3, "\n");
        if (text == "[a \"\"]b=c") theirs.erase(1, 1);
        CHECK(ours == theirs);
    }
    for (const char* text : {"a=b", "[a", "[a \"b]c=d", "[a \"b\" ]c=d", "[a b]c=d", "[]a=b", "[a]=b", "[a]b c", "[a]b #c\n", "[a]b=\"c", "[a]b=\\q", "[a]b=c\\", "[a]1=b", "[a_b]c=d", "[a]b_c=d", "[a \"b\nc\"]d=e",
                             "[a]b=\x01", "\xEF\xBB[a]b=c"}) {
        CAPTURE(text);
        CHECK_FALSE(read_git_config(text).has_value());
    }
    CHECK_FALSE(read_git_config(std::string{"[a]b=c\0d", 8}).has_value());
}

TEST_CASE("protect: harmless and harmful configuration") {
    const auto harmless = [](const std::string& text) {
        const auto entries = read_git_config(text);
        return entries && entries->size() == 1 && is_harmless_git_config(entries->front());
    };
    for (const char* text : {"[core]bare=true", "[CORE]FileMode=false", "[extensions]objectFormat=sha256", "[user]name=x", "[remote \"o\"]url=https://a.b/c", "[remote \"o\"]url=../x",
                             "[remote \"o\"]url=git@host:x/y", "[remote \"o\"]url=/x y/z", "[remote \"o\"]fetch=+refs/heads/*:refs/remotes/o/*", "[branch \"m\"]remote=.", "[branch \"m\"]merge=refs/heads/m",
                             "[branch \"m\"]rebase=true", "[submodule \"s\"]url=./x", "[submodule \"s\"]active=true", "[submodule]active=.", "[submodule \"s\"]update=none", "[commit]gpgsign=false",
                             "[remote \"o\"]tagopt=--no-tags", "[remote \"o\"]promisor=true", "[init]defaultBranch=x"}) {
        CAPTURE(text);
        CHECK(harmless(text));
    }
    for (const char* text : {"[core]fsmonitor=true", "[core]fsmonitor", "[core]hooksPath=x", "[core]sshCommand=x", "[core]pager=x", "[core]editor=x", "[core]worktree=x", "[core]attributesFile=x", "[core]gitProxy=x",
                             "[core]alternateRefsCommand=x", "[core]askPass=x", "[core \"x\"]bare=true", "[core.x]bare=true", "[include]path=x", "[includeIf \"gitdir:x\"]path=x", "[alias]st=!x", "[alias \"st\"]command=!x",
                             "[filter \"x\"]clean=y", "[filter \"x\"]process=y", "[diff]external=x", "[diff \"x\"]textconv=y", "[diff \"x\"]command=y", "[merge \"x\"]driver=y", "[mergetool \"x\"]cmd=y", "[pager]status=x",
                             "[gpg]program=x", "[gpg \"ssh\"]defaultKeyCommand=x", "[credential]helper=!x", "[credential \"u\"]helper=x", "[sequence]editor=x", "[http]proxy=x", "[url \"ext::x\"]insteadOf=https://a.b",
                             "[remote \"o\"]url=ext::sh", "[remote \"o\"]url=-x", "[remote \"o\"]url=ssh://-oProxyCommand=x/y", "[remote \"o\"]url=weird://x", "[remote \"o\"]uploadpack=x", "[remote \"o\"]receivepack=x",
                             "[remote \"o\"]vcs=x", "[remote \"o\"]proxy=x", "[branch \"m\"]remote=ext::x", "[branch \"m\"]mergeOptions=x", "[submodule \"s\"]update=!x", "[submodule \"s\"]url=ext::x", "[uploadpack]packObjectsHook=x",
                             "[commit]gpgsign=true", "[init]templateDir=x", "[protocol \"ext\"]allow=always", "[trailer \"x\"]command=y", "[browser \"x\"]cmd=y", "[interactive]diffFilter=x", "[gc]auto=;x", "[sendemail]smtpserver=x",
                             "[log]showSignature=true", "[rebase]instructionFormat=x", "[user]signingkey=x", "[man \"x\"]cmd=y", "[instaweb]httpd=x", "[remote]pushDefault=ext::x", "[blame]ignoreRevsFile=x", "[x]y=z"}) {
        CAPTURE(text);
        CHECK_FALSE(harmless(text));
    }
}

TEST_CASE("protect: an index cut or bent anywhere is read within its bounds") {
    const Place place;
    place.make("git init -q n && git -C n commit -q --allow-empty -m n && git init -q . && mkdir d && echo 1 >d/f && git add n d");
    for (const char* version : {"2", "4"}) {
        place.make(std::string{"git update-index --index-version "} + version);
        const std::string index = Place::read(place.workspace + "/.git/index");
        const auto links = bailey::srt::read_git_links(index, 20);
        CHECK(links.certain);
        CHECK(links.paths == std::vector<std::string>{"n"});
        for (std::size_t size = 0; size < index.size(); ++size) {
            CHECK_FALSE(bailey::srt::read_git_links(std::string_view{index}.substr(0, size), 20).certain);
        }
        for (std::size_t at = 0; at < index.size(); ++at) {
            for (const int bits : {1, 0x40, 0x80, 0xFF}) {
                std::string bent = index;
                bent[at] = static_cast<char>(bent[at] ^ bits);
                static_cast<void>(bailey::srt::read_git_links(bent, 20));
                static_cast<void>(bailey::srt::read_git_links(bent, 32));
            }
        }
    }
}

TEST_CASE("protect: an index that says where its blocks begin, for several threads") {
    const Place place;
    for (const char* version : {"2", "4"}) {
        place.make(std::string{"rm -rf .git; git init -q . && git config index.threads 4 && z=$(echo | git hash-object -w --stdin) && i=10000\n"
                               "while [ $i -lt 45000 ]; do echo \"100644 $z 0\tdir/file$i\"; i=$((i+1)); done >../list; echo \"160000 $z 0\tdir/file3x\" >>../list\n"
                               "git update-index --index-version "} + version + " && sed 's/\\\\t/\t/' ../list | git update-index --index-info");
        const std::string index = Place::read(place.workspace + "/.git/index");
        CHECK(index.find("IEOT") != std::string::npos);
        auto links = bailey::srt::read_git_links(index, 20);
        CHECK(links.certain);
        REQUIRE_FALSE(links.paths.empty());
        for (const std::string& path : links.paths) CHECK(path == "dir/file3x");
        std::string bent = index;  // the place where the entries end, as told to threads
        bent[index.rfind("EOIE") + 11] = static_cast<char>(bent[index.rfind("EOIE") + 11] ^ 1);
        CHECK_FALSE(bailey::srt::read_git_links(bent, 20).certain);
    }
}
