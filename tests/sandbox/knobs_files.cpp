// What can be read and written: every knob with its effect and its default, and how they meet.
#include "inside.hpp"

#include <thread>

#include <sys/stat.h>

using namespace support;
using namespace bailey;

namespace {

/// Fresh directories outside the workspace, hidden and not writable by default.
struct Grounds {
    TempDir root{"bailey-files"}, outside{"bailey-outside"};
    Grounds() {
        write(outside / "victim", "original\n");
        fs::create_directories(outside / "data/inner");
        write(outside / "data/file", "data\n");
    }
};

}  // namespace

// ---- reads ----

TEST_CASE("ReadPolicy<Allow>: what lies outside is hidden, and can be read but not written once granted") {
    Grounds at;
    const HostVariable home{"HOME", at.outside.path().c_str()};
    const auto text = "O=" + at.outside.path() + "\n" + R"sh(
try read 'grep -q data $O/data/file'
try write 'echo x >$O/data/file'
try create 'echo x >$O/data/new'
try beside 'cat $O/victim'
say listed $(ls -A $O 2>/dev/null)
)sh";
    const auto check_granted = [](const Answers& in) {
        CHECK(in["read"] == "yes");
        CHECK(in["write"] == "no");
        CHECK(in["create"] == "no");
        CHECK(in["beside"] == "no");
        CHECK(in["listed"] == "data");
    };
    const auto by_default = answers(workspace(at.root.path()), text);
    CHECK(by_default["read"] == "no");
    CHECK(by_default["listed"] == "");
    check_granted(answers(workspace(at.root.path(), ReadPolicy<Allow<"~/data">>{}), text));
    check_granted(answers(workspace(at.root.path(), runtime::AllowRead{"~/data"}), text));
    check_granted(answers(workspace(at.root.path(), runtime::AllowRead{at.outside / "data"}), text));
    CHECK(read(at.outside / "data/file") == "data\n");

    // One file of a directory.
    const auto file = answers(workspace(at.root.path(), runtime::AllowRead{at.outside / "victim"}), text);
    CHECK(file["beside"] == "yes");
    CHECK(file["read"] == "no");
    CHECK(file["listed"] == "victim");
}

TEST_CASE("F08 secret file in the workspace cannot be read by any route") {
    Grounds at;
    write(at.root / ".env", "KEY=abcdef\n");
    fs::create_directories(at.root / "keys/deep");
    write(at.root / "keys/deep/key", "KEY=abcdef\n");
    host("cd " + at.root.path() + " && git init -q . && git add keys && git -c user.name=t -c user.email=t@e.x commit -qm m && rm -rf .git");
    REQUIRE(holds(workspace(at.root.path()).run("cat .env keys/deep/key").out, "KEY=abcdef\nKEY=abcdef"));

    const auto before = listing(at.root.path());
    const auto check = [&](const auto& denied) {
        const auto result = denied.run(R"sh(
for f in .env keys/deep/key; do
    cat $f; cp $f x; mv $f y; ln $f z; ln -s $f s; cat s; python3 -c "print(open('$f').read())"; tar c $f | strings; git hash-object -w $f; dd if=$f
    cat "$PWD/$f" ./././$f /proc/self/cwd/$f /proc/self/root/$PWD/$f; head -c 100 <$f; bash -c ". ./$f; echo \$KEY"; sed -n p $f; perl -pe 1 $f
    rm -f $f; : >$f; chmod 777 $f; install -m 644 $f w; cp -a . ../copy; base64 $f; xxd $f; od -c $f; umount $f; mount --bind / $f
done
mv keys/deep keys/d; mv keys k; cat keys/d/key k/deep/key; rm -rf keys; mkdir -p keys/deep
(cd keys/deep && cat key); find . -newer /etc/hostname -type f -exec cat {} +; grep -r . .
rm -f x y z s w; true
)sh");
        INFO(shown(result));
        CHECK(result.exit_code == 0);
        CHECK_FALSE(holds(result.out + result.err, "abcdef"));
        CHECK_FALSE(holds(result.out + result.err, "YWJjZGVm"));
        CHECK(listing(at.root.path()) == before);  // content, mode, mtime and inode
        CHECK(denied.try_read_text(".env").error().code() == ErrorCode::policy);
    };
    check(workspace(at.root.path(), ReadPolicy<Deny<".env", "keys/deep/key">>{}));
    check(workspace(at.root.path(), runtime::DenyRead{".env", at.root / "keys/deep/key"}));
    check(workspace(at.root.path(), ReadPolicy<Deny<".env", "keys/deep/key">>{}, AllReads{}));
    CHECK(read(at.root / "keys/deep/key") == "KEY=abcdef\n");
}

