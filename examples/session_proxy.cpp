// One policy for the host program and for its commands: libcurl in this process goes through the session's own filtering proxy.
// Usage: session_proxy DIRECTORY ALLOWED_DOMAIN URL...
#include <bailey/bailey.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <curl/curl.h>
#include <fmt/core.h>

namespace {

/// What came of one request of this process: a status, "refused" by the proxy, or an error of the network's.
std::string fetch(const std::string& proxy, const std::string& url) {
    const std::unique_ptr<CURL, void (*)(CURL*)> curl{curl_easy_init(), curl_easy_cleanup};
    if (!curl) return "no libcurl";
    std::array<char, CURL_ERROR_SIZE> why{};
    bool refused = false;
    const auto see_header = +[](char* bytes, std::size_t size, std::size_t count, void* seen) {
        if (std::string_view{bytes, size * count}.starts_with("X-Proxy-Error:")) *static_cast<bool*>(seen) = true;
        return size * count;
    };
    const auto drop_body = +[](char*, std::size_t size, std::size_t count, void*) { return size * count; };
    curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");  // what a proxy cannot filter, as file:, is not for an agent
    curl_easy_setopt(curl.get(), CURLOPT_PROXY, proxy.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "");  // else the host's NO_PROXY names what goes past it
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, 30L);
    curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, why.data());
    curl_easy_setopt(curl.get(), CURLOPT_HEADERFUNCTION, see_header);
    curl_easy_setopt(curl.get(), CURLOPT_HEADERDATA, &refused);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, drop_body);
    const auto code = curl_easy_perform(curl.get());
    if (refused) return "refused";
    if (code != CURLE_OK) return why.front() != '\0' ? why.data() : curl_easy_strerror(code);
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    return std::to_string(status);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        fmt::print(stderr, "usage: session_proxy DIRECTORY ALLOWED_DOMAIN URL...\n");
        return 2;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    try {
        const bailey::Workspace workspace{argv[1], bailey::runtime::DomainAllowlist{argv[2]}};
        const auto session = workspace.open_session();
        for (int i = 3; i < argc; ++i) {
            const std::string url = argv[i];
            // Asked for each time: when the broker has been replaced, it is another one.
            fmt::print("{}: the host {}", url, fetch(session.proxy_url(), url));
            const auto result = session.run_argv({"curl", "-sS", "-m30", "--proto", "=http,https", "--noproxy", "", "-o", "/dev/null", "-w", "%{http_code}", "--", url});
            const bool refused = !result.violations.empty() && result.violations.front().kind == bailey::ViolationKind::network;
            fmt::print(", a command {}\n", refused ? "refused: " + result.violations.front().rule : result.ok() ? result.out : result.err);
        }
    } catch (const bailey::Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
    curl_global_cleanup();
}
