#include "http1/tunnel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/limits.h"
#include "http1/head_parser.h"
#include "tests/http1/some_connection.h"

namespace ringside::http {
namespace {

using support::eventually;
using support::RawSocket;

constexpr Milliseconds idle{60'000};
constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view switched = "HTTP/1.1 101 Switching Protocols\r\n\r\n";

class TunnelTest : public OneCore {
 protected:
  // A tunnel between `client_` and `upstream_`, after the heads that came before it: those with
  // what is sent in one go with them.
  [[nodiscard]] std::future<void> start(std::string_view with_request = {},
                                        std::string_view with_answer = {}) {
    auto end = start_with(
        ErrorSource::client, client_, [this](Connection& client, RawSocket&) -> Task<void> {
          Connection upstream(core(), net::adopt(core(), connect_to(upstream_)),
                              ErrorSource::origin);
          connected_ = true;
          RequestHead asked;
          const auto read = co_await client.read_request(HeadLimits::defaults(), asked);
          EXPECT_TRUE(read);
          ResponseHead told;
          const auto answered =
              co_await upstream.read_response(HeadLimits::defaults(), "GET", told);
          EXPECT_TRUE(answered);
          carried_ = co_await tunnel(client, upstream, idle);
        });
    EXPECT_TRUE(eventually([this] { return connected_.load(); }));
    client_.send(std::string(request).append(with_request));
    upstream_.send(std::string(switched).append(with_answer));
    return end;
  }
  static std::string read(RawSocket& from, std::size_t bytes) {
    std::string got;
    while (got.size() < bytes && !from.receive(got)) {
    }
    return got;
  }
  static RawSocket::End end_of(RawSocket& from) {
    std::string got;
    while (true) {
      if (const auto end = from.receive(got)) return *end;
    }
  }
  // What is due by now is broken off when this returns.
  void let_pass(Milliseconds time) {
    clock_.advance(time);
    cores_.on_each([this](net::Core& each) { each.deadlines().advance(clock_.steady_now()); });
  }

  RawSocket client_;
  RawSocket upstream_;
  std::atomic<bool> connected_{false};
  TunnelBytes carried_;
};

TEST_F(TunnelTest, CarriesBothWays) {
  auto end = start();
  for (const auto* word : {"ping", "pong", "again"}) {
    client_.send(word);
    EXPECT_EQ(read(upstream_, std::string_view(word).size()), word);
    upstream_.send(word);
    EXPECT_EQ(read(client_, std::string_view(word).size()), word);
  }
  client_.close();
  EXPECT_EQ(end_of(upstream_), RawSocket::End::closed);
  upstream_.close();
  end.get();
  EXPECT_EQ(carried_.up, 13U);
  EXPECT_EQ(carried_.down, 13U);
}

TEST_F(TunnelTest, NothingIsLostThatCameWithTheHeads) {
  auto end = start("early up", "early down");
  EXPECT_EQ(read(upstream_, 8), "early up");
  EXPECT_EQ(read(client_, 10), "early down");
  client_.send("!");
  EXPECT_EQ(read(upstream_, 1), "!");
  client_.close();
  upstream_.close();
  end.get();
  EXPECT_EQ(carried_.up, 9U);
}

TEST_F(TunnelTest, OneSidesEndIsToldAndTheOtherMayStillSend) {
  for (const bool client_first : {true, false}) {
    connected_ = false;
    auto end = start();
    RawSocket& first = client_first ? client_ : upstream_;
    RawSocket& second = client_first ? upstream_ : client_;
    first.send("last words");
    first.shutdown_send();
    EXPECT_EQ(read(second, 10), "last words");
    EXPECT_EQ(end_of(second), RawSocket::End::closed);
    for (unsigned round = 0; round < 3; ++round) {
      second.send("more");
      EXPECT_EQ(read(first, 4), "more");
    }
    second.shutdown_send();
    EXPECT_EQ(end_of(first), RawSocket::End::closed);
    end.get();
    EXPECT_EQ(client_first ? carried_.down : carried_.up, 12U);
  }
}

TEST_F(TunnelTest, AResetOfOneSideEndsBoth) {
  for (const bool client_first : {true, false}) {
    connected_ = false;
    auto end = start();
    (client_first ? client_ : upstream_).reset();
    EXPECT_NE(end_of(client_first ? upstream_ : client_), RawSocket::End::timeout);
    end.get();
  }
}

TEST_F(TunnelTest, EndsWhenNeitherSideHasSentAnythingForAWhile) {
  auto end = start();
  client_.send("x");
  EXPECT_EQ(read(upstream_, 1), "x");
  // A byte either way keeps both alive.
  for (unsigned round = 0; round < 4; ++round) {
    let_pass(idle * 9 / 10);
    RawSocket& from = round % 2 == 0 ? upstream_ : client_;
    from.send("x");
    EXPECT_EQ(read(round % 2 == 0 ? client_ : upstream_, 1), "x") << round;
  }
  EXPECT_TRUE(eventually([&] {
    let_pass(idle);
    return end.wait_for(Milliseconds{1}) == std::future_status::ready;
  }));
  EXPECT_EQ(end_of(client_), RawSocket::End::closed);
  EXPECT_EQ(end_of(upstream_), RawSocket::End::closed);
}

TEST_F(TunnelTest, AHalfThatHasEndedDoesNotKeepTheOtherAlive) {
  auto end = start();
  client_.shutdown_send();
  EXPECT_EQ(end_of(upstream_), RawSocket::End::closed);
  EXPECT_TRUE(eventually([&] {
    let_pass(idle);
    return end.wait_for(Milliseconds{1}) == std::future_status::ready;
  }));
}

// Held to no rate: a tunnel may be silent for longer than a slow client may.
TEST_F(TunnelTest, IsNotHeldToAClientsPace) {
  static_assert(idle > limits::client_rate_grace * 2);
  auto end = start();
  client_.send("x");
  EXPECT_EQ(read(upstream_, 1), "x");
  let_pass(limits::client_rate_grace * 2);
  client_.send("y");
  EXPECT_EQ(read(upstream_, 1), "y");
  client_.close();
  upstream_.close();
  end.get();
}

TEST_F(TunnelTest, MuchGoesBothWaysAtOnceAtThePaceOfItsReceiver) {
  constexpr std::size_t size = 8'000'000;
  auto end = start();
  std::string up(size, 'u');
  std::string down(size, 'd');
  for (std::size_t at = 0; at < size; at += 1'000) up[at] = down[at] = static_cast<char>(at % 251);
  std::thread client_sends([&] {
    client_.send(up);
    client_.shutdown_send();
  });
  std::thread upstream_sends([&] {
    upstream_.send(down);
    upstream_.shutdown_send();
  });
  std::string upstream_got;
  std::thread upstream_reads([&] { upstream_got = read(upstream_, size); });
  const std::string client_got = read(client_, size);
  upstream_reads.join();
  client_sends.join();
  upstream_sends.join();
  end.get();
  EXPECT_TRUE(client_got == down);
  EXPECT_TRUE(upstream_got == up);
  EXPECT_EQ(carried_.up, size);
  EXPECT_EQ(carried_.down, size);
}

TEST_F(TunnelTest, AStopOfTheCoreEndsIt) {
  auto end = start();
  client_.send("x");
  EXPECT_EQ(read(upstream_, 1), "x");
  cores_.stop();
  end.get();
  EXPECT_EQ(end_of(client_), RawSocket::End::closed);
}

TEST_F(TunnelTest, AStopOfTheCoreEndsAHalfOfIt) {
  auto end = start();
  client_.shutdown_send();
  EXPECT_EQ(end_of(upstream_), RawSocket::End::closed);
  cores_.stop();
  end.get();
}

}  // namespace
}  // namespace ringside::http
