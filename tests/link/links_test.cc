#include "link/links.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <list>

#include "base/limits.h"
#include "tests/link/some_member.h"

namespace ringside::link {
namespace {

using support::answer;
using support::eventually;
using support::Gate;
using support::ScriptedPeer;
using support::Stage;
using testing::ElementsAre;
using testing::StartsWith;

class LinksTest : public AskingCore {};

TEST_F(LinksTest, RequestsGoOverTheLinkOnceThereIsOne) {
  ScriptedPeer peer(member(serve_link));
  open_link(peer.address());
  for (const char* const target : {"/a", "/b", "/c"}) {
    const Outcome outcome = asked(peer.address(), {.target = target});
    EXPECT_EQ(outcome.status, 200);
    EXPECT_EQ(outcome.body, std::string("link ") + target);
  }
  EXPECT_EQ(peer.connections(), 2U);
  EXPECT_THAT(peer.heads(), ElementsAre(StartsWith("GET /first "), StartsWith("OPTIONS * ")));
}

// What slow clients leave with us was not counted, so that nobody was told 503 for it.
TEST_F(LinksTest, WhatIsHeldOfAnAnswerCountsInTheCoresBuffers) {
  const std::string body(60'000, 'b');
  ScriptedPeer peer(member([&](Stage& stage) {
    while (true) stage.send(answer_frame(read_request_frame(stage).stream, body));
  }));
  open_link(peer.address());
  std::unique_ptr<hop::Exchange> exchange;
  std::size_t before = 0;
  std::size_t held = 0;
  std::size_t after = 0;
  support::start_on(core(), [&]() -> Task<void> {
    before = core().buffered_bytes();
    exchange = links_->exchange();
    const auto far = Milliseconds{60'000};
    const auto answered = co_await exchange->ask(peer.address(), http::some_request("GET"),
                                                 {far, far, core().steady_now() + far});
    EXPECT_TRUE(answered);
    held = core().buffered_bytes();
    exchange = nullptr;
    after = core().buffered_bytes();
  }).get();
  EXPECT_GE(held, before + body.size());
  EXPECT_LT(after, before + body.size());
}

TEST_F(LinksTest, AnswersInAnotherOrderReachWhoAsked) {
  ScriptedPeer peer(member([](Stage& stage) {
    std::vector<OwnedRequest> requests;
    for (unsigned i = 0; i < 5; ++i) requests.push_back(read_request_frame(stage));
    std::string bytes;
    std::reverse(requests.begin(), requests.end());
    for (const OwnedRequest& each : requests) {
      bytes += answer_frame(each.stream, "link " + each.target);
    }
    stage.send(bytes);
  }));
  open_link(peer.address());
  std::list<Outcome> outcomes;
  std::vector<std::future<void>> asking;
  const std::vector<std::string> targets{"/0", "/1", "/2", "/3", "/4"};
  for (const std::string& target : targets) {
    asking.push_back(start_asking(peer.address(), outcomes.emplace_back(), {.target = target}));
  }
  for (std::future<void>& each : asking) each.get();
  std::size_t index = 0;
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.body, "link " + targets[index++]);
}

TEST_F(LinksTest, AnAnswerThatComesByteByByteIsRead) {
  ScriptedPeer peer(member([](Stage& stage) {
    const OwnedRequest request = read_request_frame(stage);
    for (const char byte : answer_frame(request.stream, "slow")) stage.send({&byte, 1});
  }));
  open_link(peer.address());
  EXPECT_EQ(asked(peer.address()).body, "slow");
}

TEST_F(LinksTest, AnAnswerToHeadTellsALengthAndHasNoContent) {
  ScriptedPeer peer(member([](Stage& stage) {
    const Stream stream = read_request_frame(stage).stream;
    stage.send(frame_bytes(FrameType::answer, stream,
                           ResponsePayload{.rest = "Content-Length: 5\r\n"}.bytes()));
    serve_link(stage);
  }));
  open_link(peer.address());
  EXPECT_EQ(asked(peer.address(), {.method = "HEAD"}).status, 200);
  EXPECT_EQ(asked(peer.address()).body, "link /");
}

TEST_F(LinksTest, WhoNeverTellsOfALinkIsSpokenToInHttp) {
  ScriptedPeer peer(support::always(answer("200 OK", "", "plain")));
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(asked(peer.address()).body, "plain");
  EXPECT_FALSE(has_link(peer.address()));
  EXPECT_EQ(peer.connections(), 1U);
  EXPECT_EQ(peer.requests(), 3U);
}

TEST_F(LinksTest, WhoDoesNotSwitchIsSpokenToInHttpForAWhile) {
  for (const char* const refusal :
       {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 501 No\r\n\r\n",
        "no HTTP\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: ringside-link/2\r\n\r\n", ""}) {
    SCOPED_TRACE(refusal);
    ScriptedPeer peer(member([](Stage& stage) { stage.close(); }, refusal));
    EXPECT_EQ(asked(peer.address()).body, "plain");
    // The connection on which it was asked for has ended.
    EXPECT_TRUE(eventually([&] { return peer.requests() == 2; }));
    EXPECT_TRUE(eventually([&] {
      clock_.advance(limits::link_pause);
      EXPECT_EQ(asked(peer.address()).body, "plain");
      return peer.connections() > 2;
    }));
    EXPECT_FALSE(has_link(peer.address()));
  }
}

// Until then it is not asked again and again.
TEST_F(LinksTest, AfterARefusalThereIsAPause) {
  Gate refused;
  ScriptedPeer peer(member(
      [&](Stage& stage) {
        refused.open();
        stage.close();
      },
      "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_EQ(asked(peer.address()).body, "plain");
  ASSERT_TRUE(refused.wait());
  for (unsigned i = 0; i < 50; ++i) EXPECT_EQ(asked(peer.address()).body, "plain");
  EXPECT_EQ(peer.connections(), 2U);
}

TEST_F(LinksTest, WhoGoesAwayAnswersWhatIsInHandAndIsAskedNoMore) {
  Gate asked_another;
  Gate ended;
  ScriptedPeer peer(member([&](Stage& stage) {
    const Stream first = read_request_frame(stage).stream;
    const Stream second = read_request_frame(stage).stream;
    stage.send(frame_bytes(FrameType::going_away, 0, "drains") + answer_frame(first, "one"));
    stage.wait(asked_another);
    stage.send(answer_frame(second, "two"));
    EXPECT_EQ(stage.read_to_end(), "");
    ended.open();
  }));
  open_link(peer.address());
  Outcome first;
  Outcome second;
  auto asking = start_asking(peer.address(), first);
  auto asking_too = start_asking(peer.address(), second);
  asking.get();
  EXPECT_EQ(first.body, "one");
  EXPECT_EQ(asked(peer.address()).body, "plain");
  asked_another.open();
  asking_too.get();
  EXPECT_EQ(second.body, "two");
  EXPECT_TRUE(ended.wait());
  // Another link is made when it is time.
  EXPECT_FALSE(has_link(peer.address()));
  clock_.advance(limits::link_pause);
  open_link(peer.address());
}

TEST_F(LinksTest, AnIdleLinkIsClosedAndNothingIsLeftToLookAt) {
  Gate ended;
  ScriptedPeer peer(member([&](Stage& stage) {
    EXPECT_EQ(stage.read_to_end(), "");
    ended.open();
  }));
  open_link(peer.address());
  const auto keeps = [&] {
    bool any = false;
    cores_.on_each([&](net::Core&) { any = links_->close_idle(); });
    return any;
  };
  clock_.advance(limits::upstream_idle_timeout - Milliseconds{1});
  EXPECT_TRUE(keeps());
  EXPECT_TRUE(has_link(peer.address()));
  clock_.advance(Milliseconds{1});
  EXPECT_TRUE(keeps());
  EXPECT_FALSE(has_link(peer.address()));
  EXPECT_TRUE(ended.wait());
  EXPECT_TRUE(eventually([&] { return !keeps(); }));
}

TEST_F(LinksTest, BeyondTheLimitNoFurtherLinkIsMade) {
  http::ResponseHead told;
  told.fields.add("Ringside-Link", "1");
  ScriptedPeer peer(member(serve_link));
  cores_.on_each([&](net::Core&) {
    for (std::uint16_t port = 1; port <= limits::links_per_core; ++port) {
      links_->learn({{"127.255.255.1", port}, {}}, {}, told);
    }
  });
  EXPECT_EQ(asked(peer.address()).body, "plain");
  EXPECT_EQ(asked(peer.address()).body, "plain");
  EXPECT_FALSE(has_link(peer.address()));
  EXPECT_EQ(peer.connections(), 1U);
}

TEST_F(LinksTest, ATicketIsFollowedOverHttp) {
  ScriptedPeer peer(member([](Stage& stage) {
    for (const std::uint64_t number : {0xabcULL, 0ULL, ~0ULL}) {
      const Stream stream = read_request_frame(stage).stream;
      stage.send(frame_bytes(FrameType::ticket, stream, number_bytes(number, 8)));
    }
    serve_link(stage);
  }));
  open_link(peer.address());
  for (const char* const number : {"0000000000000abc", "", "ffffffffffffffff"}) {
    EXPECT_EQ(asked(peer.address(), {.target = "/large"}).body, "plain");
    const std::string head = peer.heads().back();
    EXPECT_THAT(head, StartsWith("GET /large HTTP/1.1\r\n"));
    EXPECT_EQ(support::field(head, "ringside-ticket"), number);
    EXPECT_EQ(support::field(head, "a"), "b");
  }
  EXPECT_EQ(asked(peer.address()).body, "link /");
}

// Who waits for an answer and is told of interim responses.
class Listener final : public http::Caller {
 public:
  [[nodiscard]] const IpAddress& address() const noexcept override { return address_; }
  [[nodiscard]] std::optional<Result<http::Pulled>> take() override { return std::nullopt; }
  [[nodiscard]] Task<Result<http::Pulled>> pull() override { co_return Error{}; }
  void interrupt() noexcept override {}
  void give_up() noexcept override {}
  [[nodiscard]] Task<Result<void>> tell(const http::ResponseHead& head, Milliseconds) override {
    std::string text = std::to_string(head.status);
    for (const http::Field& field : head.fields) {
      text.append(" ").append(field.name).append("=").append(field.value);
    }
    told.push_back(std::move(text));
    co_return Result<void>();
  }
  std::vector<std::string> told;

 private:
  IpAddress address_;
};

std::string interim_frame(Stream stream, unsigned status, std::string line) {
  return frame_bytes(FrameType::interim, stream,
                     ResponsePayload{.status = status, .rest = std::move(line)}.bytes());
}

TEST_F(LinksTest, InterimResponsesArePassedOn) {
  ScriptedPeer peer(member([](Stage& stage) {
    for (unsigned i = 0; i < 2; ++i) {
      const Stream stream = read_request_frame(stage).stream;
      stage.send(interim_frame(stream, 103, "Link: a\r\n") + interim_frame(stream, 100, "") +
                 interim_frame(stream, 103, "Link: b\r\n") + answer_frame(stream, "final"));
    }
  }));
  open_link(peer.address());
  Listener listener;
  EXPECT_EQ(asked(peer.address(), {.interim_to = &listener}).body, "final");
  EXPECT_THAT(listener.told, ElementsAre("103 Link=a", "103 Link=b"));
  EXPECT_EQ(asked(peer.address()).body, "final");
}

TEST_F(LinksTest, WhatALinkHasNoRoomForGoesOverHttp) {
  constexpr std::size_t streams = limits::link_streams;
  std::atomic<std::size_t> came{0};
  Gate all_asked;
  ScriptedPeer peer(member([&](Stage& stage) {
    std::string bytes;
    for (; came < streams; ++came) {
      const OwnedRequest request = read_request_frame(stage);
      bytes += answer_frame(request.stream, "link " + request.target);
    }
    stage.wait(all_asked);
    stage.send(bytes);
    serve_link(stage);
  }));
  open_link(peer.address());
  std::list<Outcome> outcomes;
  std::vector<std::future<void>> asking;
  for (std::size_t i = 0; i < streams; ++i) {
    asking.push_back(start_asking(peer.address(), outcomes.emplace_back()));
  }
  EXPECT_TRUE(eventually([&] { return came == streams; }));
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(asked(peer.address()).body, "plain");
  all_asked.open();
  for (std::future<void>& each : asking) each.get();
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.body, "link /");
  EXPECT_EQ(asked(peer.address(), {.target = "/after"}).body, "link /after");
}

}  // namespace
}  // namespace ringside::link