TEST_CASE("ReadPolicy<Deny> of a directory: it looks empty, and what is written there vanishes") {
    Grounds at;
    fs::create_directories(at.root / "vault/inner");
    write(at.root / "vault/inner/key", "secret\n");
    const auto denied = workspace(at.root.path(), ReadPolicy<Deny<"vault">>{});
    const auto before = listing(at.root.path());
    const auto in = answers(denied, R"sh(
say listed $(ls -A vault)
try read 'cat vault/inner/key'
try move 'mv vault v'
try remove 'rm -rf vault'
echo x >vault/x 2>/dev/null
true)sh");
    CHECK(in["listed"] == "");
    CHECK(in["read"] == "no");
    CHECK(in["move"] == "no");
    CHECK(in["remove"] == "no");
    CHECK(listing(at.root.path()) == before);
    CHECK(holds(denied.explain(), "a hidden directory accepts writes that vanish"));
}

TEST_CASE("AllReads: everything but what is denied, and but the secrets of the system") {
    Grounds at;
    const auto text = "O=" + at.outside.path() + "\n" + R"sh(
try outside 'cat $O/victim'
try denied 'cat $O/data/file'
try write 'echo x >$O/victim'
try shadow 'grep -q . /etc/shadow'
try others 'ls -A /var/tmp/bailey-*/* | grep -q quarantine'
)sh";
    CHECK(answers(workspace(at.root.path()), text)["outside"] == "no");
    const auto all = workspace(at.root.path(), AllReads{}, runtime::DenyRead{at.outside / "data"});
    const auto in = answers(all, text);
    CHECK(in["outside"] == "yes");
    CHECK(in["denied"] == "no");
    CHECK(in["write"] == "no");
    CHECK(in["shadow"] == "no");
    CHECK(in["others"] == "no");
    CHECK(noted(all.boundary(), "weakening AllReads"));
}

TEST_CASE("F09 F13 a denied path that does not exist yet cannot be made, and leaves nothing") {
    Grounds at;
    const auto denied = workspace(at.root.path(), ReadPolicy<Deny<"secret.txt">>{}, WritePolicy<Deny<"CI", "p/q/r">>{}, runtime::DenyWrite{"/tmp/bailey-denied-" + std::to_string(::getpid())});
    CHECK(noted(denied.boundary(), "secret.txt\" does not exist yet"));
    write(at.root / "file", "x");
    const auto below = workspace(at.root.path(), WritePolicy<Deny<"file/later">>{});
    CHECK(noted(below.boundary(), "file/later\" cannot exist: \"" + (at.root / "file") + "\" is no directory, and no command can change that"));
    CHECK(below.run("rm file && mkdir file && touch file/later").exit_code != 0);
    CHECK(read(at.root / "file") == "x");
    fs::remove(at.root / "file");
    const auto before = listing(at.root.path());
    const auto tries = R"sh(
try secret 'echo k >secret.txt; grep -q k secret.txt'
try ci 'mkdir CI'
try ci-file 'mkdir -p CI; touch CI/x && [ -e CI/x ]'
try ci-rename 'mkdir other; mv -T other CI && [ -d CI ]'
try ci-link 'ln -sfn /etc CI && [ -e CI/passwd ]'
try ci-remove 'rm -rf CI && [ ! -e CI ]'
try nested 'mkdir -p p/q && echo x >p/q/r'
try nested-moved 'mv p pp && mkdir p'
rm -rf other
)sh" + ("try tmp 'echo x >/tmp/bailey-denied-" + std::to_string(::getpid()) + "'\n");
    const auto open = answers(workspace(at.root.path()), tries + "rm -rf secret.txt CI p pp /tmp/bailey-denied-*");
    for (const auto* label : {"secret", "ci", "nested", "tmp"}) CHECK(open[label] == "yes");
    const auto in = answers(denied, tries);
    for (const auto* label : {"secret", "ci", "ci-file", "ci-rename", "ci-link", "ci-remove", "nested", "nested-moved", "tmp"}) {
        CAPTURE(label);
        CHECK(in[label] == "no");
    }
    CHECK(listing(at.root.path()) == before);
    CHECK_FALSE(fs::exists("/tmp/bailey-denied-" + std::to_string(::getpid())));

    // Nor after a run that was stopped.
    auto running = denied.spawn("sleep 60");
    CHECK_FALSE(running.wait_for(1500ms));
    CHECK(fs::exists(at.root / "CI"));  // kept for as long as the command runs
    running.stop();
    CHECK(running.wait().outcome == Outcome::cancelled);
    CHECK(listing(at.root.path()) == before);
}

