#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/limits.h"
#include "http1/admin_server.h"
#include "tests/http1/some_admin_server.h"

namespace ringside::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using AdminConnectionsTest = AdminServerTest;

// A browser keeps six connections, a scraper one: with a thread for each, /livez would wait.
TEST_F(AdminConnectionsTest, IdleConnectionsHoldNoThread) {
  std::vector<std::unique_ptr<AdminClient>> idle;
  for (std::size_t i = 0; i < 4 * limits::admin_threads; ++i) {
    idle.push_back(std::make_unique<AdminClient>(server));
    if (i % 2 == 0) continue;  // some have asked once, some never
    idle.back()->send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").read_until("ok\n");
  }
  EXPECT_TRUE(contains(ask(server, request("GET /livez")), "ok\n"));
}

// An address of which few enough others come.
std::string address_of(std::size_t client) {
  return "127.0.0." + std::to_string(2 + client / (limits::admin_connections_per_address / 2));
}

TEST_F(AdminConnectionsTest, BeyondTheLimitTheLongestIdleConnectionIsClosed) {
  AdminClient first(server, address_of(0));
  first.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").read_until("ok\n");
  std::vector<std::unique_ptr<AdminClient>> others;
  for (std::size_t i = 1; i < limits::admin_connections; ++i) {
    others.push_back(std::make_unique<AdminClient>(server, address_of(i)));
    others.back()->send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").read_until("ok\n");
  }
  EXPECT_TRUE(contains(ask(server, request("GET /livez")), "ok\n"));
  EXPECT_EQ(first.read_to_end(), "");
  others.back()->send(request("GET /livez"));
  EXPECT_TRUE(contains(others.back()->read_to_end(), "ok\n"));
}

TEST_F(AdminConnectionsTest, AnAddressWithItsShareMakesRoomOfItsOwn) {
  AdminClient other(server), first(server, address_of(0));
  other.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").read_until("ok\n");
  first.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").read_until("ok\n");
  std::vector<std::unique_ptr<AdminClient>> more;
  for (std::size_t i = 0; i < limits::admin_connections_per_address; ++i) {
    more.push_back(std::make_unique<AdminClient>(server, address_of(0)));
    more.back()->send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").read_until("ok\n");
  }
  EXPECT_EQ(first.read_to_end(), "");
  other.send(request("GET /livez"));
  EXPECT_TRUE(contains(other.read_to_end(), "ok\n"));
}

// They sent one byte each, and a probe waited for as long as they may take to send the next.
TEST_F(AdminConnectionsTest, HalfHeadsMakeRoomToo) {
  std::vector<std::unique_ptr<AdminClient>> half;
  for (std::size_t i = 0; i < 3 * limits::admin_connections_per_address; ++i) {
    half.push_back(std::make_unique<AdminClient>(server));
    half.back()->send("G");
  }
  EXPECT_TRUE(contains(ask(server, request("GET /livez")), "ok\n"));
  EXPECT_EQ(half.front()->read_to_end(), "");
}

