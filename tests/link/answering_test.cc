#include "link/answering.h"

#include <gtest/gtest.h>

#include <map>

#include "base/limits.h"
#include "tests/link/some_server.h"

namespace ringside::link {
namespace {

using support::eventually;
using support::TestClient;

// Besides the link that a test is about, another one that has a request in hand.
class AnsweringTest : public LinkServer {
 protected:
  AnsweringTest() {
    other_.send(request_frame(0, "/held/other"));
    EXPECT_TRUE(eventually([this] { return ledger_.times_asked("/held/other") == 1; }));
  }
  void expect_other_served() {
    ledger_.release(core(), "/held/other");
    EXPECT_EQ(content_of(other_.next()), "of /held/other");
    EXPECT_EQ(other_.get("/another"), "of /another");
  }
  LinkClient other_{address()};
};

TEST_F(AnsweringTest, RequestsThatComeTogetherAreAllAnswered) {
  LinkClient link(address());
  std::string bytes;
  constexpr Stream count = limits::link_streams;
  for (Stream stream = 0; stream < count; ++stream) {
    bytes += request_frame(stream, "/" + std::to_string(stream));
  }
  link.send(bytes);
  std::map<Stream, std::string> answers;
  for (Stream read = 0; read < count; ++read) {
    const auto frame = link.next();
    ASSERT_TRUE(frame);
    answers[frame->stream] = content_of(frame);
  }
  ASSERT_EQ(answers.size(), count);
  for (const auto& [stream, content] : answers) {
    EXPECT_EQ(content, "of /" + std::to_string(stream));
  }
  EXPECT_TRUE(eventually([&] { return ledger_.all_sent("/7").size() == 1; }));
  const hop::Sent sent = ledger_.all_sent("/7").front();
  EXPECT_EQ(sent.status, 200);
  EXPECT_EQ(sent.body_bytes, 5U);
  EXPECT_FALSE(sent.failure);
  expect_other_served();
}

TEST_F(AnsweringTest, AnswersComeInTheOrderInWhichTheyAreReady) {
  LinkClient link(address());
  link.send(request_frame(0, "/held/first") + request_frame(1, "/held/second") +
            request_frame(2, "/at-once"));
  EXPECT_EQ(content_of(link.next()), "of /at-once");
  ledger_.release(core(), "/held/second");
  const auto second = link.next();
  EXPECT_EQ(content_of(second), "of /held/second");
  EXPECT_EQ(second->stream, 1);
  EXPECT_EQ(link.get("/again", 1), "of /again");
  ledger_.release(core(), "/held/first");
  EXPECT_EQ(content_of(link.next()), "of /held/first");
}

TEST_F(AnsweringTest, ARequestThatComesByteByByteIsAnswered) {
  LinkClient link(address());
  for (const char byte : request_frame(0, "/bytes")) link.send({&byte, 1});
  EXPECT_EQ(content_of(link.next()), "of /bytes");
}

TEST_F(AnsweringTest, AnAnswerToHeadHasNoContent) {
  LinkClient link(address());
  link.send(request_frame(3, "/large", "HEAD"));
  const auto frame = link.next();
  ASSERT_TRUE(frame);
  Answer answer;
  ASSERT_TRUE(read_answer(frame->payload, true, answer));
  EXPECT_EQ(answer.head.fields.first("content-length"), std::to_string(large_body.size()));
}

// Who has not proved membership speaks HTTP/1.1 as ever.
TEST_F(AnsweringTest, AStrangerIsNotSwitched) {
  trusts_ = false;
  TestClient stranger(address());
  const auto refused = stranger.ask(switch_request);
  EXPECT_EQ(refused.status, 200);
  EXPECT_EQ(refused.body, "of *");
  const auto reply = stranger.get("/", "Ringside-Topology: 1\r\n");
  EXPECT_EQ(reply.body, "of /");
  EXPECT_EQ(reply.field("ringside-link"), "");
  expect_other_served();
}

TEST_F(AnsweringTest, OnlyMembersAreToldOfTheLink) {
  EXPECT_EQ(get("/", "Ringside-Topology: 1\r\n").field("ringside-link"), version);
  EXPECT_EQ(get("/").field("ringside-link"), "");
}

TEST_F(AnsweringTest, WhatIsNoFrameOfWhoAsksEndsTheLinkAlone) {
  const auto of_type = [](unsigned type) {
    return number_bytes(0, 4) + number_bytes(type, 2) + number_bytes(0, 2);
  };
  const std::string request = request_frame(1, "/held/row");
  const std::map<std::string, std::string> rows{
      {"an unknown type", of_type(8)},
      {"no type", of_type(0)},
      {"a reserved byte", of_type(0x101)},
      {"too large", number_bytes(limits::link_frame_size_bytes - 7, 4) + number_bytes(1, 4)},
      {"a stream used twice", request + request},
      {"a stream beyond the limit", request_frame(limits::link_streams, "/")},
      {"the last stream there is", request_frame(65535, "/")},
      {"an answer", of_type(2)},
      {"an interim response", of_type(3)},
      {"a ticket", of_type(4)},
      {"a failure", of_type(5)},
      {"an empty request", of_type(1)},
      {"a malformed request", frame_bytes(FrameType::request, 1, "GET / HTTP/1.1\r\n\r\n")},
      {"two answers in one value",
       frame_bytes(FrameType::request, 1, RequestPayload{.fields = {{"A", "b\r\nC: d"}}}.bytes())}};
  for (const auto& [name, bytes] : rows) {
    SCOPED_TRACE(name);
    LinkClient link(address());
    EXPECT_EQ(link.get("/before"), "of /before");
    link.send(bytes);
    EXPECT_TRUE(link.ends());  // at once, though a request is in hand
  }
  expect_other_served();
}

TEST_F(AnsweringTest, RequestsBeforeAMalformedOneAreCountedAsAnswered) {
  LinkClient link(address());
  link.send(request_frame(1, "/held/before") + number_bytes(0, 8));
  EXPECT_TRUE(link.ends());
  ledger_.release(core(), "/held/before");
  EXPECT_TRUE(eventually([&] { return ledger_.all_sent("/held/before").size() == 1; }));
  EXPECT_EQ(ledger_.all_sent("/held/before").front().status, 0);
}

TEST_F(AnsweringTest, ACancelledRequestHasFailedAndItsStreamIsUsedAgain) {
  LinkClient link(address());
  link.send(request_frame(1, "/held/gone") + frame_bytes(FrameType::cancel, 1, ""));
  const auto frame = link.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->type, FrameType::failed);
  EXPECT_EQ(frame->stream, 1);
  EXPECT_EQ(link.get("/again", 1), "of /again");
  ledger_.release(core(), "/held/gone");
  EXPECT_TRUE(eventually([&] { return ledger_.all_sent("/held/gone").size() == 1; }));
  EXPECT_EQ(link.get("/and-again", 1), "of /and-again");
}

// They cross the answers.
std::string cancels_of_nothing(unsigned count) {
  std::string bytes;
  for (unsigned i = 0; i < count; ++i) {
    bytes += frame_bytes(FrameType::cancel, static_cast<Stream>(i), "");
  }
  return bytes;
}

TEST_F(AnsweringTest, AFloodOfCancelsEndsTheLink) {
  LinkClient link(address());
  link.send(cancels_of_nothing(limits::link_cancels));
  EXPECT_EQ(link.get("/"), "of /");
  link.send(cancels_of_nothing(1));
  EXPECT_TRUE(link.ends());
  expect_other_served();
}

TEST_F(AnsweringTest, CancelsNowAndThenAreNoFlood) {
  LinkClient link(address());
  for (unsigned round = 0; round < 3; ++round) {
    link.send(cancels_of_nothing(limits::link_cancels));
    EXPECT_EQ(link.get("/"), "of /");
    advance(limits::link_cancel_window + Milliseconds{1});
  }
  EXPECT_EQ(link.get("/"), "of /");
}

// Else who cancels at once has the server do as much as it likes.
TEST_F(AnsweringTest, CancelledRequestsThatGoOnAreBounded) {
  LinkClient link(address());
  std::string bytes;
  constexpr std::size_t most = 2 * limits::link_streams;
  for (std::size_t i = 0; i < most; ++i) {
    bytes += request_frame(2, "/held/flood") + frame_bytes(FrameType::cancel, 2, "");
  }
  link.send(bytes);
  for (std::size_t i = 0; i < most; ++i) ASSERT_TRUE(link.next());
  EXPECT_EQ(ledger_.times_asked("/held/flood"), most);
  link.send(request_frame(2, "/one-more"));
  const auto refused = link.next();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->type, FrameType::failed);
  EXPECT_EQ(ledger_.times_asked("/one-more"), 0U);
  EXPECT_FALSE(link.has_ended()) << "others have requests on it";
  expect_other_served();
}

