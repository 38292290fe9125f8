// Whatever a command builds, the host's git runs nothing of it. Each construction is first shown to work.
#include "protect_fixture.hpp"

using protect::Place;
using protect::told;

namespace {

struct Construction {
    const char* name;
    const char* before;   ///< what the user had
    const char* command;  ///< what the command does
    const char* host;     ///< what the user runs afterwards, besides status, diff and log in the workspace
};

const char* const repository = "git init -q . && echo one >f && git add f && git commit -qm one\n";

const std::vector<Construction> constructions{
    {"fsmonitor in a new repository", "", "git init -q . && git config core.fsmonitor \"$EVIL\"", ""},
    {"fsmonitor, with spellings", "", "git init -q . && printf '[CoRe]FsMonitor=\"%s\"' \"$EVIL\" >>.git/config", ""},
    {"fsmonitor behind a byte order mark", "", "git init -q . && printf '\\357\\273\\277[core]\\n\\tfsmonitor = %s\\n' \"$EVIL\" >.git/config", ""},
    {"fsmonitor on a continued line", "", "git init -q . && printf '[user]\\nname=x\\\\\\n # no\\n[core]\\nfsmonitor=\\\\\\n%s\\n' \"$EVIL\" >>.git/config", ""},
    {"include.path", "", "git init -q . && evil \"$E/more\" && git config include.path \"$E/more\"", ""},
    {"includeIf", "", "git init -q . && evil \"$E/more\" && git config \"includeIf.gitdir:**.path\" \"$E/more\"", ""},
    {"core.hooksPath", "", "git init -q . && mkdir h && cp \"$EVIL\" h/post-index-change && echo 1 >f && git add f && touch -d 2001-01-01 f && git config core.hooksPath h", ""},
    {"filter driver", "", "git init -q . && echo '* filter=x' >.gitattributes && echo 1 >f && git add f && git config filter.x.clean \"$EVIL\" && sleep 0.01 && echo 2 >f", ""},
    {"external diff", "", "git init -q . && echo 1 >f && git add f && git config diff.external \"$EVIL\" && echo 2 >f", ""},
    {"textconv", "", "git init -q . && echo 'f diff=x' >.gitattributes && echo 1 >f && git add f && git config diff.x.textconv \"$EVIL\" && echo 2 >f", ""},
    {"alias", "", "git init -q . && git config alias.st '!'\"$EVIL\"", "git st"},
    {"ssh command", "", "git init -q . && git remote add origin ssh://example.invalid/x && git config core.sshCommand \"$EVIL\"", "git fetch"},
    {"upload-pack of a remote", "", "git init -q . && git remote add origin \"$E\" && git config remote.origin.uploadpack \"$EVIL\"", "git fetch"},
    {"objects fetched on demand", "",
     "git init -q . && echo 1 >f && git add f && git commit -qm 1 && git config core.repositoryformatversion 1 && git config extensions.partialClone o && "
     "git config remote.o.url \"$E\" && git config remote.o.promisor true && git config remote.o.uploadpack \"$EVIL\" && "
     "o=$(git rev-parse HEAD:f) && rm -f \".git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-)\" && echo 2 >f",
     ""},
    {"hooks where there were none", "git init -q . && rm -rf .git/hooks && echo 1 >f && git add f && git commit -qm 1",
     "mkdir .git/hooks && cp \"$EVIL\" .git/hooks/post-index-change && cp \"$EVIL\" .git/hooks/pre-commit && touch -d 2001-01-01 f", "git commit --allow-empty -m x"},
    {"hooks replaced", repository, "mv .git/hooks .git/h2 && mkdir .git/hooks && cp \"$EVIL\" .git/hooks/pre-commit", "git commit --allow-empty -m x"},
    {"hooks as a link", "git init -q . && rm -rf .git/hooks", "mkdir h && cp \"$EVIL\" h/pre-commit && ln -s ../h .git/hooks", "git commit --allow-empty -m x"},
    {"commondir", repository, "cp -r .git \"$E/common\" && evil \"$E/common/config\" && echo \"$E/common\" >.git/commondir", ""},
    {"commondir inside the workspace", repository, "mkdir -p a/b/c/d/e && cp -r .git a/b/c/d/e/x && evil a/b/c/d/e/x/config && echo ../a/b/c/d/e/x >.git/commondir", ""},
    {"config.worktree", "git init -q . && git config core.repositoryformatversion 1 && git config extensions.worktreeConfig true", "evil .git/config.worktree", ""},
    {"config replaced", repository, "cp .git/config c && evil c && mv c .git/config", ""},
    {"a .git file that leads out", "", "git init -q \"$E/r\" && evil \"$E/r/.git/config\" && echo \"gitdir: $E/r/.git\" >.git", ""},
    {"a .git file that leads deep", "", "mkdir -p a/b/c/d && git init -q a/b/c/d/e && evil a/b/c/d/e/.git/config && echo 'gitdir: a/b/c/d/e/.git' >.git", ""},
    {"a .git file that leads through a link", "", "git init -q \"$E/r\" && evil \"$E/r/.git/config\" && ln -s \"$E/r\" r && echo 'gitdir: r/.git' >.git", ""},
    {"a .git file that leads up through a link", "", "git init -q \"$E/r\" && evil \"$E/r/.git/config\" && mkdir \"$E/r/d\" r && ln -s \"$E/r/d\" d && git init -q . && mv .git r/.git && echo 'gitdir: d/../.git' >.git && cp -r r/.git gitdir && rm -rf r", ""},
    {"a .git link", "", "git init -q \"$E/r\" && evil \"$E/r/.git/config\" && ln -s \"$E/r/.git\" .git", ""},
    {"a .git link, inside the workspace", "", "mkdir -p a/b/c/d && git init -q a/b/c/d/e && evil a/b/c/d/e/.git/config && ln -s a/b/c/d/e/.git .git", ""},
    {"a .git link of the user's, turned", "git init -q real && ln -s real/.git .git", "git init -q \"$E/r\" && evil \"$E/r/.git/config\" && rm .git && ln -s \"$E/r/.git\" .git", ""},
    {"what the user's .git link leads to, replaced", "git init -q real && ln -s real/.git .git", "git init -q \"$E/r\" && evil \"$E/r/.git/config\" && mv real real2 && ln -s \"$E/r\" real", ""},
    {"a submodule's configuration", repository,
     "git init -q \"$E/s\" && git -C \"$E/s\" commit -q --allow-empty -m s && git submodule --quiet add \"$E/s\" s && evil .git/modules/s/config", ""},
    {"a submodule's hidden git directory, replaced", "git init -q \"$E/s\" && git -C \"$E/s\" commit -q --allow-empty -m s && git init -q . && git submodule --quiet add \"$E/s\" s && git commit -qm s",
     "cp -r .git/modules/s \"$E/evil\" && evil \"$E/evil/config\" && git config -f \"$E/evil/config\" core.worktree \"$W/s\" && rm -rf .git/modules/s && ln -s \"$E/evil\" .git/modules/s", ""},
    {"a nested repository", repository, "git init -q sub && evil sub/.git/config", "git -C sub status"},
    {"a nested repository that the index names, deep", repository,
     "mkdir -p a/b/c/d/e && git init -q a/b/c/d/e/g && git -C a/b/c/d/e/g commit -q --allow-empty -m g && git add a && evil a/b/c/d/e/g/.git/config", ""},
    {"the same in an index of version 4", repository,
     "mkdir -p a/b/c/d/e && git init -q a/b/c/d/e/g && git -C a/b/c/d/e/g commit -q --allow-empty -m g && git add a && git update-index --index-version 4 && evil a/b/c/d/e/g/.git/config", ""},
    {"the same in a split index", repository,
     "mkdir -p a/b/c/d/e && git init -q a/b/c/d/e/g && git -C a/b/c/d/e/g commit -q --allow-empty -m g && git add a && git update-index --split-index && evil a/b/c/d/e/g/.git/config", ""},
    {"the same with SHA-256", "",
     "git init -q --object-format=sha256 . && mkdir -p a/b/c/d/e && git init -q --object-format=sha256 a/b/c/d/e/g && git -C a/b/c/d/e/g commit -q --allow-empty -m g && git add a && evil a/b/c/d/e/g/.git/config", ""},
    {"the same behind a .git file", repository,
     "mkdir -p a/b/c/d/e && git init -q --separate-git-dir \"$E/g\" a/b/c/d/e/g && git -C a/b/c/d/e/g commit -q --allow-empty -m g && git add a && evil \"$E/g/config\"", ""},
    {"two levels of the same", repository,
     "mkdir -p a/b/c/d/e && git init -q a/b/c/d/e/g && cd a/b/c/d/e/g && mkdir -p a/b/c/d/e && git init -q a/b/c/d/e/g && git -C a/b/c/d/e/g commit -q --allow-empty -m g && "
     "git add a && git commit -qm g && evil a/b/c/d/e/g/.git/config && cd \"$W\" && git add a", ""},
    {"the workspace as a bare repository", "", "git init -q --bare . && git config core.bare false && git config core.worktree \"$W\" && evil config", ""},
    {"a bare repository below", "", "git init -q --bare b/r && git -C b/r config core.bare false && git -C b/r config core.worktree \"$W/b\" && evil b/r/config", "git -C b/r status"},
    {"a bare repository in two parts", "",
     "git init -q --bare \"$E/c\" && git -C \"$E/c\" config alias.st '!'\"$EVIL\" && echo 'ref: refs/heads/x' >HEAD && echo \"$E/c\" >commondir", "git st"},
    {"a bare repository of links", "",
     "git init -q --bare \"$E/c\" && ln -s \"$E/c/objects\" \"$E/c/refs\" . && ln -s refs/heads/x HEAD && git config -f config core.repositoryformatversion 0 && git config -f config core.worktree \"$W\" && evil config", ""},
    {"HEAD taken away, so that the workspace itself is the repository", repository,
     "rm .git/HEAD && git init -q --bare \"$E/c\" && cp -r \"$E/c\"/* . && git config -f config core.bare false && git config -f config core.worktree \"$W\" && evil config", ""},
    {"a linked worktree's commondir", "git init -q . && git commit -q --allow-empty -m 1 && git worktree add -q wt",
     "cp -r .git \"$E/c\" && evil \"$E/c/config\" && echo \"$E/c\" >.git/worktrees/wt/commondir", "git -C wt status"},
    {"a linked worktree made a repository of its own", "git init -q . && git commit -q --allow-empty -m 1 && git worktree add -q wt",
     "cd .git/worktrees/wt && rm commondir && mkdir -p objects refs && git config -f config core.repositoryformatversion 0 && evil config", "git -C wt status"},
    {"a linked worktree's own configuration", "git init -q . && git commit -q --allow-empty -m 1 && git worktree add -q wt && git config core.repositoryformatversion 1 && git config extensions.worktreeConfig true",
     "evil .git/worktrees/wt/config.worktree", "git -C wt status"},
    {"a .git file of the user's, turned", "git init -q . && git commit -q --allow-empty -m 1 && git worktree add -q wt",
     "git init -q \"$E/r\" && evil \"$E/r/.git/config\" && echo \"gitdir: $E/r/.git\" >wt/.git", "git -C wt status"},
    {"the hooksPath that the user set and never made", "git init -q . && git config core.hooksPath .hooks && echo 1 >f && git add f",
     "mkdir .hooks && cp \"$EVIL\" .hooks/pre-commit", "git commit -m x"},
    {"the file that the user's configuration includes", "git init -q . && git config include.path ../team.config", "evil team.config", ""},
    {"the fsmonitor that the user set", "git init -q . && git config core.fsmonitor tools/fsmonitor", "mkdir -p tools && cp \"$EVIL\" tools/fsmonitor", ""},
    {"the user's relative hooksPath, for another work tree", "git init -q . && git config core.hooksPath hooks && mkdir -p src/hooks && git commit -q --allow-empty -m 1",
     "cp \"$EVIL\" src/hooks/pre-commit && echo 'gitdir: ../.git' >src/.git", "git -C src commit --allow-empty -m x"},
    {"permissions that forbid the move", "", "git init -q sub && evil sub/.git/config && mkdir h && chmod 0555 sub/.git", "git -C sub status"},
};

}  // namespace

