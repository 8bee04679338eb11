#include "http1/connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <vector>

#include "base/limits.h"
#include "http1/head_parser.h"
#include "tests/http1/some_connection.h"

namespace ringside::http {
namespace {

using support::eventually;
using support::RawSocket;

class ConnectionTest : public OneCore {};

std::span<const std::string_view> one(const std::string_view& buffer) { return {&buffer, 1}; }

const std::string three_requests =
    "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
    "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
    "POST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
    "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";

Task<void> expect_three_requests(Connection& connection) {
  RequestHead head;
  for (const auto* expected : {"/1 hello", "/2 ", "/3 abcde"}) {
    const auto begun = co_await connection.wait_for_message();
    EXPECT_TRUE(begun && *begun);
    const auto read = co_await connection.read_request(HeadLimits::defaults(), head);
    EXPECT_TRUE(read) << read.error().message;
    std::string got(head.target);
    const auto body = co_await whole_body(connection);
    EXPECT_TRUE(body) << body.error().message;
    EXPECT_TRUE(connection.body_done());
    got.append(" ").append(*body);
    EXPECT_EQ(got, expected);
  }
  const auto begun = co_await connection.wait_for_message();
  EXPECT_TRUE(begun && !*begun);
}

TEST_F(ConnectionTest, ReadsPipelinedRequestsAtOnce) {
  run_with(ErrorSource::client, [](Connection& connection, RawSocket& far) -> Task<void> {
    far.send(three_requests);
    far.shutdown_send();
    co_await expect_three_requests(connection);
  });
}

TEST_F(ConnectionTest, ReadsRequestsThatComeByteByByte) {
  RawSocket far;
  auto end =
      start_with(ErrorSource::client, far, [](Connection& connection, RawSocket&) -> Task<void> {
        co_await expect_three_requests(connection);
      });
  for (const char& byte : three_requests) far.send({&byte, 1});
  far.shutdown_send();
  end.get();
}

TEST_F(ConnectionTest, ReadsAnswersOfEveryFraming) {
  run_with(ErrorSource::origin, [](Connection& connection, RawSocket& far) -> Task<void> {
    far.send(
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
        "HTTP/1.0 200 OK\r\n\r\nto the end");
    far.shutdown_send();
    ResponseHead head;
    std::string bodies;
    for (const auto* method : {"GET", "GET", "HEAD", "GET"}) {
      const auto read = co_await connection.read_response(HeadLimits::defaults(), method, head);
      EXPECT_TRUE(read) << read.error().message;
      const auto body = co_await whole_body(connection);
      EXPECT_TRUE(body);
      bodies.append(*body).append("|");
    }
    EXPECT_EQ(bodies, "abc|||to the end|");
  });
}

TEST_F(ConnectionTest, TakesWhatHasArrivedWithoutWaiting) {
  run_with(ErrorSource::client, [](Connection& connection, RawSocket& far) -> Task<void> {
    RequestHead head;
    EXPECT_FALSE(connection.take_request(HeadLimits::defaults(), head));
    far.send("GET / HTTP/1.1\r\nHost: a\r\n");
    const auto begun = co_await connection.wait_for_message();
    EXPECT_TRUE(begun && *begun);
    EXPECT_FALSE(connection.take_request(HeadLimits::defaults(), head));
    far.send("\r\n");
    const auto read = co_await connection.read_request(HeadLimits::defaults(), head);
    EXPECT_TRUE(read);
    const auto piece = connection.take_body();
    EXPECT_TRUE(piece && *piece && (*piece)->empty());
  });
}

struct EndRow {
  std::string sent;
  bool with_reset;
  ErrorKind kind;
};

TEST_F(ConnectionTest, AnEndWithinAMessageIsAnErrorOfTheOtherSide) {
  const std::vector<EndRow> rows{
      {"HTTP/1.1 200 OK\r\nContent-", false, ErrorKind::disconnected},
      {"HTTP/1.1 200 OK\r\nContent-", true, ErrorKind::disconnected},
      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", false, ErrorKind::disconnected},
      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true, ErrorKind::disconnected},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", false,
       ErrorKind::disconnected},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", false,
       ErrorKind::disconnected},
      {"HTTP/1.1 200 OK\r\n\r\nabc", true, ErrorKind::disconnected},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", false, ErrorKind::malformed},
      {"HTTP/1.1 200 OK\nA: b\r\n\r\n", false, ErrorKind::malformed},
      {std::string(limits::head_size_bytes, 'x'), false, ErrorKind::head_too_large},
  };
  for (const EndRow& row : rows) {
    run_with(ErrorSource::origin, [&row](Connection& connection, RawSocket& far) -> Task<void> {
      far.send(row.sent);
      if (row.with_reset) far.reset();
      far.shutdown_send();
      ResponseHead head;
      const auto read = co_await connection.read_response(HeadLimits::defaults(), "GET", head);
      std::optional<Error> error;
      if (!read) {
        error = read.error();
      } else {
        const auto body = co_await whole_body(connection);
        if (!body) error = body.error();
      }
      EXPECT_TRUE(error) << row.sent.substr(0, 99);
      if (!error) co_return;
      EXPECT_EQ(error->kind, row.kind) << row.sent.substr(0, 99);
      EXPECT_EQ(error->source, ErrorSource::origin);
    });
  }
}

