#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "http1/admin_server.h"

namespace ringside::http {

inline const Endpoint loopback{"127.0.0.1", 0};

// A client that writes what it is told to, byte for byte.
class AdminClient {
 public:
  explicit AdminClient(const AdminServer& server) { connect_to(server); }
  // From another address of the loopback network.
  AdminClient(const AdminServer& server, const std::string& from) {
    socket_.open(boost::asio::ip::tcp::v4());
    socket_.bind({boost::asio::ip::make_address(from), 0});
    connect_to(server);
  }
  AdminClient& send(std::string_view bytes) {
    boost::system::error_code ignored;  // the server may have said enough already
    boost::asio::write(socket_, boost::asio::buffer(bytes), ignored);
    return *this;
  }
  // All that comes until the server ends the connection.
  std::string read_to_end() {
    std::string all;
    boost::system::error_code error;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(all), error);
    EXPECT_EQ(error, boost::asio::error::eof);
    return all;
  }
  std::string read_until(std::string_view end) {
    std::string all;
    boost::asio::read_until(socket_, boost::asio::dynamic_buffer(all), end);
    return all;
  }

 private:
  void connect_to(const AdminServer& server) {
    const Endpoint at = server.address();
    socket_.connect({boost::asio::ip::make_address(at.host), at.port});
  }

  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_{io_};
};

inline std::string ask(const AdminServer& server, std::string_view request) {
  return AdminClient(server).send(request).read_to_end();
}

inline std::string request(std::string_view line, std::string_view fields = "",
                           std::string_view body = "") {
  std::string text(line);
  text += " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  text += fields;
  text += "\r\n";
  return text += body;
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline AdminServer::Answer echo(const AdminServer::Request& in) {
  return {200, "application/json",
          "path=" + std::string(in.path) + " query=" + std::string(in.query) +
              " body=" + std::string(in.body)};
}

class AdminServerTest : public testing::Test {
 protected:
  AdminServerTest() {
    server.on("GET", "/livez", [](const auto&) { return AdminServer::Answer{.body = "ok\n"}; });
    server.on("GET", "/topology", echo);
    server.on("PUT", "/topology", echo);
    server.on("POST", "/drain", [this](const auto& in) {
      ++drained;
      return echo(in);
    });
    server.on("GET", "/throws", [](const auto&) -> AdminServer::Answer {
      throw std::runtime_error("no figures today");
    });
    server.on("GET", "/throws-an-int", [](const auto&) -> AdminServer::Answer { throw 7; });
  }
  void SetUp() override { ASSERT_TRUE(server.start(loopback)); }

  AdminServer server;
  std::atomic<int> drained{0};
};

}  // namespace ringside::http