TEST_F(AnsweringTest, HalfAFrameAndSilenceEndTheLink) {
  LinkClient link(address());
  const std::string bytes = request_frame(1, "/");
  link.send(request_frame(0, "/whole") + bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(content_of(link.next()), "of /whole");
  advance(limits::link_frame_timeout - Milliseconds{1'000});
  EXPECT_FALSE(link.has_ended());
  EXPECT_TRUE(eventually([&] {
    advance(Milliseconds{1'000});
    return link.has_ended();
  }));
  expect_other_served();
}

// Else who sends a byte now and then holds a request's memory for as long as it likes.
TEST_F(AnsweringTest, AFrameWhoseBytesTrickleInEndsTheLink) {
  LinkClient link(address());
  const std::string bytes = request_frame(1, "/" + std::string(2'000, 'a'));
  bool has_ended = false;
  for (std::size_t at = 0; at + 1 < bytes.size() && !has_ended; ++at) {
    link.send(bytes.substr(at, 1));
    advance(limits::link_frame_timeout / 4);
    has_ended = link.has_ended();
  }
  EXPECT_TRUE(has_ended);
  expect_other_served();
}

TEST_F(AnsweringTest, ALinkWithoutRequestsIsClosedInTime) {
  LinkClient link(address());
  EXPECT_EQ(link.get("/"), "of /");
  advance(limits::client_idle_timeout - Milliseconds{1'000});
  EXPECT_EQ(link.get("/"), "of /");
  advance(limits::client_idle_timeout - Milliseconds{1'000});
  EXPECT_FALSE(link.has_ended());
  EXPECT_TRUE(eventually([&] {
    advance(Milliseconds{1'000});
    return link.has_ended();
  }));
  expect_other_served();
}

// Else a member that is slow fills the memory of those that answer it.
TEST_F(AnsweringTest, WhoTakesNoAnswersIsNotReadFrom) {
  LinkClient link(address());
  constexpr std::size_t count = 1'500;
  // Beside what waits in the server, what the sockets take.
  constexpr std::size_t most = (limits::link_unsent_bytes + 24 * limits::kMiB) / medium_body_bytes;
  static_assert(most < count);
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes += request_frame(static_cast<Stream>(i % limits::link_streams), "/medium");
  }
  link.send(bytes);
  EXPECT_TRUE(eventually([&] { return link.has_something(); }));
  for (unsigned round = 0; round < 100; ++round) cores_.on_each([](net::Core&) {});
  EXPECT_LE(ledger_.times_asked("/medium"), most);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(content_of(link.next()).size(), medium_body_bytes) << i;
  }
  EXPECT_EQ(link.get("/after"), "of /after");
  expect_other_served();
}

TEST_F(AnsweringTest, WhoGoesAwayLeavesNothingBehind) {
  {
    LinkClient link(address());
    link.send(request_frame(0, "/held/left") + frame_bytes(FrameType::going_away, 0, "bye"));
    EXPECT_TRUE(eventually([&] { return ledger_.held() == 2; }));  // and the other client's
  }
  ledger_.release(core(), "/held/left");
  EXPECT_TRUE(eventually([&] { return ledger_.all_sent("/held/left").size() == 1; }));
  EXPECT_TRUE(eventually([&] { return server_->open_connections() == 1; }));
  expect_other_served();
}

TEST_F(AnsweringTest, ADrainSaysSoAndAnswersWhatIsInHand) {
  LinkClient link(address());
  link.send(request_frame(4, "/held/last"));
  EXPECT_TRUE(eventually([&] { return ledger_.times_asked("/held/last") == 1; }));
  server_->drain();
  const auto frame = link.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->type, FrameType::going_away);
  // It was on its way.
  EXPECT_EQ(link.get("/crossing", 5), "of /crossing");
  ledger_.release(core(), "/held/last");
  EXPECT_EQ(content_of(link.next()), "of /held/last");
  EXPECT_EQ(other_.next()->type, FrameType::going_away);
  expect_other_served();
}

}  // namespace
}  // namespace ringside::link