TEST_F(ConnectionTest, ADeadlineBreaksOffAReadAndANewOneLetsItGoOn) {
  RawSocket far;
  std::atomic<int> step{0};
  auto end =
      start_with(ErrorSource::peer, far, [&](Connection& connection, RawSocket&) -> Task<void> {
        connection.set_deadline(Milliseconds{1'000});
        step = 1;
        ResponseHead head;
        const auto late = co_await connection.read_response(HeadLimits::defaults(), "GET", head);
        EXPECT_FALSE(late);
        EXPECT_EQ(late.error().kind, ErrorKind::timeout);
        EXPECT_EQ(late.error().source, ErrorSource::peer);
        const auto still = co_await connection.read_response(HeadLimits::defaults(), "GET", head);
        EXPECT_FALSE(still);
        connection.set_deadline(Milliseconds{1'000});
        step = 2;
        const auto read = co_await connection.read_response(HeadLimits::defaults(), "GET", head);
        EXPECT_TRUE(read);
      });
  far.send("HTTP/1.1 200");
  ASSERT_TRUE(eventually([&] { return step == 1; }));
  clock_.advance(Milliseconds{1'001});
  ASSERT_TRUE(eventually([&] { return step == 2; }));
  far.send(" OK\r\n\r\n");
  end.get();
}

TEST_F(ConnectionTest, WritesAllOfMoreThanTheSocketTakes) {
  const std::string large(20'000'000, 'w');
  RawSocket far;
  auto end =
      start_with(ErrorSource::client, far, [&](Connection& connection, RawSocket&) -> Task<void> {
        const std::array<std::string_view, 4> buffers{"head", large, std::string_view{}, "tail"};
        const auto written = co_await connection.write(buffers);
        EXPECT_TRUE(written);
        connection.shutdown_send();
      });
  std::string got;
  while (!far.receive(got, 1'000'000)) {
  }
  end.get();
  EXPECT_TRUE(got == "head" + large + "tail");
}

TEST_F(ConnectionTest, AWriteThatNobodyTakesEndsAtItsDeadline) {
  const std::string large(20'000'000, 'w');
  for (const bool each_step : {false, true}) {
    RawSocket far;
    std::optional<Error> error;
    auto end =
        start_with(ErrorSource::client, far, [&](Connection& connection, RawSocket&) -> Task<void> {
          const std::string_view buffer = large;
          connection.set_deadline(Milliseconds{1'000});
          Result<void> written;
          if (each_step) {
            written = co_await connection.write(one(buffer), Milliseconds{1'000});
          } else {
            written = co_await connection.write(one(buffer));
          }
          if (!written) error = written.error();
        });
    ASSERT_TRUE(eventually([&] {
      clock_.advance(Milliseconds{1'000});
      return end.wait_for(Milliseconds{1}) == std::future_status::ready;
    }));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind, ErrorKind::timeout);
  }
}

TEST_F(ConnectionTest, AWriteToOneThatHasGoneFails) {
  const std::string large(20'000'000, 'w');
  run_with(ErrorSource::client, [&](Connection& connection, RawSocket& far) -> Task<void> {
    far.reset();
    const std::string_view buffer = large;
    const auto written = co_await connection.write(one(buffer));
    EXPECT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::disconnected);
    EXPECT_EQ(written.error().source, ErrorSource::client);
  });
}

TEST_F(ConnectionTest, ClosesWhileItIsIdleOnly) {
  RawSocket far;
  std::atomic<Connection*> shown{nullptr};
  std::string seen;
  auto end =
      start_with(ErrorSource::client, far, [&](Connection& connection, RawSocket&) -> Task<void> {
        RequestHead head;
        const auto begun = co_await connection.wait_for_message();
        EXPECT_TRUE(begun && *begun);
        connection.close_if_idle();  // it is not
        const auto read = co_await connection.read_request(HeadLimits::defaults(), head);
        EXPECT_TRUE(read);
        shown = &connection;
        const auto again = co_await connection.wait_for_message();
        EXPECT_TRUE(again && !*again);
        seen = "closed";
      });
  far.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return shown.load() != nullptr; }));
  cores_.on_each([&](net::Core&) { shown.load()->close_if_idle(); });
  end.get();
  EXPECT_EQ(seen, "closed");
}

TEST_F(ConnectionTest, OneThatComesToWaitDuringADrainEnds) {
  run_with(ErrorSource::client, [this](Connection& connection, RawSocket& far) -> Task<void> {
    core().close_doors();
    far.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    RequestHead head;
    const auto begun = co_await connection.wait_for_message();  // it had come: it is answered
    EXPECT_TRUE(begun && *begun);
    const auto read = co_await connection.read_request(HeadLimits::defaults(), head);
    EXPECT_TRUE(read);
    const auto again = co_await connection.wait_for_message();
    EXPECT_TRUE(again && !*again);
  });
}

TEST_F(ConnectionTest, KnowsWhetherAPooledOneIsStale) {
  enum class Doing { nothing, closes, resets, speaks };
  for (const Doing doing : {Doing::nothing, Doing::closes, Doing::resets, Doing::speaks}) {
    run_with(ErrorSource::origin, [doing](Connection& connection, RawSocket& far) -> Task<void> {
      EXPECT_FALSE(connection.is_stale());
      if (doing == Doing::closes) far.close();
      if (doing == Doing::resets) far.reset();
      if (doing == Doing::speaks) far.send("HTTP/1.1 408 Bye\r\n\r\n");
      if (doing != Doing::nothing) {
        EXPECT_TRUE(eventually([&] { return connection.is_stale(); }));
      }
      co_return;
    });
  }
}

TEST_F(ConnectionTest, LingersForABoundedTimeAndSize) {
  run_with(ErrorSource::client, [](Connection& connection, RawSocket& far) -> Task<void> {
    far.send(std::string(100'000, 'x'));
    co_await connection.linger(50'000);  // ends, though the other side does not
  });
  RawSocket far;
  auto end =
      start_with(ErrorSource::client, far, [](Connection& connection, RawSocket&) -> Task<void> {
        connection.set_deadline(Milliseconds{1'000});
        co_await connection.linger(50'000);
      });
  std::string got;
  EXPECT_EQ(far.receive(got), RawSocket::End::closed);  // our half has ended at once
  EXPECT_TRUE(eventually([&] {
    clock_.advance(Milliseconds{1'000});
    return end.wait_for(Milliseconds{1}) == std::future_status::ready;
  }));
}

TEST_F(ConnectionTest, AnEndByResetIsNotMadeOrderlyByLingering) {
  RawSocket far;
  start_with(ErrorSource::client, far, [](Connection& connection, RawSocket&) -> Task<void> {
    connection.reset_on_close();
    co_await connection.linger(50'000);
  }).get();
  std::string got;
  EXPECT_EQ(far.receive(got), RawSocket::End::reset);
}

TEST_F(ConnectionTest, AStopEndsReadsWritesAndWhatIsMadeAfterIt) {
  RawSocket far;
  std::atomic<bool> ready{false};
  auto end =
      start_with(ErrorSource::client, far, [&](Connection& connection, RawSocket&) -> Task<void> {
        RequestHead head;
        ready = true;
        const auto read = co_await connection.read_request(HeadLimits::defaults(), head);
        EXPECT_FALSE(read);
        EXPECT_EQ(read.error().source, ErrorSource::ourselves);
        const auto written = connection.write_now(one("x"));
        EXPECT_FALSE(written);
        Connection late(core(), net::adopt(core(), ::socket(AF_INET, SOCK_STREAM, 0)),
                        ErrorSource::client);
        const auto begun = co_await late.wait_for_message();
        EXPECT_TRUE(begun && !*begun);
      });
  ASSERT_TRUE(eventually([&] { return ready.load(); }));
  cores_.stop();
  end.get();
}

}  // namespace
}  // namespace ringside::http
