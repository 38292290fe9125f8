// The workspace: a directory in which any command can be run, with its boundary as a type.
#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <bailey/base/error.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/boundary/explain.hpp>
#include <bailey/commands.hpp>
#include <bailey/files.hpp>
#include <bailey/policy/concept.hpp>
#include <bailey/policy/declared.hpp>
#include <bailey/session.hpp>
#include <bailey/srt/cold.hpp>
#include <bailey/srt/sandbox.hpp>
#include <bailey/srt/tools.hpp>

namespace bailey {

/// A policy whose type says everything.
template <class P>
concept LiteralPolicy = Policy<P> && std::is_empty_v<P> && std::default_initializable<P>;

/// A directory in which any command line can be run, bounded by the kernel. Without a policy: reads the workspace, /tmp and the
/// system, writes the workspace and /tmp, reaches no network, inherits nothing. docs/policies.md has the table.
///
/// One workspace may be used from many threads at once; a copy is the same workspace. A moved-from workspace can only be destroyed or
/// assigned to. Everything that throws has a twin try_… that returns a Result; with -fno-exceptions only those exist.
template <Policy... Ps>
class Workspace : public Commands {
public:
    /// The boundary is decided here, once: paths are made absolute and real, and pinned. Relative ones start at the root.
    [[nodiscard]] static Result<Workspace> open(std::string_view root, Ps... policies) noexcept { return with_tools({}, root, policies...); }
    [[nodiscard]] static Result<Workspace> open(std::string_view root, const Tools& tools) noexcept
        requires(LiteralPolicy<Ps> && ...)
    {
        return with_tools(tools, root, Ps{}...);
    }
    [[nodiscard]] static Result<Workspace> open(std::string_view root) noexcept
        requires(sizeof...(Ps) > 0 && (LiteralPolicy<Ps> && ...))
    {
        return open(root, Ps{}...);
    }

#if defined(__cpp_exceptions)
    /// Throws PolicyError: the root is missing or no directory, a value is refused, a grant cannot be pinned.
    explicit Workspace(std::string_view root, const Tools& tools = {})
        requires(LiteralPolicy<Ps> && ...)
        : Workspace{open(root, tools).value()} {}
    explicit Workspace(std::string_view root, Ps... policies)
        requires(sizeof...(Ps) > 0)
        : Workspace{open(root, std::move(policies)...).value()} {}
#endif

    /// Uses these tools instead of those on the host's PATH, in this workspace and its copies. What is wrong with them is said by the
    /// next run.
    Workspace& use(Tools tools) {
        sandbox_->use(tools);
        return *this;
    }

    /// Absolute, without symlinks.
    [[nodiscard]] const std::string& root() const { return boundary().root; }
    [[nodiscard]] const Boundary& boundary() const { return sandbox_->boundary(); }
    /// For people: who may do what, and what this platform cannot enforce.
    [[nodiscard]] std::string explain() const { return bailey::explain(boundary()); }
    /// The text that srt would receive if a command were run now.
    [[nodiscard]] Result<std::string> try_settings_json() const { return sandbox_->settings_json(); }

    /// Keeps a broker and prepared sandboxes, so that a command waits for milliseconds: see Session.
    [[nodiscard]] Result<Session> try_open_session(SessionOptions options = {}) const { return Session::open(sandbox_, std::move(options)); }

    /// The host's own file access on the agent's behalf: beneath the root, through no symlink, denied what commands
    /// are denied. A path is relative to the root, or begins with root(); `~` is a name like others. Reads at most 64 MiB; writes
    /// replace the file as a whole, and never one that the host would run by itself.
    /// Lists give sorted names, those of directories with a "/" behind; what is removed is a file, a link or an empty directory.
    [[nodiscard]] Result<std::string> try_read_text(std::string_view path) const { return files::read_text(sandbox_->root(), boundary(), path); }
    [[nodiscard]] Result<void> try_write_text(std::string_view path, std::string_view content) const {
        return sandbox_->guarded("writing", files::absolute(boundary(), path), [&] { return files::write_text(sandbox_->root(), boundary(), path, content); });
    }
    [[nodiscard]] Result<std::vector<std::string>> try_list(std::string_view path = ".") const { return files::list(sandbox_->root(), boundary(), path); }
    [[nodiscard]] Result<bool> try_exists(std::string_view path) const { return files::exists(sandbox_->root(), boundary(), path); }
    [[nodiscard]] Result<void> try_remove(std::string_view path) const {
        return sandbox_->guarded("removing", files::absolute(boundary(), path), [&] { return files::remove(sandbox_->root(), boundary(), path); });
    }

#if defined(__cpp_exceptions)
    [[nodiscard]] std::string settings_json() const { return try_settings_json().value(); }

    [[nodiscard]] Session open_session(SessionOptions options = {}) const { return try_open_session(std::move(options)).value(); }

    [[nodiscard]] std::string read_text(std::string_view path) const { return try_read_text(path).value(); }
    void write_text(std::string_view path, std::string_view content) const { try_write_text(path, content).value(); }
    [[nodiscard]] std::vector<std::string> list(std::string_view path = ".") const { return try_list(path).value(); }
    [[nodiscard]] bool exists(std::string_view path) const { return try_exists(path).value(); }
    void remove(std::string_view path) const { try_remove(path).value(); }
#endif

private:
    [[nodiscard]] static Result<Workspace> with_tools(const Tools& tools, std::string_view root, const Ps&... policies) noexcept {
        Boundary declared;
#if defined(__cpp_exceptions)
        try {
            (policies.apply(declared), ...);
        } catch (...) {
            return Error{ErrorCode::callback, "bailey: a policy threw; the workspace is not made", std::current_exception()};
        }
#else
        (policies.apply(declared), ...);
#endif
        policy::check_declared(declared);
        auto sandbox = srt::Sandbox::make(std::move(declared), root, tools);
        if (!sandbox) return sandbox.error();
        return Workspace{std::move(*sandbox)};
    }

    explicit Workspace(std::shared_ptr<srt::Sandbox> sandbox) : Commands{std::make_shared<srt::ColdSource>(sandbox)}, sandbox_{std::move(sandbox)} {}

    std::shared_ptr<srt::Sandbox> sandbox_;
};

template <Policy... Ps>
Workspace(std::string_view, Ps...) -> Workspace<Ps...>;
Workspace(std::string_view)->Workspace<>;
Workspace(std::string_view, Tools)->Workspace<>;

}  // namespace bailey
