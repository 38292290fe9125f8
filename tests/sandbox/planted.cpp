// After any command, the host's git in the workspace runs nothing that was planted. Each attack is first shown to work without bailey.
#include "support.hpp"

#include <algorithm>

using namespace support;

namespace {

/// A repository as a user may have it: with history, a submodule, a nested repository, per-worktree settings and an included file.
class Repository {
    /// Whoever runs the tests may have settings of git's in the environment.
    inline static const std::string clean = "unset XDG_CONFIG_HOME $(env | sed -n 's/^\\(GIT_[A-Z0-9_]*\\)=.*/\\1/p'); ";

public:
    Repository() {
        write(place_ / "evil.sh", "#!/bin/sh\ntouch '" + (place_ / "canary") + "'\ncat >/dev/null 2>&1 </dev/null\nexit 1\n");
        write(place_ / "make.sh", R"sh(set -e
            git init -q library; cd library; echo l > l; git add .; git commit -qm l; cd ..
            git init -q W; cd W; echo x > file; git add .; git commit -qm m
            git submodule --quiet add ../library sub; git commit -qm sub
            git init -q nested; cd nested; echo n > n; git add .; git commit -qm n; cd ..
            git config extensions.worktreeConfig true; git config --worktree user.note mine
            git config -f included user.note included; git config include.path ../included
            git status --porcelain >/dev/null)sh");
        REQUIRE(host(git() + "cd " + place_.path() + " && chmod 755 evil.sh && sh make.sh >log 2>&1 || { cat log; false; }") == 0);
    }

    [[nodiscard]] std::string root() const { return place_ / "W"; }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> variables() const { return {{"EVIL", place_ / "evil.sh"}}; }

    /// The attack without a sandbox, on a copy.
    [[nodiscard]] bool works_unprotected(const std::string& attack) const {
        write(place_ / "attack.sh", attack);
        host(clean + "cd " + place_.path() + " && rm -rf keep canary && cp -a W keep && cd W && EVIL=" + (place_ / "evil.sh") + " HOME=" + root() + " bash ../attack.sh >/dev/null 2>&1 </dev/null");
        use_git();
        const bool worked = fs::exists(place_ / "canary");
        host("cd " + place_.path() + " && rm -rf W canary && mv keep W");
        return worked;
    }

    /// What a user, an editor or a prompt does in the workspace.
    void use_git() const {
        host(git() + "cd " + root() + " && for d in . nested sub; do (cd $d; git status; git diff; git log -1; git commit -q --allow-empty -m x; git checkout -q -b b$$; git gc -q --auto); done >" + place_.path() + "/said 2>&1 </dev/null");
    }
    /// What git had to say to that, for when a check fails.
    [[nodiscard]] std::string said() const { return read(place_ / "said"); }
    [[nodiscard]] bool fired() const { return fs::exists(place_ / "canary"); }

private:
    [[nodiscard]] std::string git() const {
        return clean + "export HOME=" + place_.path() + " GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c GIT_CONFIG_COUNT=1 "
               "GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always GIT_PAGER=cat; ";
    }
    TempDir place_{"bailey-repository"};
};

/// What was planted below that directory. The default grant of /tmp is everybody's: what else happens there is told too, and so is what was refused.
std::vector<bailey::Violation> planted_below(const std::string& root, std::vector<bailey::Violation> violations) {
    std::erase_if(violations, [&](const auto& violation) { return violation.kind != bailey::ViolationKind::planted_file || !violation.subject.starts_with(root + "/"); });
    return violations;
}

/// What bailey moved away for this test is of no use to anybody.
void discard(const std::vector<bailey::Violation>& violations) {
    for (const auto& violation : violations) {
        constexpr std::string_view inside = "/quarantine/";
        const auto begin = violation.remedy.find('/'), at = violation.remedy.find(inside);
        if (at == std::string::npos) continue;
        fs::remove_all(violation.remedy.substr(begin, violation.remedy.find('/', at + inside.size()) - begin));
    }
}

struct Attack {
    const char* name;
    const char* command;
    const char* planted;  ///< what of it is reported; "" when the command is refused on the spot
};

constexpr Attack attacks[] = {
    {"a hook", "mkdir -p .git/hooks; printf '#!/bin/sh\\n$EVIL\\n' \"$EVIL\" > .git/hooks/post-index-change; printf '#!/bin/sh\\n%s\\n' \"$EVIL\" > .git/hooks/pre-commit; chmod +x .git/hooks/*", ""},
    {"the configuration", "git config core.fsmonitor \"$EVIL\"", ""},
    {"an editor that replaces the configuration", "cp .git/config c; git config -f c core.fsmonitor \"$EVIL\"; mv -f c .git/config", ""},
    {"the .git directory swapped", "cp -a .git g; git config -f g/config core.fsmonitor \"$EVIL\"; mv .git old; mv g .git", ""},
    {"commondir", "cp -a .git c; git config -f c/config core.fsmonitor \"$EVIL\"; echo ../c > .git/commondir", ".git/commondir"},
    {"config.worktree", "git config -f .git/config.worktree core.fsmonitor \"$EVIL\"", ""},
    {"a submodule's configuration", "git config -f .git/modules/sub/config core.fsmonitor \"$EVIL\"", ""},
    {"a submodule's hook", "printf '#!/bin/sh\\n%s\\n' \"$EVIL\" > .git/modules/sub/hooks/pre-commit; chmod +x .git/modules/sub/hooks/pre-commit", ""},
    {"a submodule's .git file", "cp -a .git/modules/sub s; git config -f s/config core.fsmonitor \"$EVIL\"; git config -f s/config core.worktree ../sub; rm -f sub/.git; echo 'gitdir: ../s' > sub/.git", ""},
    {"a nested repository's configuration", "git -C nested config core.fsmonitor \"$EVIL\"", ""},
    {"a file that the configuration includes", "git config -f included core.fsmonitor \"$EVIL\"", ""},
    {"a new repository, as a gitlink", "git init -q n; git -C n -c user.name=t -c user.email=t@e.x commit -q --allow-empty -m n; git -c advice.addEmbeddedRepo=false add n; git -C n config core.fsmonitor \"$EVIL\"", "n/.git/config"},
    {"a new repository through a .git file", "git init -q n; git -C n -c user.name=t -c user.email=t@e.x commit -q --allow-empty -m n; git -c advice.addEmbeddedRepo=false add n; mv n/.git hidden; git config -f hidden/config core.fsmonitor \"$EVIL\"; git config -f hidden/config core.worktree ../n; echo 'gitdir: ../hidden' > n/.git",
     "hidden/config"},
    {"a new module for the submodule", "cp -a .git/modules/sub .git/modules/two; git config -f .git/modules/two/config core.fsmonitor \"$EVIL\"; mv sub away; mkdir sub; echo 'gitdir: ../.git/modules/two' > sub/.git", ".git/modules/two/config"},
};

}  // namespace

