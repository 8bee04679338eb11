#include <gtest/gtest.h>

#include <atomic>

#include "base/limits.h"
#include "net/retry_budget.h"
#include "tests/link/some_member.h"

namespace ringside::link {
namespace {

using support::eventually;
using support::Gate;
using support::ScriptedPeer;
using support::Stage;

class LinkFailureTest : public AskingCore {};

// What a member does that has two requests in hand.
struct Fault {
  std::string name;
  std::function<void(Stage& stage, Stream first)> happens;
};

std::function<void(Stage&, Stream)> sending(FrameType type, std::string payload) {
  return [=](Stage& stage, Stream first) { stage.send(frame_bytes(type, first, payload)); };
}

// Frames by which nobody knows any more what is whose.
std::vector<Fault> faults_of_the_link() {
  return {
      {"an answer to nothing",
       [](Stage& stage, Stream) { stage.send(answer_frame(limits::link_streams - 1, "a")); }},
      {"a failure of nothing",
       [](Stage& stage, Stream) { stage.send(frame_bytes(FrameType::failed, 65535, "a")); }},
      {"a request", sending(FrameType::request, RequestPayload{}.bytes())},
      {"a cancel", sending(FrameType::cancel, "")},
      {"an unknown type", sending(static_cast<FrameType>(8), "")},
      {"too large",
       [](Stage& stage, Stream) {
         stage.send(number_bytes(limits::link_frame_size_bytes, 4) + number_bytes(2, 4));
       }},
      {"HTTP", [](Stage& stage, Stream) { stage.send("HTTP/1.1 200 OK\r\n\r\n"); }},
  };
}

TEST_F(LinkFailureTest, WhoWaitsOnALinkWhereFramesAreWrongMayAskElsewhere) {
  for (const Fault& fault : faults_of_the_link()) {
    SCOPED_TRACE(fault.name);
    ScriptedPeer peer(member([&](Stage& stage) {
      const Stream first = read_request_frame(stage).stream;
      read_request_frame(stage);
      fault.happens(stage, first);
    }));
    open_link(peer.address());
    Outcome first;
    Outcome second;
    auto asking = start_asking(peer.address(), first);
    auto asking_too = start_asking(peer.address(), second);
    asking.get();
    asking_too.get();
    for (const Outcome& outcome : {first, second}) {
      ASSERT_TRUE(outcome.error);
      EXPECT_EQ(outcome.error->kind, ErrorKind::malformed) << outcome.error->message;
      EXPECT_EQ(outcome.error->source, ErrorSource::peer);
      EXPECT_EQ(outcome.error->retry, Retry::yes);
    }
    EXPECT_EQ(asked(peer.address()).body, "plain");
    // It is tried again after a pause.
    EXPECT_FALSE(has_link(peer.address()));
    clock_.advance(limits::link_pause);
    open_link(peer.address());
  }
}

// Frames that are whole, with something in them that is none.
std::vector<Fault> faults_of_one_request() {
  const std::string split = ResponsePayload{.ready = "A: b\r\n\r\nC: d\r\n", .flags = 0}.bytes();
  const auto many_interims = [](Stage& stage, Stream first) {
    const std::string interim = ResponsePayload{.status = 103}.bytes();
    for (unsigned i = 0; i < 2 * limits::interim_responses; ++i) {
      stage.send(frame_bytes(FrameType::interim, first, interim));
    }
    stage.send(answer_frame(first, "too late"));
  };
  const auto malformed_interim = [](Stage& stage, Stream first) {
    stage.send(frame_bytes(FrameType::interim, first, "a") + answer_frame(first, "too late"));
  };
  return {{"a malformed answer", sending(FrameType::answer, "HTTP/1.1 200 OK\r\n\r\n")},
          {"two answers in one", sending(FrameType::answer, split)},
          {"an empty answer", sending(FrameType::answer, "")},
          {"a malformed ticket", sending(FrameType::ticket, "1234567")},
          {"a malformed interim response", malformed_interim},
          {"too many interim responses", many_interims}};
}

TEST_F(LinkFailureTest, AnAnswerThatIsNoneFailsOneRequestAndLeavesTheOthers) {
  for (const Fault& fault : faults_of_one_request()) {
    SCOPED_TRACE(fault.name);
    Gate failed;
    ScriptedPeer peer(member([&](Stage& stage) {
      const Stream first = read_request_frame(stage).stream;
      const Stream second = read_request_frame(stage).stream;
      fault.happens(stage, first);
      stage.wait(failed);
      stage.send(answer_frame(second, "two"));
      stage.stall();
    }));
    open_link(peer.address());
    Outcome first;
    Outcome second;
    auto asking = start_asking(peer.address(), first);
    auto asking_too = start_asking(peer.address(), second);
    asking.get();
    ASSERT_TRUE(first.error);
    EXPECT_EQ(first.error->kind, ErrorKind::malformed) << first.error->message;
    EXPECT_EQ(first.error->source, ErrorSource::peer);
    EXPECT_TRUE(has_link(peer.address()));
    failed.open();
    asking_too.get();
    EXPECT_EQ(second.body, "two");
  }
}

// A link that ends before anything of the answers has come says nothing of the member, as with a
// pooled connection: it is asked over HTTP/1.1.
TEST_F(LinkFailureTest, WhoWaitsOnALinkThatEndsIsAnsweredOverHttp) {
  const auto half = [](Stage& stage, Stream first) {
    stage.send(answer_frame(first, "all of it").substr(0, 20));
    stage.close();
  };
  for (const Fault& fault :
       std::vector<Fault>{{"the end", [](Stage&stage, Stream) { stage.close(); }},
                          {"a reset", [](Stage&stage, Stream) { stage.reset(); }},
                          {"half an answer", half}}) {
    SCOPED_TRACE(fault.name);
    ScriptedPeer peer(member([&](Stage& stage) {
      const Stream first = read_request_frame(stage).stream;
      read_request_frame(stage);
      fault.happens(stage, first);
    }));
    open_link(peer.address());
    Outcome first;
    Outcome second;
    auto asking = start_asking(peer.address(), first);
    auto asking_too = start_asking(peer.address(), second);
    asking.get();
    asking_too.get();
    EXPECT_EQ(first.body, "plain");
    EXPECT_EQ(second.body, "plain");
    EXPECT_FALSE(has_link(peer.address()));
  }
}

// Each of up to 512 requests told of a failure of the member, which three in a row take out.
TEST_F(LinkFailureTest, WhoWaitsOnALinkThatWasHeardOfAndEndsIsAnsweredOverHttp) {
  ScriptedPeer peer(member([](Stage& stage) {
    const Stream first = read_request_frame(stage).stream;
    read_request_frame(stage);
    stage.send(answer_frame(first, "one"));
    stage.close();
  }));
  open_link(peer.address());
  Outcome first;
  Outcome second;
  auto asking = start_asking(peer.address(), first);
  auto asking_too = start_asking(peer.address(), second);
  asking.get();
  asking_too.get();
  EXPECT_EQ(first.body, "one");
  EXPECT_EQ(second.body, "plain");
}

// A link that breaks with hundreds of requests on it must not have each asked again.
TEST_F(LinkFailureTest, WhoWaitsOnALinkThatEndsIsAskedAgainWithinTheBudget) {
  ScriptedPeer peer(member([](Stage& stage) {
    read_request_frame(stage);
    read_request_frame(stage);
    stage.close();
  }));
  open_link(peer.address());
  net::RetryBudget one({.percent = 50, .floor_per_second = 0});
  one.count_request(clock_.steady_now());
  one.count_request(clock_.steady_now());
  Outcome first;
  Outcome second;
  auto asking = start_asking(peer.address(), first, {.repeats = &one});
  auto asking_too = start_asking(peer.address(), second, {.repeats = &one});
  asking.get();
  asking_too.get();
  const Outcome& repeated = first.error ? second : first;
  const Outcome& failed = first.error ? first : second;
  EXPECT_EQ(repeated.body, "plain");
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->kind, ErrorKind::disconnected);
  EXPECT_EQ(failed.error->retry, Retry::yes) << "by who has another budget";
}

TEST_F(LinkFailureTest, ARequestThatHasFailedThereLeavesTheOthers) {
  ScriptedPeer peer(member([](Stage& stage) {
    const Stream first = read_request_frame(stage).stream;
    const Stream second = read_request_frame(stage).stream;
    stage.send(frame_bytes(FrameType::failed, first, "no owner") + answer_frame(second, "two"));
    serve_link(stage);
  }));
  open_link(peer.address());
  Outcome first;
  Outcome second;
  auto asking = start_asking(peer.address(), first);
  auto asking_too = start_asking(peer.address(), second);
  asking.get();
  asking_too.get();
  EXPECT_EQ(first.body, "plain");
  EXPECT_EQ(second.body, "two");
  EXPECT_EQ(asked(peer.address()).body, "link /");
}

TEST_F(LinkFailureTest, ATimeoutFailsOneRequestAndLeavesTheOthers) {
  std::atomic<unsigned> came{0};
  ScriptedPeer peer(member([&](Stage& stage) {
    const Stream slow = read_request_frame(stage).stream;
    ++came;
    const Stream other = read_request_frame(stage).stream;
    ++came;
    stage.send(answer_frame(read_request_frame(stage).stream, "heard of"));
    const OwnedFrame cancel = read_frame(stage);
    EXPECT_EQ(cancel.type, FrameType::cancel);
    EXPECT_EQ(cancel.stream, slow);
    // The stream is not used again before that.
    const Stream third = read_request_frame(stage).stream;
    EXPECT_NE(third, slow);
    stage.send(answer_frame(third, "three") + answer_frame(slow, "too late") +
               answer_frame(other, "two"));
    serve_link(stage);
  }));
  open_link(peer.address());
  Outcome slow;
  Outcome other;
  auto asking = start_asking(peer.address(), slow, {.first_byte_timeout = Milliseconds{1'000}});
  EXPECT_TRUE(eventually([&] { return came == 1; }));
  auto asking_too = start_asking(peer.address(), other);
  EXPECT_TRUE(eventually([&] { return came == 2; }));
  EXPECT_EQ(asked(peer.address()).body, "heard of");
  clock_.advance(Milliseconds{1'000} + limits::deadline_tick);
  asking.get();
  ASSERT_TRUE(slow.error);
  EXPECT_EQ(slow.error->kind, ErrorKind::timeout);
  EXPECT_EQ(slow.error->source, ErrorSource::peer);
  EXPECT_EQ(slow.error->retry, Retry::yes);
  EXPECT_EQ(asked(peer.address()).body, "three");
  asking_too.get();
  EXPECT_EQ(other.body, "two");
  EXPECT_EQ(asked(peer.address()).body, "link /");
}

// It may be slow, and it was closed, so that the others were asked again; or it may be dead, and it
// was left open for all who came.
TEST_F(LinkFailureTest, AfterATimeoutASilentLinkServesThoseOnItAndNobodyElse) {
  std::atomic<unsigned> came{0};
  ScriptedPeer peer(member([&](Stage& stage) {
    read_request_frame(stage);
    ++came;
    const Stream other = read_request_frame(stage).stream;
    ++came;
    EXPECT_EQ(read_frame(stage).type, FrameType::cancel);
    stage.send(answer_frame(other, "two"));
    stage.stall();
  }));
  open_link(peer.address());
  Outcome slow;
  Outcome other;
  auto asking = start_asking(peer.address(), slow, {.first_byte_timeout = Milliseconds{1'000}});
  EXPECT_TRUE(eventually([&] { return came == 1; }));
  auto asking_too = start_asking(peer.address(), other);
  EXPECT_TRUE(eventually([&] { return came == 2; }));
  clock_.advance(Milliseconds{1'000} + limits::deadline_tick);
  asking.get();
  asking_too.get();
  ASSERT_TRUE(slow.error);
  EXPECT_EQ(slow.error->kind, ErrorKind::timeout);
  EXPECT_EQ(other.body, "two");
  EXPECT_EQ(asked(peer.address()).body, "plain");
}

// One that was given up ended a silent link. The others on it were cut off too, and the budget did
// not pay for a repeat of each.
TEST_F(LinkFailureTest, WhoIsGivenUpLeavesOthersOnASilentLinkToTheirOwnWatch) {
  Gate came;
  Gate came_too;
  Gate goes_on;
  ScriptedPeer peer(member([&](Stage& stage) {
    const Stream first = read_request_frame(stage).stream;
    came.open();
    read_request_frame(stage);
    came_too.open();
    stage.wait(goes_on);
    stage.send(answer_frame(first, "late"));
    stage.stall();
  }));
  open_link(peer.address());
  clock_.advance(Milliseconds{1});  // what was heard before was heard earlier
  Outcome other;
  auto asking_too = start_asking(peer.address(), other);
  ASSERT_TRUE(came.wait());
  std::unique_ptr<hop::Exchange> exchange;
  std::optional<Error> error;
  auto asking = support::start_on(core(), [&]() -> Task<void> {
    exchange = links_->exchange();
    const auto far = Milliseconds{60'000};
    const auto answered = co_await exchange->ask(peer.address(), http::some_request("GET"),
                                                 {far, far, core().steady_now() + far});
    if (!answered) error = answered.error();
    exchange = nullptr;
  });
  ASSERT_TRUE(came_too.wait());
  core().post([&] { exchange->give_up(); });
  asking.get();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, ErrorKind::timeout);
  EXPECT_EQ(error->retry, Retry::yes);
  EXPECT_FALSE(has_link(peer.address()));
  EXPECT_EQ(asked(peer.address()).body, "plain");
  goes_on.open();
  asking_too.get();
  EXPECT_EQ(other.body, "late");
}

}  // namespace
}  // namespace ringside::link
