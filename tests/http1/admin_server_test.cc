#include "http1/admin_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <cstdio>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/limits.h"

namespace ringside::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

const Endpoint loopback{"127.0.0.1", 0};

// A client that writes what it is told to, byte for byte.
class Client {
 public:
  explicit Client(const AdminServer& server) {
    const Endpoint at = server.address();
    socket_.connect({asio::ip::make_address(at.host), at.port});
  }
  Client& send(std::string_view bytes) {
    boost::system::error_code ignored;  // the server may have said enough already
    asio::write(socket_, asio::buffer(bytes), ignored);
    return *this;
  }
  // All that comes until the server ends the connection.
  std::string read_to_end() {
    std::string all;
    boost::system::error_code error;
    asio::read(socket_, asio::dynamic_buffer(all), error);
    EXPECT_EQ(error, asio::error::eof);
    return all;
  }
  std::string read_until(std::string_view end) {
    std::string all;
    asio::read_until(socket_, asio::dynamic_buffer(all), end);
    return all;
  }

 private:
  asio::io_context io_;
  tcp::socket socket_{io_};
};

std::string ask(const AdminServer& server, std::string_view request) {
  return Client(server).send(request).read_to_end();
}

std::string request(std::string_view line, std::string_view fields = "",
                    std::string_view body = "") {
  std::string text(line);
  text += " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
  text += fields;
  text += "\r\n";
  return text += body;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

AdminServer::Answer echo(const AdminServer::Request& in) {
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

struct Expected {
  std::string request;
  std::string status_line;
  std::vector<std::string> parts;
};

void expect(const AdminServer& server, const std::vector<Expected>& cases) {
  for (const auto& c : cases) {
    SCOPED_TRACE(c.request.substr(0, 100));
    const std::string answer = ask(server, c.request);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + c.status_line + "\r\n")) << answer;
    EXPECT_TRUE(contains(answer, "Connection: close\r\n")) << answer;
    for (const auto& part : c.parts) EXPECT_TRUE(contains(answer, part)) << answer;
  }
}

TEST_F(AdminServerTest, Answers) {
  expect(
      server,
      {{request("GET /livez"),
        "200 OK",
        {"Content-Type: text/plain; charset=utf-8\r\n", "Content-Length: 3\r\n", "\r\n\r\nok\n"}},
       {request("GET /topology?name=a%20b&x=1"),
        "200 OK",
        {"Content-Type: application/json\r\n", "path=/topology query=name=a%20b&x=1 body="}},
       {request("GET /%6Civez"), "200 OK", {"ok\n"}},
       {request("PUT /topology", "Content-Length: 4\r\n", "a\nb\n"),
        "200 OK",
        {"path=/topology query= body=a\nb\n"}},
       {request("PUT /topology", "Transfer-Encoding: chunked\r\n",
                "3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"),
        "200 OK",
        {"body=abcd"}},
       // The body is the handler's, whatever form it has.
       {request("PUT /topology",
                "Content-Length: 5\r\nContent-Type: multipart/form-data; boundary=b\r\n", "--b--"),
        "200 OK",
        {"body=--b--"}},
       {request("GET /livez", "Range: bytes=0-0\r\n"), "200 OK", {"\r\n\r\nok\n"}},
       {request("GET /livez", "Accept-Encoding: gzip, br\r\n"), "200 OK", {"\r\n\r\nok\n"}}});
}