TEST_CASE("F13 a denied path that does not exist stays denied while runs overlap") {
    Grounds at;
    const auto before = listing(at.root.path());
    std::vector<CommandResult> results(4);
    const auto attack = [](int seconds) {
        return "end=$((SECONDS + " + std::to_string(seconds) + ")); while [ $SECONDS -lt $end ]; do\n" +
               "(echo evil >.env) 2>/dev/null && echo broke; grep -qs evil .env && echo broke; mkdir -p CI/x 2>/dev/null && echo broke; sleep 0.05\ndone; echo done";
    };
    {
        // Two workspaces, so that nothing but the file system ties the runs together.
        const auto one = workspace(at.root.path(), ReadPolicy<Deny<".env">>{}, WritePolicy<Deny<"CI">>{});
        const auto two = workspace(at.root.path(), ReadPolicy<Deny<".env">>{}, WritePolicy<Deny<"CI">>{});
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&, i] { results[static_cast<std::size_t>(i)] = (i % 2 == 0 ? one : two).run(attack(1 + 2 * (i % 2) + i)); });
        for (auto& thread : threads) thread.join();
    }
    for (const auto& result : results) {
        INFO(shown(result));
        CHECK(result.out == "done\n");
    }
    CHECK(listing(at.root.path()) == before);
}

TEST_CASE("F10 a glob is no path: it is refused, not silently without effect") {
    Grounds at;
    CHECK(holds(refusal(at.root.path(), runtime::DenyRead{"**/.env"}), "not patterns"));
    CHECK(holds(refusal(at.root.path(), runtime::DenyWrite{"a/*"}), "not patterns"));
    CHECK(holds(refusal(at.root.path(), runtime::AllowRead{"/var/tmp/?"}), "not patterns"));
}

// ---- writes ----

TEST_CASE("WritePolicy<Allow>: an outside directory can be written once granted, and then read") {
    Grounds at;
    const HostVariable home{"HOME", at.outside.path().c_str()};
    const auto text = "O=" + at.outside.path() + "\n" + R"sh(
try create 'echo x >$O/data/new && rm $O/data/new'
try read 'cat $O/data/file'
echo x >$O/new 2>/dev/null; echo x >$O/victim 2>/dev/null  # what is hidden accepts writes, and they vanish
true)sh";
    CHECK(answers(workspace(at.root.path()), text)["read"] == "no");
    const auto before = listing(at.outside.path());
    workspace(at.root.path()).run(text);
    CHECK(listing(at.outside.path()) == before);

    const auto check = [&](const Answers& in) {
        CHECK(in["create"] == "yes");
        CHECK(in["read"] == "yes");
        CHECK_FALSE(fs::exists(at.outside / "new"));
        CHECK(read(at.outside / "victim") == "original\n");
    };
    check(answers(workspace(at.root.path(), WritePolicy<Allow<"~/data">>{}), text));
    check(answers(workspace(at.root.path(), runtime::AllowWrite{at.outside / "data"}), text));
}

TEST_CASE("a write grant can be one file") {
    Grounds at;
    write(at.outside / "log", "old\n");
    const auto in = answers(workspace(at.root.path(), runtime::AllowWrite{at.outside / "log"}), "O=" + at.outside.path() + "\n" + R"sh(
try append 'echo new >>$O/log'
try read 'grep -q old $O/log'
try beside 'cat $O/victim || echo x >$O/log2 && [ -s $O/log2 ] && false'
try remove 'rm -f $O/log'
try replace 'echo y >$TMPDIR/y; mv $TMPDIR/y $O/log'
)sh");
    CHECK(in["append"] == "yes");
    CHECK(in["read"] == "yes");
    CHECK(in["beside"] == "no");
    CHECK(in["remove"] == "no");
    CHECK(read(at.outside / "log") == "old\nnew\n");
    CHECK_FALSE(fs::exists(at.outside / "log2"));
}

