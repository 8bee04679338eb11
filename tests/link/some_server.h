#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <coroutine>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "hop/handler.h"
#include "hop/wire.h"
#include "http1/head_parser.h"
#include "link/frame.h"
#include "link/wire.h"
#include "tests/link/some_frames.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_peer.h"
#include "tests/support/test_client.h"

// A server that takes links, with handlers that do as the request's target says, and the raw other
// end of a link.
namespace ringside::link {

// What the handlers of one test share. From any thread, but for hold().
class Ledger {
 public:
  void asked(const std::string& target) {
    note([&] { ++asked_[target]; });
  }
  void sent(const std::string& target, const hop::Sent& sent) {
    note([&] { sent_[target].push_back(sent); });
  }
  [[nodiscard]] std::size_t times_asked(const std::string& target) {
    const std::lock_guard lock(mutex_);
    return asked_[target];
  }
  [[nodiscard]] std::vector<hop::Sent> all_sent(const std::string& target) {
    const std::lock_guard lock(mutex_);
    return sent_[target];
  }

  // Until release().
  [[nodiscard]] auto hold(std::string target) {
    struct Held {
      Ledger& ledger;
      std::string target;
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> held) const {
        ledger.note([&] { ledger.held_.emplace(target, held); });
      }
      void await_resume() const noexcept {}
    };
    return Held{*this, std::move(target)};
  }
  [[nodiscard]] std::size_t held() {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  // Those of that target go on; empty: all.
  void release(net::Core& core, const std::string& target = {}) {
    note([&] {
      for (auto row = held_.begin(); row != held_.end();) {
        if (target.empty() || row->first == target) {
          core.post([held = row->second] { held.resume(); });
          row = held_.erase(row);
        } else {
          ++row;
        }
      }
    });
  }

 private:
  template <class Change>
  void note(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
  }
  std::mutex mutex_;  // of all below
  std::map<std::string, std::size_t> asked_;
  std::map<std::string, std::vector<hop::Sent>> sent_;
  std::multimap<std::string, std::coroutine_handle<>> held_;
};

inline constexpr std::size_t medium_body_bytes = 60'000;
inline const std::string large_body(limits::link_body_size_bytes + 1, 'l');

// Gives all that it has with the first piece, and is not to be asked again.
class OnePiece final : public http::BodySource {
 public:
  explicit OnePiece(std::string bytes) : bytes_(std::move(bytes)), piece_(bytes_) {}
  [[nodiscard]] std::optional<Result<http::Pulled>> take() override {
    EXPECT_FALSE(std::exchange(given_, true)) << "asked again after the last piece";
    return http::Pulled{{&piece_, 1}, true};
  }
  [[nodiscard]] Task<Result<http::Pulled>> pull() override { co_return *take(); }

 private:
  const std::string bytes_;
  const std::string_view piece_;
  bool given_ = false;
};

// Gives what it has once it is released, or fails.
class HeldSource final : public http::BodySource {
 public:
  HeldSource(Ledger& ledger, std::string target, std::string bytes)
      : ledger_(ledger), target_(std::move(target)), bytes_(std::move(bytes)), piece_(bytes_) {}
  [[nodiscard]] std::optional<Result<http::Pulled>> take() override { return std::nullopt; }
  [[nodiscard]] Task<Result<http::Pulled>> pull() override {
    co_await ledger_.hold(target_);
    if (target_.ends_with("/broken")) {
      co_return Error{ErrorKind::disconnected, ErrorSource::origin, Retry::no, "broken"};
    }
    co_return http::Pulled{{&piece_, 1}, true};
  }

 private:
  Ledger& ledger_;
  const std::string target_;
  const std::string bytes_;
  const std::string_view piece_;
};

// Answers `of TARGET`; /held… when it is released; /large… with large_body; /source… with the
// content of a source, of unknown length at …/unknown, and with large_body at …/large…; /slow… with
// that of a source that is released, or broken at …/broken; /medium with one that takes room.
class TargetHandler final : public hop::Handler {
 public:
  TargetHandler(Ledger& ledger, bool trusts) : ledger_(ledger), trusts_(trusts) {}
  [[nodiscard]] bool trusts_caller() const noexcept override { return trusts_; }
  [[nodiscard]] std::unique_ptr<Handler> beside() override {
    return std::make_unique<TargetHandler>(ledger_, trusts_);
  }
  void begin(const IpAddress&) override {}
  [[nodiscard]] std::uint32_t requests_per_connection() const override {
    return limits::requests_per_connection;
  }
  [[nodiscard]] Task<void> answer(http::RequestHead& request, http::Caller&,
                                  http::Response& response) override {
    target_ = request.target;
    ledger_.asked(target_);
    if (target_.starts_with("/held")) co_await ledger_.hold(target_);
    const bool is_source = target_.starts_with("/source");
    const bool is_large = target_.find("/large") != std::string::npos;
    std::string body = is_large ? large_body : "of " + target_;
    if (target_ == "/medium") body.resize(medium_body_bytes, 'm');
    response.begin(200, "OK");
    response.length_is_known = !target_.ends_with("/unknown");
    if (response.length_is_known) {
      response.fields.add("Content-Length", std::to_string(body.size()));
    }
    if (target_.starts_with("/slow")) {
      response.body = http::Body(std::make_unique<HeldSource>(ledger_, target_, std::move(body)));
    } else if (is_source) {
      response.body = http::Body(std::make_unique<OnePiece>(std::move(body)));
    } else {
      response.body = http::Body(std::move(body));
    }
  }
  void refuse(const Error& error, http::Response& response) override {
    response.begin(503, error.message);
    response.fields.add("Content-Length", "0");
  }
  void sent(const hop::Sent& sent) override { ledger_.sent(target_, sent); }
  [[nodiscard]] hop::AccessNotes access_notes() const override { return {}; }