TEST_CASE("G09 the host's git runs nothing that a command planted") {
    for (const auto& attack : attacks) {
        const Repository repository;
        const std::string name = attack.name;
        INFO(name);
        const bool works = repository.works_unprotected(attack.command);
        CHECK_MESSAGE(works, "this attack does nothing: it tests nothing: ", repository.said());
        const auto config = read(repository.root() + "/.git/config");
        const auto result = workspace(repository.root()).run(attack.command, {.env = repository.variables()});
        INFO(shown(result));
        CHECK(result.outcome == bailey::Outcome::exited);
        CHECK(read(repository.root() + "/.git/config") == config);
        repository.use_git();
        CHECK_MESSAGE(!repository.fired(), repository.said());
        discard(result.violations);
        if (*attack.planted == '\0') continue;
        CHECK(std::any_of(result.violations.begin(), result.violations.end(), [&](const auto& violation) {
            return violation.kind == bailey::ViolationKind::planted_file && violation.subject == repository.root() + "/" + attack.planted && violation.certain;
        }));
    }
}

TEST_CASE("G09 git itself is told that its settings and hooks are closed") {
    const Repository repository;
    const auto before = listing(repository.root() + "/.git/hooks") + read(repository.root() + "/.git/config");
    const auto result = workspace(repository.root()).run("for k in core.hooksPath core.fsmonitor core.sshCommand include.path alias.status; do git config $k x && echo $k; done; "
                                                         "git config --global core.pager x && echo global; printf x > .git/hooks/pre-commit && echo hook; git remote add o /x && echo remote; "
                                                         "rm -rf .git/hooks; mv .git/hooks h && echo moved; git status >/dev/null && echo status");
    INFO(shown(result));
    CHECK(result.out == "global\nstatus\n");  // its HOME is the workspace: there is a .gitconfig now, which is
    const auto violations = planted_below(repository.root(), result.violations);
    REQUIRE(violations.size() == 1);          // moved away
    CHECK(violations[0].subject == repository.root() + "/.gitconfig");
    discard(violations);
    CHECK(listing(repository.root() + "/.git/hooks") + read(repository.root() + "/.git/config") == before);
}

TEST_CASE("what other tools would obey is moved to quarantine, and said") {
    TempDir root;
    write(root / ".profile", "mine");
    const auto result = workspace(root.path()).run("echo evil > .bashrc; echo evil >> .profile; mkdir -p .vscode .claude/commands; echo evil > .vscode/tasks.json; echo evil > .claude/commands/c.md; "
                                                   "mkdir sub; echo evil > sub/.mcp.json; echo fine > .claude/other; echo fine > fine; true");
    INFO(shown(result));
    CHECK(read(root / ".profile") == "mine");
    for (const auto* gone : {".bashrc", ".vscode", ".claude/commands", "sub/.mcp.json"}) {
        CAPTURE(gone);
        CHECK_FALSE(fs::exists(root / gone));
        const auto violation = std::find_if(result.violations.begin(), result.violations.end(), [&](const auto& v) { return v.subject == root / gone; });
        REQUIRE(violation != result.violations.end());
        CHECK(violation->kind == bailey::ViolationKind::planted_file);
        // The remedy names where it is now; nothing of the agent's work is lost.
        const auto begin = violation->remedy.find("\"/") + 1;
        REQUIRE(begin != 0);
        const auto moved = violation->remedy.substr(begin, violation->remedy.find('"', begin) - begin);
        CHECK(fs::exists(moved));
    }
    discard(result.violations);
    CHECK(planted_below(root.path(), result.violations).size() == 4);
    CHECK(read(root / ".claude/other") == "fine\n");
    CHECK(read(root / "fine") == "fine\n");
}
