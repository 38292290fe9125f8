// A small HTTP server on the host's loopback: answers every request the same, or with files of a directory, and remembers them.
#pragma once

#include "support.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace support {

class HttpServer {
public:
    /// Serves the files below `directory`, when one is given; otherwise says `answer` to everything, as a proxy would be asked too.
    explicit HttpServer(std::string answer, std::string directory = {}) : answer_{std::move(answer)}, directory_{std::move(directory)} {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        socklen_t size = sizeof address;
        REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
        REQUIRE(::listen(listener_, 64) == 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread{[this] { serve(); }};
    }
    ~HttpServer() {
        ending_ = true;
        thread_.join();
        ::close(listener_);
    }
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    [[nodiscard]] std::string port() const { return std::to_string(port_); }
    [[nodiscard]] std::string url(const std::string& host = "127.0.0.1", const std::string& path = "/") const {
        return "http://" + host + ":" + port() + path;
    }
    /// The heads of the requests so far.
    [[nodiscard]] std::vector<std::string> requests() const {
        const std::lock_guard lock{mutex_};
        return requests_;
    }
    /// How many connections there were, also such that said nothing.
    [[nodiscard]] int connections() const { return connections_; }

private:
    void serve() {
        while (!ending_) {
            pollfd waiting{listener_, POLLIN, 0};
            if (::poll(&waiting, 1, 20) <= 0) continue;
            const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (client < 0) continue;
            ++connections_;
            const timeval patience{2, 0};
            ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
            answer(client);
            ::shutdown(client, SHUT_WR);
            ::close(client);
        }
    }

    void answer(int client) {
        const auto head = read_head(client);
        if (head.empty()) return;
        {
            const std::lock_guard lock{mutex_};
            requests_.push_back(head);
        }
        if (head.rfind("CONNECT ", 0) == 0) {  // the tunnel ends here: what comes through it is a request to us
            send(client, "HTTP/1.1 200 Connection established\r\n\r\n");
            answer(client);
            return;
        }
        const auto begin = head.find(' ') + 1;
        std::string path = head.substr(begin, head.find_first_of(" ?", begin) - begin);
        std::string body = answer_;
        std::string status = "200 OK";
        if (!directory_.empty()) {
            if (fs::is_regular_file(directory_ + path) && path.find("..") == std::string::npos) {
                body = read(directory_ + path);
            } else {
                status = "404 Not Found";
                body = "no such file\n";
            }
        }
        send(client, "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
    }

    static std::string read_head(int client) {
        std::string head;
        char byte = 0;
        while (head.find("\r\n\r\n") == std::string::npos && head.size() < 65536) {
            if (::recv(client, &byte, 1, 0) != 1) return {};
            head += byte;
        }
        return head;
    }
    static void send(int client, std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }

    std::string answer_, directory_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<bool> ending_{false};
    std::atomic<int> connections_{0};
    mutable std::mutex mutex_;
    std::vector<std::string> requests_;
    std::thread thread_;
};

}  // namespace support
