#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "base/limits.h"
#include "net/waiter.h"
#include "tests/http1/next_request.h"
#include "tests/http1/some_connection.h"

namespace ringside::http {
namespace {

using support::eventually;
using support::RawSocket;

constexpr Milliseconds second{1'000};

// How clients are held to their pace, and what their connections hold meanwhile.
class ClientPaceTest : public OneCore {
 protected:
  // Time passes, and what is due by then is broken off when this returns.
  void let_pass(Milliseconds time) {
    clock_.advance(time);
    on_core([this] { core().deadlines().advance(clock_.steady_now()); });
  }
  void on_core(const std::function<void()>& work) {
    cores_.on_each([&](net::Core&) { work(); });
  }
  // Reads a request and its body; what became of it is in `error_`.
  Task<void> read_request_and_body(Connection& client) {
    RequestHead head;
    const auto next = co_await next_request(client, head);
    EXPECT_TRUE(next && *next);
    while (!client.body_done()) {
      client.set_deadline(limits::client_io_timeout);
      const auto piece = co_await client.read_body();
      if (!piece) {
        error_ = piece.error();
        co_return;
      }
      body_bytes_ += piece->size();
    }
  }
  [[nodiscard]] std::future<void> start_reading(RawSocket& far) {
    auto end =
        start_with(ErrorSource::client, far, [this](Connection& client, RawSocket&) -> Task<void> {
          co_await read_request_and_body(client);
        });
    far.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
    return end;
  }
  // Sends, each second, so many bytes; how many seconds it was borne, up to `most`.
  unsigned send_slowly(RawSocket& far, const std::future<void>& end, std::size_t bytes_s,
                       unsigned most) {
    for (unsigned passed = 0; passed < most; ++passed) {
      const std::size_t before = body_bytes_;
      far.send(std::string(bytes_s, 'x'));
      EXPECT_TRUE(eventually([&] {
        return body_bytes_ == before + bytes_s ||
               end.wait_for(Milliseconds{0}) == std::future_status::ready;
      }));
      if (end.wait_for(Milliseconds{0}) == std::future_status::ready) return passed;
      let_pass(second);
    }
    return most;
  }

  std::atomic<std::size_t> body_bytes_{0};
  std::optional<Error> error_;
};

TEST_F(ClientPaceTest, ABodyThatIsTooSlowIsATimeoutOfTheClient) {
  RawSocket far;
  auto end = start_reading(far);
  const unsigned borne = send_slowly(far, end, limits::client_rate_least_bytes_s / 2, 100);
  EXPECT_GT(borne, 10U);
  EXPECT_LT(borne, 25U);
  end.get();
  ASSERT_TRUE(error_);
  EXPECT_EQ(error_->kind, ErrorKind::timeout);  // and so 408
  EXPECT_EQ(error_->source, ErrorSource::client);
}

// It would have been for as long as the length that it declared took, which may be days.
TEST_F(ClientPaceTest, AnUploadOf300BytesASecondHeldItsPlaceForAsLongAsItLiked) {
  RawSocket far;
  auto end = start_reading(far);
  const unsigned borne = send_slowly(far, end, 300, 200);
  EXPECT_GT(borne, 35U);
  EXPECT_LT(borne, 50U);
  end.get();
  ASSERT_TRUE(error_);
  EXPECT_EQ(error_->kind, ErrorKind::timeout);  // and so 408
  EXPECT_EQ(error_->source, ErrorSource::client);
}

TEST_F(ClientPaceTest, ABodyOfTheLeastRateIsBorne) {
  RawSocket far;
  auto end = start_reading(far);
  EXPECT_EQ(send_slowly(far, end, limits::upload_rate_least_bytes_s, 200), 200U);
  far.close();
  end.get();
  EXPECT_EQ(error_->kind, ErrorKind::disconnected);
}

TEST_F(ClientPaceTest, AReaderThatIsTooSlowIsCut) {
  constexpr Milliseconds own_deadline = limits::client_io_timeout * 100;
  const std::string large(20'000'000, 'w');
  RawSocket far;
  std::atomic<bool> blocked{false};
  auto end =
      start_with(ErrorSource::client, far, [&](Connection& client, RawSocket&) -> Task<void> {
        const std::array<std::string_view, 1> buffers{large};
        client.set_deadline(own_deadline);
        const auto at_once = client.write_now(buffers);
        EXPECT_TRUE(at_once && *at_once < large.size());
        blocked = true;
        const auto rest = co_await client.write_rest(buffers, *at_once);
        if (!rest) error_ = rest.error();
      });
  ASSERT_TRUE(eventually([&] { return blocked.load(); }));
  EXPECT_TRUE(eventually([&] {
    let_pass(second);
    return end.wait_for(Milliseconds{1}) == std::future_status::ready;
  }));
  ASSERT_TRUE(error_);
  EXPECT_EQ(error_->kind, ErrorKind::timeout);
  // By its pace, long before the connection's own deadline.
  EXPECT_LT(clock_.steady_now() - support::FakeClock().steady_now(), own_deadline / 2);
}

// The kernel calls a socket writable again when a third of its buffer is empty: who took 10 KiB/s
// was cut for taking nothing.
TEST_F(ClientPaceTest, AReaderThatIsSlowButTakesEnoughIsServedOn) {
  const std::string large(20'000'000, 'w');
  RawSocket far;
  std::atomic<bool> blocked{false};
  auto end =
      start_with(ErrorSource::client, far, [&](Connection& client, RawSocket&) -> Task<void> {
        const std::array<std::string_view, 1> buffers{large};
        client.set_deadline(limits::client_io_timeout);
        const auto at_once = client.write_now(buffers);
        EXPECT_TRUE(at_once && *at_once < large.size());
        blocked = true;
        const auto rest = co_await client.write_rest(buffers, *at_once);
        if (!rest) error_ = rest.error();
      });
  ASSERT_TRUE(eventually([&] { return blocked.load(); }));
  std::string taken;
  for (int passed = 0; passed < 200; ++passed) {
    for (const std::size_t before = taken.size(); taken.size() < before + 10 * limits::kKiB;) {
      ASSERT_FALSE(far.receive(taken, 10 * limits::kKiB)) << "cut after " << passed << " s";
    }
    let_pass(second);
  }
  EXPECT_EQ(end.wait_for(Milliseconds{0}), std::future_status::timeout);
  EXPECT_LT(taken.size(), large.size() / 4);
  far.close();
  end.get();
}

// The upstream is slow, not the client: its time is not taken.
TEST_F(ClientPaceTest, WaitingForTheOtherSideCostsTheClientNothing) {
  RawSocket far;
  std::shared_ptr<net::Waiter::Bell> bell;
  std::atomic<int> step{0};
  auto end =
      start_with(ErrorSource::client, far, [&](Connection& client, RawSocket&) -> Task<void> {
        RequestHead head;
        const auto next = co_await next_request(client, head);
        EXPECT_TRUE(next && *next);
        client.clear_deadline();
        const auto piece = co_await client.read_body();
        EXPECT_TRUE(piece && *piece == "abc");
        net::Waiter upstream(core());
        bell = upstream.bell();
        step = 1;
        EXPECT_TRUE(co_await upstream.wait(clock_.steady_now() + 100'000 * second));
        client.set_deadline(limits::client_io_timeout);
        step = 2;
        const auto rest = co_await client.read_body();
        EXPECT_TRUE(rest && *rest == "de");
      });
  far.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc");
  ASSERT_TRUE(eventually([&] { return step == 1; }));
  let_pass(10'000 * second);
  bell->wake();
  ASSERT_TRUE(eventually([&] { return step == 2; }));
  let_pass(limits::client_rate_grace - second);
  far.send("de");
  end.get();
}

TEST_F(ClientPaceTest, AHeadHasItsOwnTime) {
  RawSocket far;
  std::optional<Result<bool>> next;
  auto end =
      start_with(ErrorSource::client, far, [&](Connection& client, RawSocket&) -> Task<void> {
        RequestHead head;
        next = co_await next_request(client, head);
      });
  far.send("GET / HT");
  ASSERT_TRUE(eventually([&] {
    std::size_t held = 0;
    on_core([&] { held = core().buffered_bytes(); });
    return held > 0;
  }));
  EXPECT_TRUE(eventually([&] {
    let_pass(second);
    return end.wait_for(Milliseconds{1}) == std::future_status::ready;
  }));
  ASSERT_TRUE(next && !*next);
  EXPECT_EQ(next->error().kind, ErrorKind::timeout);
  EXPECT_EQ(next->error().source, ErrorSource::client);
  EXPECT_GE(clock_.steady_now() - support::FakeClock().steady_now(), limits::client_head_timeout);
}

TEST_F(ClientPaceTest, AnIdleConnectionHoldsNoMemory) {
  RawSocket far;
  std::atomic<int> served{0};
  auto end =
      start_with(ErrorSource::client, far, [&](Connection& client, RawSocket&) -> Task<void> {
        RequestHead head;
        while (true) {
          const auto next = co_await next_request(client, head);
          if (!next || !*next) co_return;
          const auto body = co_await whole_body(client);
          EXPECT_TRUE(body);
          ++served;
        }
      });
  for (int count = 1; count < 4; ++count) {
    far.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" +
             std::string(100'000, 'x'));
    ASSERT_TRUE(eventually([&] {
      std::size_t held = 1;
      on_core([&] { held = core().buffered_bytes(); });
      return served == count && held == 0;
    }));
  }
  far.close();
  end.get();
}

TEST_F(ClientPaceTest, ASlowHeadHoldsWhatCameAndNotABufferForMore) {
  RawSocket far;
  auto end = start_with(ErrorSource::client, far, [](Connection& client, RawSocket&) -> Task<void> {
    RequestHead head;
    const auto next = co_await next_request(client, head);
    EXPECT_TRUE(next && *next);
  });
  far.send("GET / HTTP/1.1\r\n");
  std::size_t held = 0;
  ASSERT_TRUE(eventually([&] {
    on_core([&] { held = core().buffered_bytes(); });
    return held > 0;
  }));
  EXPECT_LT(held, 1024U);
  far.send("Host: a\r\n\r\n");
  end.get();
}

TEST_F(ClientPaceTest, WhereTheBuffersAreFullNewRequestsAreRefused) {
  for (const bool full : {true, false}) {
    run_with(ErrorSource::client, [&](Connection& client, RawSocket& far) -> Task<void> {
      const std::size_t others = full ? limits::buffered_bytes : 0;
      core().buffered_bytes() += others;
      far.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      RequestHead head;
      const auto next = co_await next_request(client, head);
      EXPECT_TRUE(next);
      const auto admitted = admit(core(), head);
      core().buffered_bytes() -= others;
      EXPECT_EQ(admitted.has_error(), full);
      if (admitted.has_error()) {
        EXPECT_EQ(admitted.error().kind, ErrorKind::overloaded);
        EXPECT_EQ(admitted.error().source, ErrorSource::ourselves);
      }
    });
  }
}

constexpr std::string_view v1 = "PROXY TCP4 203.0.113.9 198.51.100.1 4711 80\r\n";
constexpr std::string_view v2_start("\r\n\r\n\0\r\nQUIT\n", 12);

// Version 2 with a TLV of type NOOP.
std::string v2() {
  const std::string_view rest(
      "\x21\x11\x00\x10\xcb\x00\x71\x09\xc6\x33\x64\x01\x12\x67\x00\x50"
      "\x04\x00\x01\x00",
      20);
  return std::string(v2_start).append(rest);
}

TEST(ProxyHeaderOnAConnection, IsSkippedHoweverItIsCut) {
  for (const std::string& header : {std::string(v1), v2()}) {
    for (const std::size_t cut : {std::size_t{1}, std::size_t{7}, std::size_t{1'000}}) {
      support::FakeClock clock;
      net::CoreGroup cores("one", 1, clock);
      cores.start();
      support::RawListener listener;
      auto near = RawSocket::connect(listener.address());
      auto far = std::move(*listener.accept());
      const int descriptor = near.release();
      auto end = support::start_on(cores[0], [&]() -> Task<void> {
        Connection client(cores[0], net::adopt(cores[0], descriptor), ErrorSource::client);
        const auto told = co_await read_proxy_header(client);
        EXPECT_TRUE(told);
        EXPECT_EQ(client.remote().text(), "203.0.113.9");
        RequestHead head;
        const auto next = co_await next_request(client, head);
        EXPECT_TRUE(next && *next);
        EXPECT_EQ(head.target, "/behind");
      });
      std::string bytes = header + "GET /behind HTTP/1.1\r\nHost: a\r\n\r\n";
      while (!bytes.empty()) {
        far.send(bytes.substr(0, cut));
        bytes.erase(0, cut);
      }
      end.get();
      cores.stop();
    }
  }
}

class ProxyHeaderTest : public OneCore {};

TEST_F(ProxyHeaderTest, WithoutOneNothingIsServed) {
  for (const bool ends : {false, true}) {
    run_with(ErrorSource::client, [ends](Connection& client, RawSocket& far) -> Task<void> {
      far.send(ends ? "PROXY TC" : "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      if (ends) far.shutdown_send();
      const auto told = co_await read_proxy_header(client);
      EXPECT_FALSE(told);
      EXPECT_EQ(told.error().source, ErrorSource::client);
    });
  }
}

}  // namespace
}  // namespace ringside::http