TEST_CASE("protect: nothing that a command plants is run by the host's git") {
    const auto host_runs_git = [](const Place& place, const Construction& construction) {
        static_cast<void>(std::remove(place.canary.c_str()));
        static_cast<void>(place.sh(std::string{"git status; git diff; git log\n"} + construction.host));
        return place.fired();
    };
    for (const Construction& construction : constructions) {
        const std::string name = construction.name;
        CAPTURE(name);
        {
            const Place place;
            place.make(construction.before);
            place.make(construction.command);
            const bool fired = host_runs_git(place, construction);
            INFO("the construction does not work, so that this test could not fail\n", place.log());
            CHECK(fired);
        }
        {
            const Place place;
            place.make(construction.before);
            const auto snapshot = place.snapshot();
            place.make(construction.command);
            const auto violations = bailey::srt::quarantine_planted(snapshot, place.quarantine);
            const bool fired = host_runs_git(place, construction);
            INFO(told(violations), place.log());
            CHECK_FALSE(fired);
            REQUIRE_FALSE(violations.empty());
            CHECK(violations.front().kind == bailey::ViolationKind::planted_file);
            CHECK(violations.front().certain);
            CHECK(bailey::srt::quarantine_planted(snapshot, place.quarantine).empty());
        }
    }
}