TEST_CASE("a write grant of one file in a ReadOnly workspace: refused where srt would make it read-only, else it holds") {
    TempDir root;
    write(root / "file", "x\n");
    CHECK(holds(refusal(root.path(), ReadOnly{}, WritePolicy<Allow<"file">>{}), "is a file inside the ReadOnly workspace"));
    const auto in = answers(workspace(root.path(), AllReads{}, ReadOnly{}, WritePolicy<Allow<"file">>{}), "try file 'echo y >>file'\ntry other 'echo y >other'\n");
    CHECK(in["file"] == "yes");
    CHECK(in["other"] == "no");
}

TEST_CASE("F12 denyWrite file: all the ways") {
    Grounds at;
    write(at.root / "lock.json", "aaaa\n");
    fs::create_directories(at.root / "ci/deep");
    write(at.root / "ci/deep/file", "aaaa\n");
    const auto before = listing(at.root.path());
    const auto check = [&](const auto& denied) {
        const auto result = denied.run(R"sh(
for f in lock.json ci/deep/file; do
    echo x >$f; echo x >>$f; : >$f; rm -f $f; mv $f z; chmod 777 $f; chown 1 $f; touch $f; sed -i s/a/b/ $f; ln -sf /dev/null $f; ln $f hard && echo x >hard
    truncate -s 0 $f; cp /etc/passwd $f; mv -f /etc/hostname $f; dd if=/dev/zero of=$f count=1; python3 -c "open('$f', 'r+').write('x')"; tee $f </dev/null
    setfattr -n user.x -v y $f; exec 3<>$f; install /etc/hostname $f; unlink $f; rmdir $f; umount $f; git config -f $f a.b c
done
echo x >ci/deep/new; mkdir ci/deep/new; mv ci/deep ci/d; mv ci c; rm -rf ci; rmdir ci/deep; rm -f z
cat lock.json ci/deep/file
)sh");
        INFO(shown(result));
        CHECK(holds(result.out, "aaaa\naaaa\n"));  // it can be read
        CHECK(read(at.root / "lock.json") == "aaaa\n");
        CHECK(listing(at.root.path()) == before);
        CHECK(denied.try_write_text("lock.json", "x").error().code() == ErrorCode::policy);
        CHECK(denied.try_write_text("ci/deep/new", "x").error().code() == ErrorCode::policy);
    };
    check(workspace(at.root.path(), WritePolicy<Deny<"lock.json", "ci/deep">>{}));
    check(workspace(at.root.path(), runtime::DenyWrite{"lock.json", at.root / "ci/deep"}));
    // By default each of them can.
    CHECK(workspace(at.root.path()).run("echo x >lock.json && mv lock.json z && mv ci c").ok());
    CHECK(read(at.root / "z") == "x\n");
}

TEST_CASE("ReadOnly: the workspace and /tmp can be read and not written, TMPDIR and grants can") {
    Grounds at;
    write(at.root / "file", "mine\n");
    const auto text = "O=" + at.outside.path() + " MARK=/tmp/bailey-readonly-" + std::to_string(::getpid()) + "\n" + R"sh(
try read 'grep -q mine file'
try write 'echo x >new && rm new'
try change 'echo mine >file'
try tmp 'echo x >$MARK && rm $MARK'
try tmp-read 'ls /tmp'
try tmpdir 'echo x >$TMPDIR/x && rm $TMPDIR/x'
try grant 'echo x >$O/data/x && rm $O/data/x'
)sh";
    const auto by_default = answers(workspace(at.root.path()), text);
    for (const auto* label : {"read", "write", "change", "tmp", "tmp-read", "tmpdir"}) CHECK(by_default[label] == "yes");
    const auto narrowed = workspace(at.root.path(), ReadOnly{}, runtime::AllowWrite{at.outside / "data"});
    const auto in = answers(narrowed, text);
    for (const auto* label : {"read", "tmp-read", "tmpdir", "grant"}) CHECK(in[label] == "yes");
    for (const auto* label : {"write", "change", "tmp"}) CHECK(in[label] == "no");
    CHECK(narrowed.try_write_text("new", "x").error().code() == ErrorCode::policy);
    CHECK(narrowed.read_text("file") == "mine\n");

    // A part of the workspace, given back.
    fs::create_directories(at.root / "build");
    const auto part = answers(workspace(at.root.path(), ReadOnly{}, WritePolicy<Allow<"build">>{}), "try part 'echo x >build/x'\ntry rest 'echo x >x'\n");
    CHECK(part["part"] == "yes");
    CHECK(part["rest"] == "no");
}

