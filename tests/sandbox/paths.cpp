// How paths are spelled, what they lead to when they are used, and what a command may try with them.
#include "inside.hpp"

#include <sys/stat.h>

using namespace support;
using namespace bailey;

namespace {

/// A workspace's root, and a directory outside it with a file that is nobody's business.
struct Terrain {
    TempDir root{"bailey-files"}, outside{"bailey-outside"};
    Terrain() {
        write(outside / "victim", "original\n");
        fs::create_directories(outside / "data");
        write(outside / "data/file", "data\n");
    }
};

std::string left_over_in_tmp() { return host_output("ls -A /tmp | grep -E '^(claude-|srt-)'"); }

}  // namespace

// ---- spelling ----

TEST_CASE("F01 a workspace reached through a symlink is the directory it leads to") {
    TempDir at;
    fs::create_directories(at / "real");
    fs::create_directory_symlink("real", at / "link");
    const auto opened = workspace(at / "link");
    CHECK(opened.root() == at / "real");
    const auto result = opened.run("touch a && ls a; pwd -P; pwd; echo $HOME");
    INFO(shown(result));
    CHECK(result.out == "a\n" + (at / "real") + "\n" + (at / "real") + "\n" + (at / "real") + "\n");
    CHECK(fs::exists(at / "real/a"));

    // Grants and denials as well.
    TempDir root, outside;
    fs::create_directories(outside / "real");
    fs::create_directory_symlink("real", outside / "link");
    write(outside / "real/file", "x\n");
    const auto in = answers(workspace(root.path(), runtime::AllowWrite{outside / "link"}), "try write 'echo y >" + (outside / "real/file") + "'\n");
    CHECK(in["write"] == "yes");
    fs::create_directories(root / "vault");
    write(root / "vault/key", "x\n");
    fs::create_symlink("vault/key", root / "key");
    const auto denied = workspace(root.path(), runtime::DenyRead{"key"});
    CHECK(noted(denied.boundary(), "is a symlink"));
    CHECK(answers(denied, "try key 'cat key || cat vault/key'\n")["key"] == "no");
}

TEST_CASE("F26 policy paths: normalised, or refused with the reason; \"..\" never widens") {
    TempDir root, outside;
    fs::create_directories(root / "sub");
    fs::create_directories(outside / "home/data");
    const HostVariable home{"HOME", (outside / "home").c_str()};
    const auto grants = [&](const std::string& spelled) { return workspace(root.path(), ReadOnly{}, runtime::AllowWrite{spelled}).boundary().write_grants; };
    CHECK(grants(root / "../" + fs::path{root.path()}.filename().string() + "/./sub//") == std::vector{root / "sub"});
    CHECK(grants("sub") == std::vector{root / "sub"});
    CHECK(grants("./sub/../sub/.") == std::vector{root / "sub"});
    CHECK(grants("~/data") == std::vector{outside / "home/data"});
    CHECK(grants("~") == std::vector{outside / "home"});
    using namespace std::string_literals;
    CHECK(holds(refusal(root.path(), runtime::AllowWrite{""}), "a path is empty"));
    CHECK(holds(refusal(root.path(), runtime::AllowWrite{"a\0b"s}), "NUL"));
    CHECK(holds(refusal(root.path(), runtime::AllowWrite{"/"}), "whole file system"));
    CHECK(holds(refusal(root.path(), runtime::AllowRead{"/"}), "whole file system"));
    CHECK(holds(refusal(root.path(), runtime::AllowWrite{"/usr/.."}), "whole file system"));
    CHECK(holds(refusal(root.path(), runtime::AllowWrite{"../x"}), "does not leave"));
    CHECK(holds(refusal(root.path(), runtime::AllowRead{"sub/../../x"}), "does not leave"));
    CHECK(holds(refusal(root.path(), runtime::AllowRead{"~root/x"}), "the host user's"));
    CHECK(holds(refusal(root.path(), runtime::AllowWrite{"/proc/self"}), "kernel's own"));
    for (const auto& bad : {""s, "/does/not/exist"s, "/"s, "/etc/passwd"s, "/proc"s, "a\0b"s}) CHECK(refusal(bad) != "");

    // A link that climbs out from inside is what it leads to, and said by its real name.
    fs::create_directory_symlink(outside.path(), root / "out");
    CHECK(grants("out") == std::vector{outside.path()});

    const auto here = fs::current_path();
    fs::current_path(root.path());
    const auto relative = workspace("sub");
    fs::current_path(here);
    CHECK(relative.root() == root / "sub");
    CHECK(relative.run("pwd").out == (root / "sub") + "\n");
}

