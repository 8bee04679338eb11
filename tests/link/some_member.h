#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "link/links.h"
#include "tests/http1/some_connection.h"
#include "tests/http1/some_exchange.h"
#include "tests/link/some_frames.h"
#include "tests/support/scripted_peer.h"

// A member as a script that takes links, and a core that asks it.
namespace ringside::link {

inline constexpr std::string_view switched =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ringside-link/1\r\n\r\n";

inline OwnedFrame read_frame(support::Stage& stage) {
  const std::string head = stage.read(frame_head_size_bytes);
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(head[at]); };
  OwnedFrame frame;
  frame.type = static_cast<FrameType>(byte(4));
  frame.stream = static_cast<Stream>(byte(6) + 256 * byte(7));
  frame.payload = stage.read(byte(0) + std::size_t{256} * byte(1));
  EXPECT_EQ(byte(2) + byte(3), 0);  // whoever asks says no more than that
  return frame;
}

// A request, and where it goes to.
struct OwnedRequest {
  Stream stream = 0;
  std::string target;
};
inline OwnedRequest read_request_frame(support::Stage& stage) {
  const OwnedFrame frame = read_frame(stage);
  http::RequestHead head;
  EXPECT_EQ(frame.type, FrameType::request);
  EXPECT_TRUE(read_request(frame.payload, head));
  return {frame.stream, std::string(head.target)};
}

inline std::string answer_frame(Stream stream, std::string content) {
  const std::string length = "Content-Length: " + std::to_string(content.size()) + "\r\n";
  return frame_bytes(FrameType::answer, stream,
                     ResponsePayload{.rest = length, .content = std::move(content)}.bytes());
}

// Answers each request on a link.
inline void serve_link(support::Stage& stage) {
  while (true) {
    const OwnedRequest request = read_request_frame(stage);
    stage.send(answer_frame(request.stream, "link " + request.target));
  }
}

// Answers `plain` over HTTP/1.1 and tells of the link. On a connection that was switched to one the
// script goes on; at its end the link stays open.
inline support::ScriptedPeer::Script member(support::ScriptedPeer::Script on_link,
                                            std::string_view on_switch = switched) {
  return [on_link = std::move(on_link), on_switch](support::Stage& stage) {
    while (!stage.read_request().starts_with("OPTIONS *")) {
      stage.send(support::answer("200 OK", "Ringside-Link: 1\r\n", "plain"));
    }
    stage.send(on_switch);
    on_link(stage);
    stage.stall();
  };
}

// What asking came to.
struct Outcome {
  int status = 0;
  std::string body;
  std::optional<Error> error;
};

struct Question {
  std::string_view target = "/";
  std::string_view method = "GET";
  http::Caller* interim_to = nullptr;
  Milliseconds first_byte_timeout{60'000};
  net::RetryBudget* repeats = nullptr;
};

// One core with its links. Time stands still.
class AskingCore : public http::OneCore {
 protected:
  AskingCore() {
    support::run_on(core(), [this]() -> Task<void> {
      links_ = std::make_unique<Links>(core(), [](auto) {});
      co_return;
    });
  }
  ~AskingCore() override { cores_.stop(); }  // links in the background end with it

  [[nodiscard]] std::future<void> start_asking(const Endpoint& peer, Outcome& outcome,
                                               Question question = {}) {
    return support::start_on(core(), [this, peer, &outcome, question]() -> Task<void> {
      const http::Target target{std::string(question.target), {}, false};
      hop::UpstreamRequest request = some_request(question.method, target, "a", "A: b\r\n");
      request.interim_to = question.interim_to;
      request.repeats = question.repeats;
      const SteadyPoint deadline = core().steady_now() + Milliseconds{600'000};
      const hop::UpstreamLimits limits{Milliseconds{1'000}, question.first_byte_timeout, deadline};
      const auto exchange = links_->exchange();
      const auto answered = co_await exchange->ask(peer, request, limits);
      if (!answered) {
        outcome.error = answered.error();
        co_return;
      }
      outcome.status = exchange->head().status;
      if (question.method == "HEAD") co_return;
      const auto body = co_await http::whole_body(*exchange);
      if (body) {
        outcome.body = *body;
      } else {
        outcome.error = body.error();
      }
    });
  }
  [[nodiscard]] Outcome asked(const Endpoint& peer, Question question = {}) {
    Outcome outcome;
    start_asking(peer, outcome, question).get();
    return outcome;
  }

  [[nodiscard]] bool has_link(const Endpoint& peer) {
    bool has = false;
    cores_.on_each([&](net::Core&) { has = links_->find(peer, {}) != nullptr; });
    return has;
  }
  // Asks over HTTP/1.1, and waits for the link that the answer has told of.
  void open_link(const Endpoint& peer) {
    EXPECT_EQ(asked(peer, {.target = "/first"}).body, "plain");
    EXPECT_TRUE(support::eventually([&] { return has_link(peer); }));
  }

  std::unique_ptr<Links> links_;
};

}  // namespace ringside::link