TEST_CASE("PrivateTmp: nothing of the host's /tmp shows, and nothing gets there") {
    Grounds at;
    const Guest shared{"/tmp/bailey-private-" + std::to_string(::getpid()), "shared\n"};
    const auto text = "S=" + shared.path() + "\n" + R"sh(
try read 'cat $S'
say listed "$(ls -A /tmp)"
echo x >$S.new
try tmpdir 'f=$(mktemp) && [ ${f#/tmp/} = $f ]'
true)sh";
    const auto open = answers(workspace(at.root.path()), text);
    CHECK(open["read"] == "yes");
    CHECK(fs::remove(shared.path() + ".new"));
    const auto opened = workspace(at.root.path(), PrivateTmp{});
    CHECK(noted(opened.boundary(), "srt shows it to every sandbox"));
    const auto in = answers(opened, text);
    CHECK(in["read"] == "no");
    CHECK(in["listed"] == left_in_private_tmp());
    CHECK(in["tmpdir"] == "yes");
    CHECK_FALSE(fs::exists(shared.path() + ".new"));
}

// ---- how grants and denials meet ----

TEST_CASE("F14 a grant that does not exist has no effect, and says so") {
    Grounds at;
    const auto missing = at.outside / "cache";
    const auto opened = workspace(at.root.path(), runtime::AllowWrite{missing}, runtime::AllowRead{at.outside / "nothing"});
    CHECK(noted(opened.boundary(), "cache\" does not exist: it has no effect"));
    CHECK(noted(opened.boundary(), "nothing\" does not exist: it has no effect"));
    CHECK(holds(opened.explain(), "cache\" does not exist"));
    CHECK(opened.boundary().write_grants.empty());
    opened.run("mkdir -p " + missing + " && touch " + missing + "/a");
    CHECK_FALSE(fs::exists(missing));
    // The same when it is made meanwhile by somebody else.
    fs::create_directory(missing);
    opened.run("touch " + missing + "/a");
    CHECK_FALSE(fs::exists(missing + "/a"));
}

TEST_CASE("a denial wins over every grant, whichever is inside the other") {
    Grounds at;
    fs::create_directories(at.root / "sub/denied/granted");
    write(at.root / "sub/denied/granted/file", "secret\n");
    write(at.outside / "data/inner/key", "secret\n");
    const auto text = "O=" + at.outside.path() + "\n" + R"sh(
try data 'cat $O/data/file'
try key 'cat $O/data/inner/key'
try data-write 'echo data >$O/data/file'
try inner-write 'echo x >$O/data/inner/x && [ -s $O/data/inner/x ]'
try granted 'cat sub/denied/granted/file'
)sh";
    const auto free = answers(workspace(at.root.path(), runtime::AllowWrite{at.outside.path()}), text + "rm -f $O/data/inner/x");
    for (const auto* label : {"data", "key", "data-write", "inner-write", "granted"}) CHECK(free[label] == "yes");

    SUBCASE("grants inside read denials") {
        const auto opened = workspace(at.root.path(), runtime::AllowRead{at.outside / "data/inner", at.root / "sub/denied/granted"},
                                      runtime::AllowWrite{at.outside / "data/inner"}, runtime::DenyRead{at.outside / "data", "sub/denied"});
        CHECK(noted(opened.boundary(), "the denial wins"));
        const auto in = answers(opened, text);
        for (const auto* label : {"data", "key", "data-write", "granted"}) CHECK(in[label] == "no");
        CHECK_FALSE(fs::exists(at.outside / "data/inner/x"));
    }
    SUBCASE("denials inside grants") {
        const auto in = answers(workspace(at.root.path(), runtime::AllowWrite{at.outside.path()}, runtime::DenyRead{at.outside / "data/inner"}), text);
        CHECK(in["data"] == "yes");
        CHECK(in["data-write"] == "yes");
        CHECK(in["key"] == "no");
        CHECK_FALSE(fs::exists(at.outside / "data/inner/x"));
    }
    SUBCASE("write denials inside write grants") {
        const auto in = answers(workspace(at.root.path(), runtime::AllowWrite{at.outside.path()}, runtime::DenyWrite{at.outside / "data/inner"}), text);
        CHECK(in["data-write"] == "yes");
        CHECK(in["key"] == "yes");
        CHECK(in["inner-write"] == "no");
    }
    SUBCASE("write grants inside write denials") {
        const auto opened = workspace(at.root.path(), runtime::AllowWrite{at.outside / "data/inner"}, runtime::DenyWrite{at.outside / "data"});
        CHECK(noted(opened.boundary(), "the denial wins"));
        CHECK(answers(opened, text)["inner-write"] == "no");
    }
    SUBCASE("a grant and a denial of the same path") {
        const auto in = answers(workspace(at.root.path(), runtime::AllowWrite{at.outside / "data"}, runtime::AllowRead{at.outside / "data"},
                                          runtime::DenyRead{at.outside / "data"}), text);
        CHECK(in["data"] == "no");
        CHECK(read(at.outside / "data/file") == "data\n");
    }
    SUBCASE("a denial inside the system paths") {
        const auto in = answers(workspace(at.root.path(), runtime::DenyRead{"/etc/ssl", "/usr/share/doc"}), "try ssl '[ -n \"$(ls -A /etc/ssl)\" ]'\ntry etc 'cat /etc/passwd'\n");
        CHECK(in["ssl"] == "no");
        CHECK(in["etc"] == "yes");
    }
}