TEST_CASE("F28 weird names, of workspaces, grants and denials") {
    TempDir at, outside;
    std::vector<std::string> names{"a b", "日本", "[x]", "*", "it's", "q\"q", "line\nfeed", "$HOME", "-rf", "back\\slash", "p(1)", "semi;colon", "~", "amp&",
                                   "#h", "%20", ".hidden", std::string(200, 'n'), "?", "{a,b}", "trailing ", "tab\there", "`id`", "[WIP] a*b", "x --proc /proc --unsetenv y"};
    for (const auto& name : names) {
        CAPTURE(name);
        const auto root = at / name;
        fs::create_directories(root);
        fs::create_directories(outside / ("r/" + name));
        fs::create_directories(outside / ("w/" + name));
        write(outside / ("r/" + name + "/file"), "readable\n");
        fs::create_directories(root + "/d/" + name);
        write(root + "/d/" + name + "/key", "secret\n");
        fs::create_directories(fs::path{root + "/x" + name}.parent_path());
        write(root + "/x" + name, "fixed\n");

        const std::string text = "R=" + shell_word(outside / ("r/" + name)) + " P=" + shell_word(outside / ("w/" + name)) + " N=" + shell_word(name) + "\n" + R"sh(
try own 'echo ok >f && grep -q ok f'
try home '[ "$HOME" = "$PWD" ]'
try readable 'cat "$R/file"'
try readable-write 'echo x >"$R/file"'
try writable 'echo x >"$P/new"'
try key 'cat "d/$N/key"'
try fixed 'echo x >"x$N"'
)sh";
        const bool pattern = name.find_first_of("*?") != name.npos;
        const auto in = pattern ? answers(workspace(root), text)
                                : answers(workspace(root, runtime::AllowRead{outside / ("r/" + name)}, runtime::AllowWrite{outside / ("w/" + name)},
                                                    runtime::DenyRead{"d/" + name}, runtime::DenyWrite{"x" + name}), text);
        CHECK(in["own"] == "yes");
        CHECK(in["home"] == "yes");
        CHECK(in["readable-write"] == "no");
        CHECK(in["readable"] == (pattern ? "no" : "yes"));
        CHECK(in["writable"] == (pattern ? "no" : "yes"));
        CHECK(in["key"] == (pattern ? "yes" : "no"));
        CHECK(in["fixed"] == (pattern ? "yes" : "no"));
    }
}

TEST_CASE("a workspace can lie in /opt, in /tmp, in a home") {
    const auto text = R"sh(
try own 'echo x >new && grep -q x new && rm new'
say beside $(ls -A .. | grep -v "^${PWD##*/}$" | head -n 1)
try create 'echo x >../bailey-beside-$$ && [ -s ../bailey-beside-$$ ]'
try tmpdir 'f=$(mktemp) && echo x >$f'
rm -f ../bailey-beside-$$
)sh";
    const auto fresh = [](std::string path) {
        path += "/bailey-files-XXXXXX";
        REQUIRE(::mkdtemp(path.data()) != nullptr);
        return path;
    };
    SUBCASE("/opt, which is readable") {
        const auto root = fresh("/opt");
        const auto in = answers(workspace(root), text);
        CHECK(in["own"] == "yes");
        CHECK(in["create"] == "no");
        CHECK(in["beside"] != "");
        fs::remove_all(root);
    }
    SUBCASE("/tmp") {
        const auto root = fresh("/tmp");
        const auto shared = answers(workspace(root), text);
        CHECK(shared["own"] == "yes");
        CHECK(shared["create"] == "yes");
        const auto hidden = answers(workspace(root, PrivateTmp{}), text);
        CHECK(hidden["own"] == "yes");
        CHECK(hidden["beside"] == left_in_private_tmp());
        CHECK(hidden["tmpdir"] == "yes");
        const auto fixed = answers(workspace(root, ReadOnly{}), text);
        CHECK(fixed["own"] == "no");
        CHECK(fixed["create"] == "no");
        CHECK(fixed["beside"] != "");
        CHECK(fixed["tmpdir"] == "yes");
        write(root + "/file", "mine\n");
        const auto both = answers(workspace(root, ReadOnly{}, PrivateTmp{}), std::string{text} + "try read 'cat file'\n");
        CHECK(both["own"] == "no");
        CHECK(both["read"] == "yes");
        CHECK(both["beside"] == left_in_private_tmp());
        fs::remove_all(root);
    }
    SUBCASE("a home") {
        const auto root = fresh(ordinary_user().pw_dir);
        const auto in = answers(workspace(root), text);
        CHECK(in["own"] == "yes");
        CHECK(in["beside"] == "");
        fs::remove_all(root);
    }
}