TEST_CASE("protect: a repository above the workspace, where a grant lets the command make one") {
    for (const char* command : {"git init -q .. && evil ../.git/config", "git init -q .. && mkdir ../x && git init -q ../x && evil ../x/.git/config && git -C ../x commit -q --allow-empty -m x && git -C .. add x",
                                "git init -q \"$E/r\" && evil \"$E/r/.git/config\" && echo \"gitdir: $E/r/.git\" >../.git",
                                "git init -q --bare .. && git -C .. config core.bare false && git -C .. config core.worktree \"$W\" && evil ../config"}) {
        CAPTURE(command);
        for (const bool quarantined : {false, true}) {
            const Place place;
            const auto snapshot = place.snapshot({place.base});
            place.make(command);
            static_cast<void>(std::remove(place.canary.c_str()));
            const auto violations = quarantined ? bailey::srt::quarantine_planted(snapshot, place.quarantine) : std::vector<bailey::Violation>{};
            static_cast<void>(place.sh("git status"));
            CHECK(place.fired() != quarantined);
            CHECK(violations.size() == (quarantined ? 1 : 0));
        }
    }
}

TEST_CASE("protect: a second name for an allowed config, kept for the next run") {
    const Place place;
    const auto first = place.snapshot();
    place.make("git init -q . && ln .git/config kept");
    CHECK(bailey::srt::quarantine_planted(first, place.quarantine).empty());
    const auto second = place.snapshot();
    place.make("evil \"$E/c\" && cat \"$E/c\" >>kept");
    CHECK(bailey::srt::quarantine_planted(second, place.quarantine).size() == 1);
    static_cast<void>(place.sh("git status"));
    CHECK_FALSE(place.fired());
}