TEST_CASE("a denial above the workspace root leaves the root as it is, and says so") {
    TempDir above;
    fs::create_directories(above / "project");
    write(above / "project/file", "mine\n");
    write(above / "sibling", "secret\n");
    const auto text = "try own 'cat file && echo x >new && rm new'\ntry sibling 'cat ../sibling'\nsay above $(ls -A ..)\n";
    CHECK(answers(workspace(above / "project", AllReads{}), text)["sibling"] == "yes");
    const auto opened = workspace(above / "project", AllReads{}, runtime::DenyRead{above.path()});
    CHECK(noted(opened.boundary(), "lies above the workspace root, which stays readable"));
    const auto in = answers(opened, text);
    CHECK(in["own"] == "yes");
    CHECK(in["sibling"] == "no");
    CHECK(in["above"] == "project");

    CHECK(holds(refusal(above / "project", runtime::DenyRead{above / "project"}), "is the workspace root itself"));
    CHECK(holds(refusal(above / "project", runtime::DenyWrite{above.path()}), "covers the workspace root; use ReadOnly"));
}

TEST_CASE("AllReads with what hides: a read grant in a private /tmp, and the root beneath, stay readable") {
    TempDir above;
    fs::create_directories(above / "project/out");
    write(above / "project/file", "mine\n");
    write(above / "sibling", "secret\n");
    const std::string tmp = "/tmp/bailey-all-reads-" + std::to_string(::getpid());
    const struct Gone {
        std::string path;
        ~Gone() {
            std::error_code ignored;
            fs::remove_all(path, ignored);
        }
    } gone{tmp};
    for (const auto* name : {"/granted/deep", "/granted/out", "/project/out"}) fs::create_directories(tmp + name);
    for (const auto* name : {"/granted/file", "/granted/deep/file", "/project/file", "/sibling"}) write(tmp + name, "x\n");

    const auto text = "T=" + tmp + "\n" + R"sh(
try own 'cat file'
try change 'echo x >>file'
try out 'echo x >out/new && rm out/new'
try sibling 'cat ../sibling'
try granted 'cat $T/granted/file'
try deep 'cat $T/granted/deep/file'
try grant_changed 'echo x >$T/granted/new'
try grant_out 'echo x >$T/granted/out/new && rm $T/granted/out/new'
try tmp 'cat $T/sibling'
)sh";
    const auto granted = workspace(above / "project", AllReads{}, PrivateTmp{}, runtime::AllowRead{tmp + "/granted"});
    CHECK_FALSE(noted(granted.boundary(), "is readable anyway"));
    const auto in = answers(granted, text);
    for (const auto* yes : {"own", "change", "out", "sibling", "granted", "deep"}) CHECK_MESSAGE(in[yes] == "yes", std::string{yes});
    for (const auto* no : {"grant_changed", "grant_out", "tmp"}) CHECK_MESSAGE(in[no] == "no", std::string{no});
    const auto both = answers(workspace(above / "project", AllReads{}, PrivateTmp{}, runtime::AllowRead{tmp + "/granted"}, runtime::AllowWrite{tmp + "/granted/out"}), text);
    for (const auto* yes : {"granted", "deep", "grant_out"}) CHECK_MESSAGE(both[yes] == "yes", std::string{yes});
    for (const auto* no : {"grant_changed", "tmp"}) CHECK_MESSAGE(both[no] == "no", std::string{no});

    const auto root_stays = [](const Answers& answered) {
        for (const auto* yes : {"own", "out"}) CHECK_MESSAGE(answered[yes] == "yes", std::string{yes});
        for (const auto* no : {"change", "sibling"}) CHECK_MESSAGE(answered[no] == "no", std::string{no});
    };
    root_stays(answers(workspace(above / "project", AllReads{}, ReadOnly{}, runtime::AllowWrite{"out"}, runtime::DenyRead{above.path()}), text));
    root_stays(answers(workspace(tmp + "/project", AllReads{}, PrivateTmp{}, ReadOnly{}, runtime::AllowWrite{"out"}), text));
    CHECK(answers(workspace(above / "project", AllReads{}, ReadOnly{}, runtime::DenyRead{above.path()}), text)["own"] == "yes");
    CHECK(answers(workspace(tmp + "/project", AllReads{}, PrivateTmp{}, ReadOnly{}), text)["own"] == "yes");
}