// ---- what a command may try ----

TEST_CASE("F03 F04 F05 F07 links lead to nothing outside, for commands and for the host's own reading and writing") {
    Terrain at;
    fs::create_symlink(at.outside / "victim", at.root / "notes.md");
    fs::create_symlink(at.outside / "new", at.root / "draft");
    fs::create_directory_symlink(at.outside.path(), at.root / "dir");
    const auto opened = workspace(at.root.path(), runtime::AllowRead{at.outside.path()});
    const auto in = answers(opened, "O=" + at.outside.path() + "\n" + R"sh(
try visible 'grep -q original notes.md'
try overwrite 'echo OWNED >notes.md'
try dangling 'echo x >draft'
try through 'echo x >dir/new'
try hardlink 'ln $O/victim mine'
try hardlink-write 'ln -P $O/victim mine2; echo BAD >>mine2; cmp mine2 $O/victim'
ln -s / escape
rm -f mine2
)sh");
    CHECK(in["visible"] == "yes");
    for (const auto* label : {"overwrite", "dangling", "through", "hardlink", "hardlink-write"}) CHECK(in[label] == "no");
    CHECK(read(at.outside / "victim") == "original\n");
    CHECK_FALSE(fs::exists(at.outside / "new"));

    for (const auto* path : {"escape/etc/hostname", "notes.md", "dir/victim", "escape"}) {
        CAPTURE(path);
        const auto got = opened.try_read_text(path);
        REQUIRE_FALSE(got);
        CHECK(got.error().code() == ErrorCode::policy);
    }
    for (const auto& path : {"escape" + at.outside.path() + "/x", std::string{"notes.md"}, std::string{"draft"}, std::string{"dir/new"}, std::string{"../x"}, std::string{"/etc/x"}}) {
        CAPTURE(path);
        const auto done = opened.try_write_text(path, "OWNED");
        REQUIRE_FALSE(done);
        CHECK(done.error().code() == ErrorCode::policy);
    }
    CHECK(read(at.outside / "victim") == "original\n");
    CHECK_FALSE(fs::exists(at.outside / "x"));
    opened.write_text("plain.txt", "fine\n");
    CHECK(opened.read_text("plain.txt") == "fine\n");
}

TEST_CASE("F16 the root itself cannot be moved or removed") {
    Terrain at;
    write(at.root / "file", "");
    const auto opened = workspace(at.root.path(), runtime::Env{{"W", at.root.path()}});
    opened.run("cd / && rm -rf \"$W\"; mv \"$W\" \"$W.x\"; rmdir \"$W\"; ln -sfn / \"$W\"");
    CHECK(fs::is_directory(fs::symlink_status(at.root.path())));
    CHECK_FALSE(fs::exists(at.root.path() + ".x"));
    CHECK(opened.run("echo next").out == "next\n");
}

TEST_CASE("F18 a working directory that is gone is said so, and the next command runs") {
    Terrain at;
    const auto opened = workspace(at.root.path());
    CHECK(opened.run("mkdir d").ok());
    CHECK(opened.run("rmdir ../d; echo removed", {.cwd = "d"}).out == "removed\n");
    const auto gone = opened.try_run("echo ran >../ran", {.cwd = "d"});
    REQUIRE_FALSE(gone);
    CHECK(gone.error().code() == ErrorCode::policy);
    CHECK(holds(gone.error().what(), "\"d\" cannot be entered"));
    CHECK_FALSE(fs::exists(at.root / "ran"));
    for (const auto* outside : {"..", "/", "/tmp", "d/../.."}) CHECK_FALSE(opened.try_run("true", {.cwd = outside}));
    CHECK(opened.run("echo fine").out == "fine\n");
}