TEST_CASE("protect: two commands at once cannot vouch for each other") {
    const Place place;
    place.make("git init -q .");
    const auto first = place.snapshot();
    place.make("evil .git/config");
    const auto second = bailey::srt::protected_snapshot(place.workspace, {}, &first);
    REQUIRE(second.has_value());
    CHECK(bailey::srt::quarantine_planted(first, place.quarantine).size() == 1);
    place.make("evil .git/config");
    CHECK(bailey::srt::quarantine_planted(*second, place.quarantine).size() == 1);
    static_cast<void>(place.sh("git status"));
    CHECK_FALSE(place.fired());
}

TEST_CASE("protect: what a user changes meanwhile in a configuration of his own is no plant") {
    const Place place;
    place.make("git init -q . && git config alias.st status && git config core.editor vi");
    const auto snapshot = place.snapshot();
    place.make("git remote add origin ../somewhere && git config user.name x");
    CHECK(bailey::srt::quarantine_planted(snapshot, place.quarantine).empty());
    place.make("git config core.pager less");
    CHECK(bailey::srt::quarantine_planted(snapshot, place.quarantine).size() == 1);
}

TEST_CASE("protect: nothing makes the host wait") {
    const Place place;
    const auto snapshot = place.snapshot();
    place.make("mkdir .git a a/.git && mkfifo .git/config .git/index .git/HEAD .git/commondir a/.git/hooks .gitmodules b.git && mkfifo a/.git/modules a/.git/worktrees");
    const auto violations = bailey::srt::quarantine_planted(snapshot, place.quarantine);
    INFO(told(violations));
    CHECK(violations.size() == 5);
}