TEST_CASE("a read grant above a writable path leaves it writable") {
    TempDir above;
    fs::create_directories(above / "project");
    fs::create_directories(above / "cache/deep");
    write(above / "sibling", "readable\n");
    const auto text = "A=" + above.path() + "\n" + R"sh(
try root 'echo x >new && rm new'
try grant 'echo x >$A/cache/deep/x && rm $A/cache/deep/x'
try tmpdir 'echo x >$TMPDIR/x && rm $TMPDIR/x'
try sibling 'cat $A/sibling'
try above 'echo x >$A/x'
try others '[ $(ls -A /var/tmp/bailey-$UID | wc -l) != 1 ]'
)sh";
    const auto check = [&](const Answers& in, std::string_view others = "no") {
        CHECK(in["root"] == "yes");
        CHECK(in["grant"] == "yes");
        CHECK(in["tmpdir"] == "yes");
        CHECK(in["sibling"] == "yes");
        CHECK(in["above"] == "no");
        CHECK(in["others"] == others);
    };
    check(answers(workspace(above / "project", runtime::AllowRead{above.path()}, runtime::AllowWrite{above / "cache/deep"}), text));
    check(answers(workspace(above / "project", runtime::AllowRead{"/var/tmp"}, runtime::AllowWrite{above / "cache/deep"}), text));
    check(answers(workspace(above / "project", AllReads{}, runtime::AllowWrite{above / "cache/deep"}), text));
    write(above / "cache/file", "");
    CHECK(holds(refusal(above / "project", runtime::AllowRead{above.path()}, runtime::AllowWrite{above / "cache/file"}), "which srt would make read-only"));
}

TEST_CASE("a write grant above bailey's private directories does not open them") {
    TempDir root;
    const auto other = workspace(root.path());
    const auto theirs = other.run("echo theirs >$TMPDIR/file; echo $TMPDIR/file").out;
    const auto file = theirs.substr(0, theirs.find('\n'));
    const auto wide = workspace(root.path(), runtime::AllowWrite{"/var/tmp"});
    const auto base = "/var/tmp/bailey-" + std::to_string(::geteuid());
    const auto in = answers(wide, "F=" + file + " B=" + base + "\n" + R"sh(
try read 'cat $F'
try move 'mv $B $B.moved'
try remove 'rm -rf $B/*/lock $B/lock $F; [ ! -e $TMPDIR ]'
try link 'ln -sfn /etc $B && [ -e $B/passwd ]'
try script 'echo true >$(ls $(dirname $TMPDIR)/r1/run/prelude $(dirname $TMPDIR)/r1/run/*/prelude 2>/dev/null)'
try tmpdir 'echo x >$TMPDIR/x'
)sh");
    for (const auto* label : {"read", "move", "remove", "link", "script"}) CHECK(in[label] == "no");
    CHECK(in["tmpdir"] == "yes");
    CHECK(read(file) == "theirs\n");
    CHECK(fs::exists(base + "/lock"));
}
