#include "http1/upload.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/limits.h"
#include "http1/head_parser.h"
#include "tests/http1/some_upload.h"

namespace ringside::http {
namespace {

using support::answer;
using support::eventually;
using support::Gate;
using support::ScriptedPeer;
using support::Stage;

// RFC 9112 §9.5
TEST_F(UploadTest, AnEarlyAnswerDoesNotWaitForASlowUpload) {
  ScriptedPeer peer([&](Stage& stage) {
    stage.read_head();
    stage.read(2);
    stage.send(refusal);
    stage.stall();
  });
  auto end = start(peer, five_bytes);
  client_.send("he");
  end.get();
  EXPECT_EQ(outcome_.status, 413);
  EXPECT_EQ(outcome_.body, "no");
  EXPECT_FALSE(outcome_.pooled);
}

TEST_F(UploadTest, AnEarlyAnswerOfOneThatReadsNoMoreIsHeard) {
  constexpr std::size_t size = 50'000'000;
  Gate heard;
  ScriptedPeer peer([&](Stage& stage) {
    stage.read_head();
    stage.read(100'000);
    stage.send(refusal);
    stage.wait(heard);
  });
  auto end = start(peer, "Content-Length: " + std::to_string(size) + "\r\n");
  std::thread sender([this] { client_.send(std::string(size, 'x')); });
  end.get();
  heard.open();
  sender.join();
  EXPECT_EQ(outcome_.status, 413);
  EXPECT_FALSE(outcome_.pooled);
}

TEST_F(UploadTest, AnAnswerIsHeardFromOneThatResetsInMidUpload) {
  constexpr std::size_t size = 50'000'000;
  ScriptedPeer peer([&](Stage& stage) {
    stage.read_head();
    stage.send(refusal);
    stage.reset();
  });
  auto end = start(peer, "Content-Length: " + std::to_string(size) + "\r\n");
  std::thread sender([this] { client_.send(std::string(size, 'x')); });
  end.get();
  sender.join();
  EXPECT_EQ(outcome_.status, 413);
  EXPECT_FALSE(outcome_.pooled);
}

TEST_F(UploadTest, AnUpstreamThatEndsInMidUploadHasFailed) {
  for (const bool with_reset : {false, true}) {
    ScriptedPeer peer([&](Stage& stage) {
      stage.read_head();
      stage.read(2);
      if (with_reset) stage.reset();
      stage.close();
    });
    auto end = start(peer, five_bytes);
    client_.send("he");
    end.get();
    ASSERT_TRUE(outcome_.error);
    EXPECT_EQ(outcome_.error->kind, ErrorKind::disconnected);
    EXPECT_EQ(outcome_.error->source, ErrorSource::origin);
    EXPECT_EQ(outcome_.error->retry, Retry::no);  // a part of the body is gone
  }
}

TEST_F(UploadTest, ABodyThatIsNoneIsTheClientsError) {
  ScriptedPeer peer([](Stage& stage) { stage.stall(); });
  auto end = start(peer, "Transfer-Encoding: chunked\r\n");
  client_.send("2\r\nhello");
  end.get();
  ASSERT_TRUE(outcome_.error);
  EXPECT_EQ(outcome_.error->kind, ErrorKind::malformed);
  EXPECT_EQ(outcome_.error->source, ErrorSource::client);
}

TEST_F(UploadTest, AChunkedBodyArrivesInTheChunkedCoding) {
  std::string got;
  ScriptedPeer peer([&](Stage& stage) {
    got = stage.read_request();
    stage.send(answer("200 OK", "", ""));
    stage.stall();
  });
  auto end = start(peer, "Transfer-Encoding: chunked\r\n");
  client_.send("2;x=y\r\nhe\r\n03\r\nllo\r\n0\r\nTrailer: x\r\n\r\n");
  end.get();
  EXPECT_EQ(outcome_.status, 200);
  EXPECT_TRUE(outcome_.pooled);
  std::string data = got.substr(got.find("\r\n\r\n") + 4);
  EXPECT_TRUE(data == "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n" || data == "5\r\nhello\r\n0\r\n\r\n")
      << data;
}

TEST_F(UploadTest, WhoIsGivenUpHasLetItsTimeRunOut) {
  ScriptedPeer peer([](Stage& stage) {
    stage.read_head();
    stage.stall();
  });
  for (const bool with_body : {false, true}) {
    auto end = start(peer, with_body ? expecting : std::string_view{});
    const std::size_t asked = with_body ? 2 : 1;
    ASSERT_TRUE(eventually([&] { return peer.requests() == asked; }));
    cores_.on_each([this](net::Core&) { shown_.load()->give_up(); });
    end.get();
    ASSERT_TRUE(outcome_.error);
    EXPECT_EQ(outcome_.error->kind, ErrorKind::timeout);
    EXPECT_EQ(outcome_.error->source, ErrorSource::origin);
    EXPECT_EQ(outcome_.error->retry, Retry::yes);
    EXPECT_EQ(client_reads_all(), "");  // the body was not asked for, nor lost
  }
}

// A chunked body doesn't say its size beforehand, so that it is found to be too large on the way.
TEST_F(UploadTest, HoldsItsLimitOnTheSize) {
  for (const std::uint64_t most_bytes : {5U, 4U}) {
    std::optional<Result<Upload::End>> end;
    support::RawSocket upstream;
    auto done = start_with(
        ErrorSource::client, client_, [&](Connection& client, support::RawSocket&) -> Task<void> {
          Connection to(core(), net::adopt(core(), connect_to(upstream)), ErrorSource::origin);
          RequestHead request;
          const auto read = co_await client.read_request(HeadLimits::defaults(), request);
          EXPECT_TRUE(read);
          ClientCaller caller(client);
          Upload upload(caller, to, true, most_bytes);
          end = co_await upload.run();
        });
    client_.send(
        "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n");
    done.get();
    ASSERT_TRUE(end);
    if (most_bytes == 5) {
      ASSERT_TRUE(*end);
      EXPECT_EQ(**end, Upload::End::complete);
    } else {
      ASSERT_FALSE(*end);
      EXPECT_EQ(end->error().kind, ErrorKind::body_too_large);
      EXPECT_EQ(end->error().source, ErrorSource::client);
    }
  }
}

}  // namespace
}  // namespace ringside::http