TEST_F(AdminConnectionsTest, StopsWithConnectionsOpen) {
  AdminClient silent(server), idle(server), halfway(server), in_body(server);
  idle.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").read_until("ok\n");
  halfway.send("GET /liv");
  in_body.send("PUT /topology HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  server.stop();
  server.stop();
}

TEST(AdminConnections, StopWaitsForTheAnswerInHand) {
  std::promise<void> entered, may_leave;
  AdminServer server;
  server.on("GET", "/slow", [&](const auto&) {
    entered.set_value();
    may_leave.get_future().wait();
    return AdminServer::Answer{.body = "all of it"};
  });
  ASSERT_TRUE(server.start(loopback));
  AdminClient client(server);
  client.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  entered.get_future().wait();
  std::thread stopping([&] { server.stop(); });
  may_leave.set_value();
  stopping.join();
  EXPECT_TRUE(contains(client.read_until("all of it"), "200 OK"));
}

// All threads are in a handler that waits for what never comes, or comes late.
class BlockedAdminServerTest : public testing::Test {
 protected:
  BlockedAdminServerTest() {
    server.on("POST", "/blocks", [this](const auto&) {
      ++entered;
      entered.notify_all();
      leave.wait();
      return AdminServer::Answer{.body = "at last\n"};
    });
    server.on("PUT", "/topology", echo);
    server.on_quick("GET", "/livez",
                    [](const auto&) { return AdminServer::Answer{.body = "ok\n"}; });
  }
  void SetUp() override { ASSERT_TRUE(server.start(loopback)); }
  void block_all(const std::string& by) {
    for (std::size_t i = 0; i < limits::admin_threads; ++i) {
      blocked.push_back(std::make_unique<AdminClient>(server));
      blocked.back()->send(by);
    }
    for (std::size_t now = 0; (now = entered) < limits::admin_threads;) entered.wait(now);
  }
  void unblock() {
    may_leave.set_value();
    for (const auto& client : blocked) EXPECT_TRUE(contains(client->read_to_end(), "at last\n"));
  }

  std::promise<void> may_leave;
  std::shared_future<void> leave = may_leave.get_future().share();
  std::atomic<std::size_t> entered{0};
  std::vector<std::unique_ptr<AdminClient>> blocked;
  AdminServer server;
};

// A process whose cores hang must not look dead for that reason alone.
TEST_F(BlockedAdminServerTest, AQuickHandlerIsNotDelayed) {
  block_all(request("POST /blocks"));
  EXPECT_TRUE(contains(ask(server, request("GET /livez")), "ok\n"));
  unblock();
}

TEST_F(BlockedAdminServerTest, RequestsForAThreadAreBounded) {
  block_all(request("POST /blocks"));
  std::vector<std::unique_ptr<AdminClient>> waiting;
  for (std::size_t i = 0; i < limits::admin_waiting; ++i) {
    waiting.push_back(std::make_unique<AdminClient>(server));
    // Both come at once, so that with the first's answer the second waits.
    waiting.back()->send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" +
                         request("PUT /topology"));
    waiting.back()->read_until("ok\n");
  }
  EXPECT_TRUE(
      ask(server, request("PUT /topology")).starts_with("HTTP/1.1 503 Service Unavailable"));
  unblock();
  for (const auto& client : waiting) EXPECT_TRUE(contains(client->read_to_end(), "body="));
}

// Bodies are kept whole, so what all of them may take is bounded, too.
TEST_F(BlockedAdminServerTest, BodiesInHandAreBoundedTogether) {
  const std::string largest(limits::admin_body_size_bytes, 'x');
  block_all(request("POST /blocks", "Content-Length: " + std::to_string(largest.size()) + "\r\n",
                    largest));
  const std::string one_more = request("PUT /topology", "Content-Length: 1\r\n", "x");
  EXPECT_TRUE(ask(server, one_more).starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  unblock();
  EXPECT_TRUE(contains(ask(server, one_more), "body=x"));
}

TEST(AdminConnections, NeverStartedCanBeStopped) {
  AdminServer server;
  server.stop();
}

TEST(AdminConnections, AddressesThatCannotBeTakenNameTheRemedy) {
  AdminServer first;
  ASSERT_TRUE(first.start(loopback));
  const Endpoint taken = first.address();
  EXPECT_EQ(taken.host, "127.0.0.1");
  EXPECT_NE(taken.port, 0);

  struct Case {
    Endpoint listen;
    std::string remedy;
  };
  for (const auto& c : std::vector<Case>{{taken, "stop what listens there or choose another port"},
                                         // RFC 5737: for documentation, so nobody's.
                                         {{"192.0.2.1", 0}, "choose another address"}}) {
    AdminServer second;
    const auto started = second.start(c.listen);
    ASSERT_FALSE(started);
    const std::string& message = started.error().message;
    EXPECT_TRUE(message.starts_with("cannot listen on " + c.listen.text())) << message;
    EXPECT_TRUE(message.ends_with(c.remedy)) << message;
    EXPECT_TRUE(second.start(loopback)) << "another address can be tried";
  }
}

TEST(AdminConnections, APortThatWasGivenUpCanBeTakenAgain) {
  AdminServer first, second;
  ASSERT_TRUE(first.start(loopback));
  first.stop();
  EXPECT_TRUE(second.start(first.address()));
}

TEST(AdminConnections, ListensOnIpv6) {
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
TEST(AdminConnections, AnswersOnDescriptorsAboveThoseOfSelect) {
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
