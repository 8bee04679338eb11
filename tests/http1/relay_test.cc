#include "http1/relay.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "http1/head_parser.h"
#include "tests/http1/some_connection.h"

namespace ringside::http {
namespace {

using support::eventually;
using support::RawSocket;

constexpr RelayLimits some_limits{Milliseconds{1'000}, Milliseconds{1'000}};

class RelayTest : public OneCore {
 protected:
  // Relays one answer, that `from` sends, to `to`.
  std::future<void> start_relay(RawSocket& from, RawSocket& to, Coding coding,
                                std::string_view& head, RelayLimits limits,
                                std::optional<Result<std::uint64_t>>& outcome) {
    return start_with(
        ErrorSource::origin, from,
        [this, &to, coding, &head, limits, &outcome](Connection& origin, RawSocket&) -> Task<void> {
          Connection client(core(), net::adopt(core(), connect_to(to)), ErrorSource::client);
          ready_ = true;
          ResponseHead response;
          const auto read = co_await origin.read_response(HeadLimits::defaults(), "GET", response);
          EXPECT_TRUE(read);
          outcome = co_await relay(origin, client, head, coding, limits);
        });
  }
  bool is_ready() {
    return eventually([this] { return ready_.load(); });
  }
  std::atomic<bool> ready_{false};
};

std::string all_of(RawSocket& socket) {
  std::string got;
  while (!socket.receive(got)) {
  }
  return got;
}

struct Row {
  std::string sent;
  Coding coding;
  std::string relayed;
  std::uint64_t size_bytes;
};

TEST_F(RelayTest, FramesTheBodyAnew) {
  const std::vector<Row> rows{
      {"Content-Length: 5\r\n\r\nhello", Coding::as_is, "HEAD hello", 5},
      {"Content-Length: 5\r\n\r\nhello", Coding::chunked, "HEAD 5\r\nhello\r\n0\r\n\r\n", 5},
      {"Content-Length: 0\r\n\r\n", Coding::as_is, "HEAD ", 0},
      {"Content-Length: 0\r\n\r\n", Coding::chunked, "HEAD 0\r\n\r\n", 0},
      {"Transfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nT: t\r\n\r\n",
       Coding::chunked, "HEAD 2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", 5},
      {"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", Coding::as_is,
       "HEAD hello", 5},
      {"\r\nuntil the end", Coding::as_is, "HEAD until the end", 13},
      {"\r\nuntil the end", Coding::chunked, "HEAD d\r\nuntil the end\r\n0\r\n\r\n", 13},
  };
  for (const Row& row : rows) {
    RawSocket from;
    RawSocket to;
    std::string_view head("HEAD ");
    std::optional<Result<std::uint64_t>> outcome;
    ready_ = false;
    auto end = start_relay(from, to, row.coding, head, some_limits, outcome);
    from.send("HTTP/1.1 200 OK\r\n" + row.sent);
    from.shutdown_send();
    end.get();
    EXPECT_EQ(all_of(to), row.relayed) << row.sent;
    ASSERT_TRUE(outcome && *outcome) << row.sent;
    EXPECT_EQ(**outcome, row.size_bytes);
    EXPECT_EQ(head, "");
  }
}

TEST_F(RelayTest, TheHeadDoesNotWaitForTheBodyNorAPieceForTheNext) {
  RawSocket from;
  RawSocket to;
  std::string_view head("HEAD ");
  std::optional<Result<std::uint64_t>> outcome;
  auto end = start_relay(from, to, Coding::chunked, head, some_limits, outcome);
  ASSERT_TRUE(is_ready());
  from.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
  std::string got;
  EXPECT_FALSE(to.receive(got));
  EXPECT_EQ(got, "HEAD ");
  from.send("ab");
  while (got.size() < 12 && !to.receive(got)) {
  }
  EXPECT_EQ(got, "HEAD 2\r\nab\r\n");
  from.send("cd");
  end.get();
  EXPECT_EQ(got + all_of(to), "HEAD 2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n");
}

TEST_F(RelayTest, TellsWhichSideFailed) {
  for (const ErrorSource failing : {ErrorSource::origin, ErrorSource::client}) {
    RawSocket from;
    RawSocket to;
    std::string_view head("HEAD ");
    std::optional<Result<std::uint64_t>> outcome;
    ready_ = false;
    auto end = start_relay(from, to, Coding::as_is, head, some_limits, outcome);
    ASSERT_TRUE(is_ready());
    if (failing == ErrorSource::client) to.reset();
    from.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\nhello");
    if (failing == ErrorSource::origin) from.shutdown_send();
    while (failing == ErrorSource::client && from.send(std::string(100'000, 'x'))) {
    }
    end.get();
    ASSERT_TRUE(outcome && !*outcome);
    EXPECT_EQ(outcome->error().source, failing);
    EXPECT_EQ(outcome->error().kind, ErrorKind::disconnected);
  }
}

TEST_F(RelayTest, EachPieceHasItsOwnTime) {
  RawSocket from;
  RawSocket to;
  std::string_view head;
  std::optional<Result<std::uint64_t>> outcome;
  auto end = start_relay(from, to, Coding::as_is, head, some_limits, outcome);
  ASSERT_TRUE(is_ready());
  from.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
  for (unsigned piece = 0; piece < 9; ++piece) {
    from.send("x");
    std::string got;
    EXPECT_FALSE(to.receive(got));
    EXPECT_EQ(got, "x");
    clock_.advance(Milliseconds{900});
  }
  from.send("x");
  end.get();
  ASSERT_TRUE(outcome && *outcome);
}

TEST(ChunkLine, IsTheSizeInHexadecimal) {
  std::array<char, 20> space{};
  EXPECT_EQ(chunk_line(1, space), "1\r\n");
  EXPECT_EQ(chunk_line(0xabcdef, space), "abcdef\r\n");
  EXPECT_EQ(chunk_line(SIZE_MAX, space), "ffffffffffffffff\r\n");
}

}  // namespace
}  // namespace ringside::http