TEST_F(AdminServerTest, Refuses) {
  const std::string long_path = "/" + std::string(7000, 'a');
  expect(server,
         {{request("GET /nothing"),
           "404 Not Found",
           {"  GET, HEAD /livez\n", "  POST /drain\n", "  GET, HEAD, PUT /topology\n"}},
          {request("GET /livez/"), "404 Not Found", {}},
          {request("POST " + long_path, "Content-Length: 1\r\n", "x"), "404 Not Found", {}},
          {request("PUT /a%0Ab", "Content-Length: 1\r\n", "x"), "404 Not Found", {"/livez"}},
          {request("PUT /livez", "Content-Length: 1\r\n", "x"),
           "405 Method Not Allowed",
           {"Allow: GET, HEAD\r\n"}},
          {request("OPTIONS /topology"), "405 Method Not Allowed", {"Allow: GET, HEAD, PUT\r\n"}},
          {request("GET /drain"), "405 Method Not Allowed", {"Allow: POST\r\n"}},
          {request("DELETE /topology"), "405 Method Not Allowed", {}},
          {request("PUT /topology", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
           "501 Not Implemented",
           {}},
          {request("PUT /topology", "Transfer-Encoding: chunked\r\n", "x\r\n"),
           "400 Bad Request",
           {"malformed"}},
          {request("GET /throws"), "500 Internal Server Error", {"no figures today"}},
          {request("GET /throws-an-int"), "500 Internal Server Error", {"the handler failed"}},
          {"NONSENSE\r\n\r\n", "400 Bad Request", {"not a request that is understood here"}},
          {request("PURGE /livez"), "400 Bad Request", {}}});
}

TEST_F(AdminServerTest, HeadIsGetWithoutTheBody) {
  const std::string answer = ask(server, request("HEAD /livez"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(contains(answer, "Content-Length: 3\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

// `curl -X POST` sends neither; httplib by itself would read until the client gives up.
TEST_F(AdminServerTest, APostWithoutLengthHasNoBody) {
  EXPECT_TRUE(contains(ask(server, request("POST /drain")), "body="));
  EXPECT_EQ(drained, 1);
}

TEST_F(AdminServerTest, AConnectionIsKept) {
  Client client(server);
  for (int i = 0; i < 10; ++i) {
    client.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(client.read_until("ok\n").starts_with("HTTP/1.1 200 OK\r\n"));
  }
  client.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n" + request("GET /topology"));
  const std::string both = client.read_to_end();
  EXPECT_TRUE(contains(both, "ok\nHTTP/1.1 200 OK\r\n")) << both;
  EXPECT_TRUE(contains(both, "path=/topology")) << both;
}

TEST_F(AdminServerTest, BodiesBeyondTheLimitAreRefused) {
  const std::string too_much(limits::admin_body_size_bytes + 1, 'x');
  const std::string length = "Content-Length: " + std::to_string(too_much.size()) + "\r\n";
  std::string chunk(32, '\0');
  chunk.resize(static_cast<std::size_t>(
      std::snprintf(chunk.data(), chunk.size(), "%zx\r\n", too_much.size())));
  struct Case {
    const char* name;
    std::string request;
  };
  for (const auto& c : std::vector<Case>{
           {"by length", request("PUT /topology", length, too_much)},
           {"chunked", request("PUT /topology", "Transfer-Encoding: chunked\r\n",
                               chunk + too_much + "\r\n0\r\n\r\n")},
           {"a length that is not kept", request("PUT /topology", length, "x")},
           {"asked before it is sent",
            request("PUT /topology", length + "Expect: 100-continue\r\n")},
           {"on a path that takes none", request("GET /livez", length, too_much)},
       }) {
    SCOPED_TRACE(c.name);
    const std::string answer = ask(server, c.request);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n")) << answer;
    EXPECT_TRUE(contains(answer, "413: the body may have 4194304 bytes at most\n")) << answer;
  }
  const std::string just_enough(limits::admin_body_size_bytes, 'x');
  EXPECT_TRUE(ask(server, request("PUT /topology",
                                  "Content-Length: " + std::to_string(just_enough.size()) + "\r\n",
                                  just_enough))
                  .starts_with("HTTP/1.1 200 OK\r\n"));
}

// httplib unpacks bodies and bounds only what it reads.
TEST_F(AdminServerTest, APackedBodyIsBoundedByWhatIsInIt) {
  httplib::Client client(server.address().host, server.address().port);
  client.set_compress(true);
  const auto result =
      client.Put("/topology", std::string(limits::admin_body_size_bytes + 1, 'x'), "text/plain");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 413);
  const auto small = client.Put("/topology", std::string(1000, 'x'), "text/plain");
  ASSERT_TRUE(small);
  EXPECT_TRUE(contains(small->body, "body=xxx"));
}

TEST_F(AdminServerTest, AnUnwantedBodyIsNotTheNextRequest) {
  const std::string inner = "POST /drain HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string fields =
      "Host: x\r\nContent-Length: " + std::to_string(inner.size()) + "\r\n\r\n";
  for (const char* line : {"GET /livez", "GET /nothing", "OPTIONS /livez", "PUT /livez"}) {
    SCOPED_TRACE(line);
    const std::string answer = ask(server, line + (" HTTP/1.1\r\n" + fields) + inner);
    EXPECT_EQ(answer.rfind("HTTP/1.1 "), 0u) << answer;
  }
  EXPECT_EQ(drained, 0);
}

TEST_F(AdminServerTest, AHeadWithoutEndIsRefused) {
  const std::string answer =
      ask(server, "GET /livez HTTP/1.1\r\nX: " + std::string(limits::head_size_bytes, 'x'));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 Bad Request\r\n")) << answer;
}

TEST_F(AdminServerTest, APageOfAnotherSiteChangesNothing) {
  struct Case {
    std::string fields;
    int drained;
  };
  for (const auto& c : std::vector<Case>{{"Origin: http://evil.example\r\n", 0},
                                         {"Origin: null\r\n", 0},
                                         {"Origin: http://x\r\n", 1},
                                         {"", 1}}) {
    SCOPED_TRACE(c.fields);
    drained = 0;
    const std::string answer = ask(server, request("POST /drain", c.fields));
    EXPECT_EQ(drained, c.drained);
    EXPECT_EQ(contains(answer, "HTTP/1.1 403 Forbidden\r\n"), c.drained == 0) << answer;
  }
  EXPECT_TRUE(
      contains(ask(server, request("GET /livez", "Origin: http://evil.example\r\n")), "200 OK"));
}

// A browser keeps six connections, a scraper one: with a thread for each, /livez would wait.
TEST_F(AdminServerTest, IdleConnectionsHoldNoThread) {
  std::vector<std::unique_ptr<Client>> idle;
  for (std::size_t i = 0; i < 4 * limits::admin_threads; ++i) {
    idle.push_back(std::make_unique<Client>(server));
    if (i % 2 == 0) continue;  // some have asked once, some never
    idle.back()->send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n").read_until("ok\n");
  }
  EXPECT_TRUE(contains(ask(server, request("GET /livez")), "ok\n"));
}

TEST_F(AdminServerTest, BeyondTheLimitTheLongestIdleConnectionIsClosed) {
  Client first(server);
  first.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n").read_until("ok\n");
  std::vector<std::unique_ptr<Client>> others;
  for (std::size_t i = 1; i < limits::admin_connections; ++i) {
    others.push_back(std::make_unique<Client>(server));
    others.back()->send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n").read_until("ok\n");
  }
  EXPECT_TRUE(contains(ask(server, request("GET /livez")), "ok\n"));
  EXPECT_EQ(first.read_to_end(), "");
  others.back()->send(request("GET /livez"));
  EXPECT_TRUE(contains(others.back()->read_to_end(), "ok\n"));
}

TEST_F(AdminServerTest, StopsWithConnectionsOpen) {
  Client silent(server), idle(server), halfway(server), in_body(server);
  idle.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n").read_until("ok\n");
  halfway.send("GET /liv");
  in_body.send("PUT /topology HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  server.stop();
  server.stop();
}

TEST(AdminServer, StopWaitsForTheAnswerInHand) {
  std::promise<void> entered, may_leave;
  AdminServer server;
  server.on("GET", "/slow", [&](const auto&) {
    entered.set_value();
    may_leave.get_future().wait();
    return AdminServer::Answer{.body = "all of it"};
  });
  ASSERT_TRUE(server.start(loopback));
  Client client(server);
  client.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  entered.get_future().wait();
  std::thread stopping([&] { server.stop(); });
  may_leave.set_value();
  stopping.join();
  EXPECT_TRUE(contains(client.read_until("all of it"), "200 OK"));
}

TEST(AdminServer, ListensOnIpv6) {
  {
    asio::io_context io;
    tcp::acceptor probe(io);
    boost::system::error_code error;
    probe.open(tcp::v6(), error);
    if (!error) probe.bind({asio::ip::address_v6::loopback(), 0}, error);
    if (error) GTEST_SKIP() << "no IPv6 here: " << error.message();
  }
  AdminServer server;
  server.on("GET", "/livez", [](const auto&) { return AdminServer::Answer{.body = "ok\n"}; });
  ASSERT_TRUE(server.start({"::1", 0}));
  EXPECT_TRUE(contains(ask(server, request("GET /livez")), "ok\n"));
}

// A sidecar with a thousand clients has descriptors that select() can't hold.
TEST(AdminServer, AnswersOnDescriptorsAboveThoseOfSelect) {
  constexpr int above = 1100;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < above + 100) GTEST_SKIP() << "this process may not open as many";
  const rlimit raised{std::max<rlim_t>(limit.rlim_cur, above + 100), limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &raised), 0);
  std::vector<int> held;
  do held.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  while (held.back() >= 0 && held.back() < above);
  EXPECT_GE(held.back(), above);
  {
    AdminServer server;
    server.on("GET", "/livez", [](const auto&) { return AdminServer::Answer{.body = "ok\n"}; });
    ASSERT_TRUE(server.start(loopback));
    EXPECT_TRUE(contains(ask(server, request("GET /livez")), "ok\n"));
  }
  for (const int descriptor : held) ::close(descriptor);
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

}  // namespace
}  // namespace ringside::http
