// What git itself makes in a workspace stays where it is, and works.
#include "protect_fixture.hpp"

using protect::Place;
using protect::told;

namespace {

struct Work {
    const char* name;
    const char* before;
    const char* command;
    const char* after;  ///< must still succeed
};

const std::vector<Work> works{
    {"init, add, commit", "", "git init -q . && git config user.name t && git config user.email t@e.x && echo 1 >f && git add . && git commit -qm 1", "git log && git status && git config user.name"},
    {"a branch, a tag, a stash, a gc", "", "git init -q . && echo 1 >f && git add . && git commit -qm 1 && git switch -q -c b && git tag t && echo 2 >f && git stash -q && git gc -q && git branch -u master b || git branch -u main b", "git status && git stash pop"},
    {"clone", "git init -q --bare \"$E/r\" && git clone -q \"$E/r\" \"$E/w\" && git -C \"$E/w\" commit -q --allow-empty -m 1 && git -C \"$E/w\" push -q origin HEAD",
     "git clone -q \"$E/r\" c && git clone -q --bare \"$E/r\" c.git && git clone -q --mirror \"$E/r\" m.git && git clone -q --depth 1 \"file://$E/r\" s", "git -C c pull -q && git -C c status && git -C c.git log && git -C s log"},
    {"clone into the workspace itself", "git init -q --bare \"$E/r\"", "git clone -q \"$E/r\" .", "git status"},
    {"a remote and a push", "git init -q --bare \"$E/r\" && git init -q . && git commit -q --allow-empty -m 1", "git remote add o \"$E/r\" && git push -q -u o HEAD", "git fetch -q o && git status"},
    {"worktree add", "git init -q . && git commit -q --allow-empty -m 1", "git worktree add -q wt && git worktree add -q -b x deep/er/wt2", "git -C wt status && git -C deep/er/wt2 status && git worktree list"},
    {"worktree add in a repository that is new itself", "", "git init -q r && cd r && git commit -q --allow-empty -m 1 && git worktree add -q ../wt && cd ../wt && echo 1 >f && git add f && git commit -qm 2", "git -C wt status"},
    {"submodule add", "git init -q \"$E/s\" && git -C \"$E/s\" commit -q --allow-empty -m s && git init -q . && git commit -q --allow-empty -m 1",
     "git submodule --quiet add \"$E/s\" s && git submodule --quiet add --name other/name -b master \"$E/s\" deep/er/s2 || git submodule --quiet add --name other/name -b main \"$E/s\" deep/er/s2\ngit commit -qm s", "git -C s status && git -C deep/er/s2 log && git submodule status && git status"},
    {"submodules of submodules, cloned", "git init -q \"$E/a\" && git -C \"$E/a\" commit -q --allow-empty -m s && git init -q \"$E/b\" && git -C \"$E/b\" submodule --quiet add \"$E/a\" a && git -C \"$E/b\" commit -qm b && "
     "git init -q \"$E/c\" && git -C \"$E/c\" submodule --quiet add \"$E/b\" b && git -C \"$E/c\" commit -qm c",
     "git clone -q --recurse-submodules \"$E/c\" c", "git -C c status && git -C c/b/a log && git -C c submodule status --recursive"},
    {"sparse checkout", "", "git init -q . && mkdir a b && echo 1 >a/f && echo 1 >b/f && git add . && git commit -qm 1 && git sparse-checkout set --cone --sparse-index a", "git status && git sparse-checkout list"},
    {"SHA-256", "", "git init -q --object-format=sha256 . && echo 1 >f && git add f && git commit -qm 1", "git log && git status"},
    {"a split index, and one of version 4", "", "git init -q . && echo 1 >f && git add f && git update-index --split-index && git init -q n && cd n && echo 1 >f && git add f && git update-index --index-version 4", "git status && git -C n status"},
    {"work in a repository that was there", "git init -q . && git config alias.st status && git config core.editor vi && mkdir -p a/b/c/d/e && git init -q a/b/c/d/e/n && git -C a/b/c/d/e/n config alias.x y && "
     "git -C a/b/c/d/e/n commit -q --allow-empty -m n && git add . && git commit -qm 1",
     "echo 1 >f && git add f && git commit -qm 2 && git switch -q -c x && git -C a/b/c/d/e/n commit -q --allow-empty -m 2 && git add . && git commit -qm 3", "git st && git -C a/b/c/d/e/n x -h || git status"},
    {"a worktree of a repository elsewhere", "git init -q \"$E/m\" && git -C \"$E/m\" commit -q --allow-empty -m 1 && rmdir \"$W\" && git -C \"$E/m\" worktree add -q \"$W\"",
     "echo 1 >f && git add f && git commit -qm 2 && git worktree add -q -b y sub", "git status && git -C sub status"},
};

}  // namespace

TEST_CASE("protect: what git makes stays and works") {
    for (const Work& work : works) {
        const std::string name = work.name;
        CAPTURE(name);
        const Place place;
        place.make(std::string{"git config --global init.defaultBranch main\n"} + work.before);
        const auto snapshot = place.snapshot({place.outside});
        place.make(work.command);
        const auto violations = bailey::srt::quarantine_planted(snapshot, place.quarantine);
        INFO(told(violations));
        CHECK(violations.empty());
        CHECK_FALSE(Place::exists(place.quarantine));
        const auto next = place.snapshot({place.outside});
        CHECK(bailey::srt::quarantine_planted(next, place.quarantine).empty());
        place.make(work.after);
    }
}

TEST_CASE("protect: which paths are denied") {
    const Place place;
    place.make("git init -q . && git commit -q --allow-empty -m 1 && git worktree add -q wt && rm -r .git/hooks/* && git init -q --bare b.git && rm -r b.git/hooks\n"
               "mkdir tools && echo 1 >tools/h && ln -s ../../tools/h .git/hooks/pre-commit && git config include.path ../inc && : >inc && git config core.hooksPath tools\n"
               "mkdir -p a/b/c/unseen a/b/c/deep && git init -q a/b/c && rm -r a/b/c/.git/hooks && git init -q a/b/c/unseen\n"
               "git init -q a/b/c/deep/n && rm -r a/b/c/deep/n/.git/hooks && git -C a/b/c/deep/n commit -q --allow-empty -m n && git -C a/b/c add deep");
    const std::vector<std::string> expected{".git/config", ".git/hooks", ".git/hooks/pre-commit", ".git/worktrees/wt/commondir", "a/b/c/.git/config",
                                            "a/b/c/deep/n/.git/config", "b.git/config", "inc", "tools", "wt/.git"};
    std::vector<std::string> paths = place.snapshot().paths();
    for (std::string& path : paths) path.erase(0, place.workspace.size() + 1);
    CHECK(paths == expected);
}
