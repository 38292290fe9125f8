// A session of a workspace: the same sandboxes without the wait, with questions about the network and changes of it while commands run.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <bailey/base/error.hpp>
#include <bailey/boundary/boundary.hpp>
#include <bailey/commands.hpp>
#include <bailey/grammar/domain.hpp>
#include <bailey/policy/runtime.hpp>
#include <bailey/srt/session_core.hpp>
#include <bailey/srt/session_options.hpp>
#include <bailey/srt/session_source.hpp>

namespace bailey {

/// From Workspace::open_session. Runs commands as the workspace does, with the same guarantees: each in a fresh sandbox, exactly as
/// strict. One session may be used from many threads at once. It keeps a process of node and, by default, one sandbox that waits;
/// when it goes, so do they, after the last command that was started in it. Whatever happens to them, commands still run: slower,
/// never weaker.
class Session : public Commands {
public:
    [[nodiscard]] static Result<Session> open(std::shared_ptr<const srt::Sandbox> sandbox, SessionOptions options = {}) {
        // One entry that srt's own rules refuse, and it takes none of the list.
        if (options.on_network_request)
            options.on_network_request = [ask = std::move(options.on_network_request)](const NetworkRequest& request) {
                auto answer = ask(request);
                const bool can_be_listed = !grammar::domain_fault(request.entry(), grammar::DomainUse::allow);
                return answer.kind() != NetworkAnswer::Kind::session || can_be_listed ? answer : NetworkAnswer::allow_once();
            };
        auto core = srt::SessionCore::open(std::move(sandbox), std::move(options));
        if (!core) return core.error();
        return Session{std::move(*core)};
    }

    /// The workspace's boundary, with the domains as they are now.
    [[nodiscard]] Boundary boundary() const { return core_->boundary(); }

    /// These take effect for connections that begin after they have returned, in commands that run already too; connections that are
    /// open stay open. Entries as in DomainAllowlist and DomainDenylist; PolicyError: one is refused, and then nothing is changed.
    /// Waits for the broker, at most 10 s: a ProcessError says that it has not answered, and the new lists hold from the next one on.
    [[nodiscard]] Result<void> try_allow_domains(const runtime::DomainAllowlist& domains) {
        return change(domains, {}, [&](Boundary& boundary, const Boundary& checked) { append_new(boundary.allowed_domains, checked.allowed_domains); });
    }
    [[nodiscard]] Result<void> try_deny_domains(const runtime::DomainDenylist& domains) {
        return change({}, domains, [&](Boundary& boundary, const Boundary& checked) { append_new(boundary.denied_domains, checked.denied_domains); });
    }
    /// Replaces both lists.
    [[nodiscard]] Result<void> try_set_domains(const runtime::DomainAllowlist& allowed, const runtime::DomainDenylist& denied = {}) {
        return change(allowed, denied, [&](Boundary& boundary, const Boundary& checked) {
            boundary.allowed_domains = checked.allowed_domains;
            boundary.denied_domains = checked.denied_domains;
        });
    }

    /// The filtering proxy of this session, with the password it asks for, for the host's own HTTP clients: one policy for both. It
    /// covers what a client sends through it and nothing else; it is another one after the broker has been replaced. Waits for the
    /// broker to be ready, at most 30 s. SandboxStartError: there is none.
    [[nodiscard]] Result<std::string> try_proxy_url() const { return core_->proxy_url(); }

    [[nodiscard]] SessionStats stats() const { return core_->stats(); }

#if defined(__cpp_exceptions)
    void allow_domains(const runtime::DomainAllowlist& domains) { try_allow_domains(domains).value(); }
    void deny_domains(const runtime::DomainDenylist& domains) { try_deny_domains(domains).value(); }
    void set_domains(const runtime::DomainAllowlist& allowed, const runtime::DomainDenylist& denied = {}) { try_set_domains(allowed, denied).value(); }
    [[nodiscard]] std::string proxy_url() const { return try_proxy_url().value(); }
#endif

private:
    static void append_new(std::vector<std::string>& list, const std::vector<std::string>& entries) {
        std::copy_if(entries.begin(), entries.end(), std::back_inserter(list), [&](const auto& entry) { return std::find(list.begin(), list.end(), entry) == list.end(); });
    }
    explicit Session(std::shared_ptr<srt::SessionCore> core) : Commands{std::make_shared<srt::SessionSource>(core)}, core_{std::move(core)} {}

    template <class Change>
    [[nodiscard]] Result<void> change(const runtime::DomainAllowlist& allowed, const runtime::DomainDenylist& denied, Change&& change) {
        Boundary checked;
        allowed.apply(checked);
        denied.apply(checked);
        if (!checked.refusals.empty()) {
            std::string sentences;
            for (const auto& refusal : checked.refusals) sentences += (sentences.empty() ? "" : "\n") + refusal;
            return Error{ErrorCode::policy, std::move(sentences)};
        }
        return core_->change_domains([&](Boundary& boundary) { change(boundary, checked); });
    }

    std::shared_ptr<srt::SessionCore> core_;
};

}  // namespace bailey
