// Which URLs can name an upstream proxy, and how much a limit can be.
#include <doctest/doctest.h>

#include <string>

#include <bailey/grammar/limits.hpp>
#include <bailey/grammar/url.hpp>

using namespace bailey::grammar;

TEST_CASE("proxy URLs: scheme, host, port") {
    for (const auto& url : {"http://proxy.example:3128", "https://proxy.example", "http://proxy:3128/", "http://localhost:8080",
                            "http://10.0.0.1:3128", "http://[::1]:3128"}) {
        CAPTURE(std::string{url});
        CHECK_FALSE(proxy_url_fault(url, UrlUse::literal));
        CHECK_FALSE(proxy_url_fault(url, UrlUse::runtime));
    }
    const auto kind = [](const std::string& url) { return proxy_url_fault(url, UrlUse::runtime).kind; };
    for (const auto& url :
         {"", "proxy.example:3128", "socks5://proxy.example", "HTTP://proxy.example", "http:/proxy", "ftp://x.example"})
        CHECK(kind(url) == UrlFault::scheme);
    for (const auto& url :
         {"http://", "http:///", "http://*.example.com", "http://-x.example", "http://::1", "http://127.1", "http://a@b@"}) {
        CAPTURE(std::string{url});
        CHECK(kind(url) == UrlFault::host);
    }
    for (const auto& url : {"http://p.example/x", "http://p.example?x", "http://p.example#x", "http://p.example//"})
        CHECK(kind(url) == UrlFault::path);
    for (const auto& url : {"http://p.example:", "http://p.example:0", "http://p.example:65536", "http://p.example:x"})
        CHECK(kind(url) == UrlFault::port);
    for (const auto& url : {"http://p.example ", "http://p.ex\nample", "http://m\xc3\xbcnchen.example"})
        CHECK(kind(url) == UrlFault::character);
}

TEST_CASE("proxy URLs: a password only at run time") {
    CHECK(proxy_url_fault("http://me:word@p.example:3128", UrlUse::literal).kind == UrlFault::credential);
    CHECK(proxy_url_fault("http://me@p.example", UrlUse::literal).kind == UrlFault::credential);
    CHECK_FALSE(proxy_url_fault("http://me:word@p.example:3128", UrlUse::runtime));
    CHECK_FALSE(proxy_url_fault("http://me:w@rd@p.example:3128", UrlUse::runtime));
}

TEST_CASE("limits: zero is refused, and so is memory without a unit") {
    CHECK(limit_fault(0, LimitUse::any).kind == LimitFault::zero);
    CHECK(limit_fault(0, LimitUse::memory).kind == LimitFault::zero);
    CHECK(limit_fault(512, LimitUse::memory).kind == LimitFault::tiny);
    CHECK_FALSE(limit_fault(1, LimitUse::any));
    CHECK_FALSE(limit_fault(1 << 20, LimitUse::memory));
}