TEST_CASE("protect: the user's own files are never taken for planted ones") {
    const Place place;
    place.make("mkdir -p src/hooks && echo 1 >src/hooks/mine && git init -q \"$E/users\" && git -C \"$E/users\" config alias.x y && git init -q . && git config core.hooksPath hooks");
    const auto snapshot = place.snapshot({place.outside});
    SUBCASE("a planted configuration names them") {
        place.make("mkdir n && cd n && git init -q && git config include.path ../../../src/hooks/mine && git config core.hooksPath ../src/hooks");
        CHECK(bailey::srt::quarantine_planted(snapshot, place.quarantine).size() == 1);
    }
    SUBCASE("a planted .git file makes the configuration name them") {
        place.make("echo 'gitdir: ../.git' >src/.git");
        CHECK(bailey::srt::quarantine_planted(snapshot, place.quarantine).size() == 1);
    }
    SUBCASE("a planted link or .git file leads to them") {
        place.make("mkdir n m && ln -s \"$E/users/.git\" n/.git && echo \"gitdir: $E/users/.git\" >m/.git");
        CHECK(bailey::srt::quarantine_planted(snapshot, place.quarantine).size() == 2);
    }
    CHECK(Place::exists(place.workspace + "/src/hooks/mine"));
    CHECK(Place::exists(place.outside + "/users/.git/config"));
}

TEST_CASE("protect: settings of shells and editors") {
    const Place place;
    place.make("mkdir -p sub/sub .claude && echo mine >.profile && mkdir .idea && ln -s sub .zprofile && ln -s nowhere .bash_profile");
    const auto snapshot = place.snapshot();
    const std::vector<std::string> paths = snapshot.paths();
    CHECK(paths == std::vector<std::string>{place.workspace + "/.idea", place.workspace + "/.profile", place.workspace + "/.zprofile"});
    place.make("for d in . sub sub/sub; do echo x >$d/.bashrc; echo x >$d/.mcp.json; mkdir -p $d/.vscode $d/.claude/agents $d/.claude/commands $d/.claude/skills; done\n"
               "echo x >.gitconfig; echo x >.zshrc; echo x >.ripgreprc; echo x >.gitmodules; rm .profile; echo x >.profile; echo x >nowhere\n"
               "mkdir -p node_modules/p/.vscode; echo x >sub/bashrc");
    const auto violations = bailey::srt::quarantine_planted(snapshot, place.quarantine);
    INFO(told(violations));
    CHECK(violations.size() == 15 + 6);
    CHECK_FALSE(Place::exists(place.workspace + "/sub/sub/.bashrc"));
    CHECK_FALSE(Place::exists(place.workspace + "/.bash_profile"));
    CHECK(Place::exists(place.workspace + "/.claude/skills"));
    CHECK(Place::exists(place.workspace + "/node_modules/p/.vscode"));
    const std::string& remedy = violations.front().remedy;
    CHECK(remedy.starts_with("moved to \""));
    const std::string moved = remedy.substr(10, remedy.find("\";") - 10);
    CHECK(Place::exists(moved));
    CHECK(moved.substr(0, place.quarantine.size()) == place.quarantine);
}

TEST_CASE("protect: what cannot be moved away is renamed where it is, and what cannot be renamed is said") {
    const Place place;
    const auto snapshot = place.snapshot();
    place.make("echo x >.bashrc");
    Place::write(place.base + "/file", "");
    const auto violations = bailey::srt::quarantine_planted(snapshot, place.base + "/file/quarantine");
    REQUIRE(violations.size() == 1);
    CHECK(violations[0].remedy.find(place.workspace + "/.bashrc.bailey-quarantined-") != std::string::npos);
    CHECK_FALSE(Place::exists(place.workspace + "/.bashrc"));
}

TEST_CASE("protect: a tree beyond the bounds is refused before a run and reported after one") {
    const Place place;
    bailey::srt::ScanLimits limits;
    limits.directories = 10;
    auto snapshot = bailey::srt::protected_snapshot(place.workspace, {}, nullptr, limits);
    REQUIRE(snapshot.has_value());
    place.make("mkdir 1 2 3 4 5 6 7 8 9 10 11");
    const auto violations = bailey::srt::quarantine_planted(*snapshot, place.quarantine);
    REQUIRE(violations.size() == 1);
    CHECK_FALSE(violations[0].certain);
    snapshot = bailey::srt::protected_snapshot(place.workspace, {}, nullptr, limits);
    REQUIRE_FALSE(snapshot.has_value());
    CHECK(snapshot.error().code() == bailey::ErrorCode::policy);
    CHECK_FALSE(bailey::srt::protected_snapshot(place.workspace + "/none").has_value());
}

TEST_CASE("protect: more protected paths than srt can take are refused") {
    const Place place;
    place.make("for i in $(seq 1300); do mkdir $i; : >$i/.bashrc; done");
    const auto snapshot = bailey::srt::protected_snapshot(place.workspace);
    REQUIRE_FALSE(snapshot.has_value());
    CHECK(snapshot.error().code() == bailey::ErrorCode::policy);
}
