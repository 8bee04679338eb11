#include "http1/response_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "base/limits.h"
#include "http1/chunked.h"
#include "http1/client_caller.h"
#include "http1/head_parser.h"
#include "tests/http1/some_connection.h"

namespace ringside::http {
namespace {

using support::eventually;
using support::RawSocket;

using Written = ResponseWriter::Written;

constexpr std::string_view plain_head = "HTTP/1.1 200 OK\r\n\r\n";
constexpr std::string_view chunked_head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

// Is told of waits for the client, and of nothing else.
struct Told final : hop::Handler {
  void begin(const IpAddress&) override {}
  [[nodiscard]] std::uint32_t requests_per_connection() const override { return 1; }
  Task<void> answer(RequestHead&, Caller&, Response&) override { co_return; }
  void refuse(const Error&, Response&) override {}
  void stalled(const Response&, net::Closable& client) override {
    waits_for = &client;
    ++waits;
  }
  void resumed() override { waits_for = nullptr; }
  void sent(const hop::Sent&) override {}
  [[nodiscard]] hop::AccessNotes access_notes() const override { return {}; }

  std::atomic<net::Closable*> waits_for{nullptr};
  std::atomic<unsigned> waits{0};
};

// Writes a response whose body is that of a message which `from` sends, to `to`.
class ResponseWriterTest : public OneCore {
 protected:
  std::future<void> start_writing(RawSocket& from, RawSocket& to, bool length_is_known,
                                  std::optional<Written>& outcome,
                                  ResponseWriter::Terms terms = {}) {
    return start_with(
        ErrorSource::origin, from,
        [this, &to, length_is_known, &outcome, terms](Connection& origin,
                                                      RawSocket&) -> Task<void> {
          Connection client(core(), net::adopt(core(), connect_to(to)), ErrorSource::client);
          ready_ = true;
          ResponseHead head;
          const auto read = co_await origin.read_response(HeadLimits::defaults(), "GET", head);
          EXPECT_TRUE(read);
          Response response;
          response.begin(200, "OK");
          response.length_is_known = length_is_known;
          response.head_waits = head_waits_;
          response.body =
              made_.empty() ? Body(std::make_unique<ClientCaller>(origin)) : Body(made_);
          ResponseWriter writer(client, told_);
          outcome = co_await writer.write(response, terms);
        });
  }
  bool is_ready() {
    return eventually([this] { return ready_.load(); });
  }
  std::atomic<bool> ready_{false};
  bool head_waits_ = false;
  std::string made_;  // the body, if it is not what the origin sends
  Told told_;
};

std::string all_of(RawSocket& socket) {
  std::string got;
  while (!socket.receive(got)) {
  }
  return got;
}

struct Row {
  std::string sent;
  bool length_is_known;
  std::string written;  // behind the head
  std::uint64_t size_bytes;
};

TEST_F(ResponseWriterTest, FramesTheBodyAnew) {
  const std::vector<Row> rows{
      {"Content-Length: 5\r\n\r\nhello", true, "hello", 5},
      {"Content-Length: 5\r\n\r\nhello", false, "5\r\nhello\r\n0\r\n\r\n", 5},
      {"Content-Length: 0\r\n\r\n", true, "", 0},
      {"Content-Length: 0\r\n\r\n", false, "0\r\n\r\n", 0},
      {"Transfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nT: t\r\n\r\n", false,
       "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", 5},
      {"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", true, "hello", 5},
      {"\r\nuntil the end", true, "until the end", 13},
      {"\r\nuntil the end", false, "d\r\nuntil the end\r\n0\r\n\r\n", 13},
  };
  for (const Row& row : rows) {
    RawSocket from;
    RawSocket to;
    std::optional<Written> outcome;
    ready_ = false;
    auto end = start_writing(from, to, row.length_is_known, outcome);
    from.send("HTTP/1.1 200 OK\r\n" + row.sent);
    from.shutdown_send();
    end.get();
    const std::string_view head = row.length_is_known ? plain_head : chunked_head;
    EXPECT_EQ(all_of(to), std::string(head) + row.written) << row.sent;
    ASSERT_TRUE(outcome) << row.sent;
    EXPECT_FALSE(outcome->sent.failure);
    EXPECT_TRUE(outcome->keep_alive);
    EXPECT_EQ(outcome->sent.status, 200);
    EXPECT_EQ(outcome->sent.body_bytes, row.size_bytes);
  }
}

TEST_F(ResponseWriterTest, TheHeadDoesNotWaitForTheBodyNorAPieceForTheNext) {
  RawSocket from;
  RawSocket to;
  std::optional<Written> outcome;
  auto end = start_writing(from, to, false, outcome);
  ASSERT_TRUE(is_ready());
  from.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
  std::string got;
  EXPECT_FALSE(to.receive(got));
  EXPECT_EQ(got, chunked_head);
  from.send("ab");
  const std::size_t begun = chunked_head.size() + 7;
  while (got.size() < begun && !to.receive(got)) {
  }
  EXPECT_EQ(got.substr(chunked_head.size()), "2\r\nab\r\n");
  from.send("cd");
  end.get();
  EXPECT_EQ((got + all_of(to)).substr(chunked_head.size()), "2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n");
}

TEST_F(ResponseWriterTest, AFailureBeforeTheFirstByteCanStillBeToldWhereTheHeadWaits) {
  for (const bool waits : {true, false}) {
    head_waits_ = waits;
    RawSocket from;
    RawSocket to;
    std::optional<Written> outcome;
    ready_ = false;
    auto end = start_writing(from, to, true, outcome);
    ASSERT_TRUE(is_ready());
    from.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
    if (!waits) {
      std::string got;
      EXPECT_FALSE(to.receive(got));
    }
    from.shutdown_send();
    end.get();
    ASSERT_TRUE(outcome && outcome->sent.failure);
    EXPECT_EQ(outcome->sent.status, waits ? 0 : 200);
    EXPECT_EQ(all_of(to), "") << "waits: " << waits;
  }
}

TEST_F(ResponseWriterTest, NothingIsPulledForHead) {
  RawSocket from;
  RawSocket to;
  std::optional<Written> outcome;
  auto end = start_writing(from, to, false, outcome, {1, true, true});
  from.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  end.get();
  EXPECT_EQ(all_of(to), plain_head);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->sent.body_bytes, 0U);
}

TEST_F(ResponseWriterTest, TellsWhichSideFailed) {
  for (const ErrorSource failing : {ErrorSource::origin, ErrorSource::client}) {
    RawSocket from;
    RawSocket to;
    std::optional<Written> outcome;
    ready_ = false;
    auto end = start_writing(from, to, true, outcome);
    ASSERT_TRUE(is_ready());
    if (failing == ErrorSource::client) to.reset();
    from.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\nhello");
    if (failing == ErrorSource::origin) from.shutdown_send();
    while (failing == ErrorSource::client && from.send(std::string(100'000, 'x'))) {
    }
    end.get();
    ASSERT_TRUE(outcome && outcome->sent.failure);
    EXPECT_EQ(outcome->sent.failure->source, failing);
    EXPECT_EQ(outcome->sent.failure->kind, ErrorKind::disconnected);
    EXPECT_FALSE(outcome->keep_alive);
  }
}

// A stored body of which the client had left in the middle was counted whole.
TEST_F(ResponseWriterTest, WhatAClientHasNotTakenIsNotCountedAsSent) {
  made_.assign(64 * limits::kMiB, 'x');
  for (const bool is_cut : {false, true}) {
    RawSocket from;
    RawSocket to;
    std::optional<Written> outcome;
    auto end = start_writing(from, to, true, outcome);
    from.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    ASSERT_TRUE(eventually([this] { return told_.waits_for != nullptr; }));
    if (is_cut) {
      core().post([this] { told_.waits_for.load()->close(); });
    } else {
      to.reset();
    }
    end.get();
    EXPECT_EQ(told_.waits_for, nullptr);
    ASSERT_TRUE(outcome && outcome->sent.failure);
    EXPECT_EQ(outcome->sent.status, 200);
    EXPECT_GT(outcome->sent.body_bytes, 0U);
    EXPECT_LT(outcome->sent.body_bytes, made_.size());
  }
}

// Else whoever takes a long body without a pause is taken for one who has taken nothing for as
// long.
TEST_F(ResponseWriterTest, AClientThatTakesSomethingIsWaitedForAnew) {
  made_.assign(64 * limits::kMiB, 'x');
  RawSocket from;
  RawSocket to;
  std::optional<Written> outcome;
  auto end = start_writing(from, to, true, outcome);
  from.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(eventually([this] { return told_.waits_for != nullptr; }));
  std::string got;
  const auto is_whole = [&] {
    const std::size_t head = got.find("\r\n\r\n");
    return head != std::string::npos && got.size() == head + 4 + made_.size();
  };
  while (!is_whole() && !to.receive(got, limits::kMiB)) {
  }
  EXPECT_TRUE(is_whole());
  to.close();
  end.get();
  EXPECT_EQ(told_.waits_for, nullptr);
  EXPECT_GT(told_.waits, 1U);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->sent.failure);
}

TEST_F(ResponseWriterTest, EachPieceHasItsOwnTime) {
  RawSocket from;
  RawSocket to;
  std::optional<Written> outcome;
  auto end = start_writing(from, to, true, outcome);
  ASSERT_TRUE(is_ready());
  from.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
  std::string head;
  EXPECT_FALSE(to.receive(head));
  for (unsigned piece = 0; piece < 9; ++piece) {
    from.send("x");
    std::string got;
    EXPECT_FALSE(to.receive(got));
    EXPECT_EQ(got, "x");
    clock_.advance(limits::client_io_timeout * 9 / 10);
  }
  from.send("x");
  end.get();
  ASSERT_TRUE(outcome && !outcome->sent.failure);
}

TEST(ChunkLine, IsTheSizeInHexadecimal) {
  std::array<char, 20> space{};
  EXPECT_EQ(chunk_line(1, space), "1\r\n");
  EXPECT_EQ(chunk_line(0xabcdef, space), "abcdef\r\n");
  EXPECT_EQ(chunk_line(SIZE_MAX, space), "ffffffffffffffff\r\n");
}

}  // namespace
}  // namespace ringside::http