 private:
  Ledger& ledger_;
  const bool trusts_;
  std::string target_;
};

inline constexpr std::string_view switch_request =
    "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ringside-link/1\r\n\r\n";

// The end of a link that asks, as a plain socket that sends whatever it is told to.
class LinkClient {
 public:
  explicit LinkClient(const Endpoint& to) : socket_(support::RawSocket::connect(to)) {
    send(switch_request);
    std::size_t end = std::string::npos;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (socket_.receive(received_)) break;
    }
    EXPECT_EQ(received_.substr(0, 12), "HTTP/1.1 101");
    received_.erase(0, end == std::string::npos ? end : end + 4);
  }
  bool send(std::string_view bytes) { return socket_.send(bytes); }
  // nullopt: the link has ended.
  [[nodiscard]] std::optional<OwnedFrame> next() {
    while (true) {
      const auto taken = take_frame(received_, ErrorSource::peer);
      if (!taken) return std::nullopt;
      if (taken->frame) {
        OwnedFrame frame{taken->frame->type, taken->frame->stream,
                         std::string(taken->frame->payload)};
        received_.erase(0, taken->size_bytes);
        return frame;
      }
      if (const auto end = socket_.receive(received_)) return std::nullopt;
    }
  }
  [[nodiscard]] bool has_something() { return socket_.readable(std::chrono::milliseconds{1}); }
  // Sends a GET and reads the content of the answer, or what came instead.
  std::string get(const std::string& target, Stream stream = 500);
  // The link is closed, whatever comes before that.
  [[nodiscard]] bool ends() {
    std::optional<support::RawSocket::End> end;
    while (!end) end = socket_.receive(received_);
    return end == support::RawSocket::End::closed || end == support::RawSocket::End::reset;
  }
  [[nodiscard]] bool has_ended() {
    std::string bytes;
    const auto end = socket_.receive(bytes, 65'536, std::chrono::milliseconds{1});
    received_ += bytes;
    return end && *end != support::RawSocket::End::timeout;
  }

 private:
  support::RawSocket socket_;
  std::string received_;
};

inline std::string request_frame(Stream stream, const std::string& target,
                                 const std::string& method = "GET") {
  return frame_bytes(FrameType::request, stream,
                     RequestPayload{.method = method, .target = target, .host = "a.test"}.bytes());
}

// Of an answer to GET.
inline std::string content_of(const std::optional<OwnedFrame>& frame) {
  if (!frame) return "no frame";
  Answer answer;
  if (frame->type != FrameType::answer || !read_answer(frame->payload, false, answer)) {
    return "no answer";
  }
  return std::string(answer.content);
}

inline std::string LinkClient::get(const std::string& target, Stream stream) {
  send(request_frame(stream, target));
  const auto frame = next();
  return frame && frame->stream == stream ? content_of(frame) : "of another stream";
}

// Cores, and a server on them. Time stands still.
class LinkServer : public testing::Test {
 protected:
  explicit LinkServer(std::size_t cores = 1) : cores_("link", cores, clock_) {
    hop::ServerTerms terms;
    terms.make_handler = [this](net::Core&) {
      return std::make_unique<TargetHandler>(ledger_, trusts_);
    };
    server_ = wire().serve(cores_, std::move(terms));
    const auto listening = server_->listen({"127.0.0.1", 0});
    EXPECT_TRUE(listening) << listening.error().message;
    cores_.start();
  }
  ~LinkServer() override {
    ledger_.release(core());
    cores_.stop();
  }
  [[nodiscard]] net::Core& core() noexcept { return cores_[0]; }
  [[nodiscard]] Endpoint address() const { return server_->address(); }
  void advance(Milliseconds by) {
    clock_.advance(by);
    for (unsigned round = 0; round < 4; ++round) cores_.on_each([](net::Core&) {});
  }
  [[nodiscard]] support::Reply get(const std::string& target, std::string_view lines = {}) {
    return support::TestClient(address()).get(target, lines);
  }

  std::atomic<bool> trusts_{true};  // who connects from now on
  Ledger ledger_;
  support::FakeClock clock_;
  net::CoreGroup cores_;
  std::unique_ptr<hop::Server> server_;
};

}  // namespace ringside::link