TEST_CASE("F19 F20 no litter, neither after a normal run nor after a stop") {
    Terrain at;
    write(at.root / ".bashrc", "");  // a user's own empty file stays
    write(at.root / "file", "mine\n");
    const auto before = listing(at.root.path()), in_tmp = left_over_in_tmp();
    const auto opened = workspace(at.root.path(), runtime::DenyRead{"missing/secret"});
    CHECK(opened.run("true").ok());
    CHECK(listing(at.root.path()) == before);
    for (const auto after : {100ms, 400ms, 1200ms}) {
        auto running = opened.spawn("sleep 60");
        CHECK_FALSE(running.wait_for(after));
        running.stop();
        CHECK(running.wait().outcome == Outcome::cancelled);
        CHECK(listing(at.root.path()) == before);
    }
    CHECK(opened.run("sleep 60", {.timeout = 1s}).outcome == Outcome::timed_out);
    CHECK(listing(at.root.path()) == before);
    CHECK(left_over_in_tmp() == in_tmp);
}

TEST_CASE("F22 a git repository shows nothing strange while a command runs") {
    Terrain at;
    REQUIRE(host("cd " + at.root.path() + " && git init -q . && echo x >f && git add f && git -c user.name=t -c user.email=t@e.x commit -qm m") == 0);
    const auto opened = workspace(at.root.path());
    auto running = opened.spawn("git add . && git status --porcelain && ls -A && sleep 1.5");
    std::string seen;
    while (!running.wait_for(100ms)) seen += host_output("git --no-optional-locks -C " + at.root.path() + " status --porcelain");
    const auto result = running.wait();
    INFO(shown(result));
    CHECK(result.ok());
    CHECK(result.out == ".git\nf\n");
    CHECK(seen == "");
}

// ---- pins ----

TEST_CASE("a root or a grant that has become something else since is an error, and the command never runs") {
    Terrain at;
    fs::create_directories(at.root / "project");
    fs::create_directories(at.outside / "elsewhere");
    fs::create_directories(at.outside / "grant");
    const auto root = at.root / "project", grant = at.outside / "grant";
    const auto opened = workspace(root, runtime::AllowWrite{grant}, runtime::AllowRead{at.outside / "data"});
    const auto command = "touch " + grant + "/ran ran; cat " + (at.outside / "data/file");
    REQUIRE(opened.run(command).ok());
    REQUIRE(fs::remove(root + "/ran"));
    REQUIRE(fs::remove(grant + "/ran"));

    const auto refused = [&](const std::string& swapped) {
        CAPTURE(swapped);
        try {
            opened.run(command);
            FAIL("it ran");
        } catch (const PolicyError& error) {
            CHECK(holds(error.what(), swapped));
            CHECK(holds(error.what(), "no longer what it was"));
        }
        CHECK(host_output("find " + at.root.path() + " " + at.outside.path() + " -name ran") == "");
    };
    for (const auto& path : {root, grant, at.outside / "data"}) {
        fs::rename(path, path + ".kept");
        fs::create_directory_symlink(at.outside / "elsewhere", path);
        refused(path);
        fs::remove(path);
        fs::create_directory_symlink(path + ".kept", path);  // a link to the very directory
        refused(path);
        fs::remove(path);
        fs::create_directory(path);
        refused(path);
        fs::remove(path);
        write(path, "a file");
        refused(path);
        fs::remove(path);
        refused(path);
        fs::rename(path + ".kept", path);
        CHECK(opened.run(command).ok());  // the same again
        fs::remove(root + "/ran");
        fs::remove(grant + "/ran");
    }
    // A directory above it.
    fs::rename(at.root.path(), at.root.path() + ".kept");
    fs::create_directory_symlink(at.root.path() + ".kept", at.root.path());
    refused(root);
    fs::remove(at.root.path());
    fs::rename(at.root.path() + ".kept", at.root.path());
}

TEST_CASE("one command cannot prepare a grant for the next") {
    Terrain at;
    fs::create_directories(at.root / "cache");
    // What lies in the workspace is writable anyway; a grant there matters under ReadOnly.
    const auto narrow = workspace(at.root.path(), ReadOnly{}, WritePolicy<Allow<"cache">>{});
    const auto wide = workspace(at.root.path());
    CHECK(wide.run("rmdir cache && ln -s " + at.outside.path() + " cache").ok());
    const auto next = narrow.try_run("echo OWNED >cache/victim");
    REQUIRE_FALSE(next);
    CHECK(next.error().code() == ErrorCode::policy);
    CHECK(read(at.outside / "victim") == "original\n");
}
