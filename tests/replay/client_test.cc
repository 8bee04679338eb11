#include "replay/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "base/limits.h"
#include "http1/connection.h"
#include "http1/head_parser.h"
#include "http1/server.h"
#include "net/core.h"
#include "replay/sample_origin.h"
#include "tests/support/raw_socket.h"
#include "tests/support/system_clock.h"
namespace ringside::replay {
namespace {

using support::system_clock;

// Answers by target: `/close` after the head of the answer, `/odd…` in ways that the test wants.
class FakeTier {
 public:
  FakeTier()
      : cores_("fake-tier", 1, system_clock),
        server_(cores_, [this](http::Connection& connection) { return serve(connection); }) {
    const auto listening = server_.listen({"127.0.0.1", 0});
    EXPECT_TRUE(listening.has_value());
    cores_.start();
  }
  ~FakeTier() { cores_.stop(); }

  [[nodiscard]] Endpoint address() const { return server_.address(); }
  std::vector<std::string> heads() {
    const std::lock_guard lock(mutex_);
    return heads_;
  }
  std::atomic<int> connections{0};

 private:
  static std::string answer_to(std::string_view target) {
    const std::string hit = "Cache-Status: cache-1; hit; ttl=9\r\n";
    if (target == "/short") return "HTTP/1.1 200 OK\r\n" + hit + "Content-Length: 9\r\n\r\nhalf";
    if (target == "/close") return "";
    if (target == "/broken") {
      return "HTTP/1.1 502 Bad Gateway\r\nCache-Status: cache-0; fwd=uri-miss\r\n"
             "Proxy-Status: cache-0; error=connection_refused\r\nContent-Length: 0\r\n\r\n";
    }
    if (target == "/chunked") {
      return "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nCache-Status: cache-0; "
             "fwd=miss\r\n"
             "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    }
    if (target == "/last") {
      return "HTTP/1.1 200 OK\r\n" + hit + "Connection: close\r\nContent-Length: 2\r\n\r\nok";
    }
    return "HTTP/1.1 200 OK\r\n" + hit + "Content-Length: 2\r\n\r\nok";
  }

  Task<void> serve(http::Connection& connection) {
    ++connections;
    http::RequestHead head;
    const auto head_limits = http::HeadLimits::defaults();
    while (true) {
      connection.set_deadline(limits::client_idle_timeout);
      const auto read = co_await connection.read_request(head_limits, head);
      if (!read) co_return;
      note(head);
      const std::string answer = answer_to(head.target);
      const bool ends =
          head.target == "/short" || head.target == "/close" || head.target == "/last";
      const std::array<std::string_view, 1> buffers{answer};
      const auto written = co_await connection.write(buffers);
      if (!written || ends) co_return;
    }
  }

  void note(const http::RequestHead& head) {
    const std::lock_guard lock(mutex_);
    std::string text = std::string(head.method) + " " + std::string(head.target);
    for (const http::Field& field : head.fields) {
      text += "\n" + std::string(field.name) + ": " + std::string(field.value);
    }
    heads_.push_back(text);
  }

  net::CoreGroup cores_;
  std::mutex mutex_;
  std::vector<std::string> heads_;
  http::Server server_;
};

ClientSettings settings_for(const Endpoint& to, std::size_t concurrency = 1) {
  ClientSettings settings;
  settings.to = to;
  settings.concurrency = concurrency;
  settings.answer_timeout = Milliseconds{20'000};
  return settings;
}

std::vector<LogRequest> requests_for(const std::vector<std::string>& targets) {
  std::vector<LogRequest> requests;
  for (const std::string& target : targets) {
    requests.push_back({IpAddress::parse("192.0.2.7").value(), "GET", target, requests.size() + 1});
  }
  return requests;
}

Journal replay(const ClientSettings& settings, const std::vector<LogRequest>& requests) {
  Client client(settings, requests, system_clock);
  const auto started = client.start();
  EXPECT_TRUE(started.has_value()) << started.error().message;
  return client.finish();
}

TEST(Client, RecordsWhatEachAnswerSays) {
  FakeTier tier;
  const auto requests = requests_for({"/a", "/chunked", "/broken", "/last", "/b"});
  const Journal journal = replay(settings_for(tier.address()), requests);
  ASSERT_EQ(journal.replies.size(), 5U);
  EXPECT_EQ(journal.caches, (std::vector<std::string>{"cache-1", "cache-0"}));
  EXPECT_TRUE(journal.replies[0].is_hit());
  EXPECT_EQ(journal.replies[0].cache, 0);
  EXPECT_EQ(journal.replies[0].body_bytes, 2U);
  EXPECT_FALSE(journal.replies[1].is_hit());
  EXPECT_EQ(journal.replies[1].cache, 1);
  EXPECT_EQ(journal.replies[1].body_bytes, 5U);
  EXPECT_EQ(journal.replies[2].status, 502);
  EXPECT_TRUE(journal.replies[2].is_error());
  EXPECT_TRUE(journal.replies[4].is_hit());
  EXPECT_EQ(journal.errors, (std::map<std::string, std::uint64_t>{{"502 connection_refused", 1}}));
  // The probe's connection, and one after `Connection: close`.
  EXPECT_EQ(tier.connections, 2);
}

TEST(Client, AnAnswerCutShortIsNoAnswer) {
  FakeTier tier;
  const auto requests = requests_for({"/short", "/close", "/a"});
  const Journal journal = replay(settings_for(tier.address()), requests);
  EXPECT_EQ(journal.replies[0].failure, ErrorKind::disconnected);
  EXPECT_EQ(journal.replies[1].failure, ErrorKind::disconnected);
  EXPECT_EQ(journal.replies[2].failure, std::nullopt);
  std::uint64_t failures = 0;
  for (const auto& [message, count] : journal.errors) failures += count;
  EXPECT_EQ(failures, 2U);
}

TEST(Client, SpeaksForTheClientOfTheLog) {
  FakeTier tier;
  std::vector<LogRequest> requests = requests_for({"/a", "/b"});
  requests[1].client = IpAddress::parse("2001:db8::7").value();
  requests[1].method = "POST";
  ClientSettings settings = settings_for(tier.address());
  settings.host = "www.example.com";
  (void)replay(settings, requests);
  settings.client_field = ClientField::forwarded;
  (void)replay(settings, requests);
  const auto heads = tier.heads();
  ASSERT_EQ(heads.size(), 4U);
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(heads[0], "GET /a\nHost: www.example.com\n")) << heads[0];
  EXPECT_TRUE(has(heads[0], "X-Forwarded-For: 192.0.2.7")) << heads[0];
  EXPECT_TRUE(has(heads[1], "X-Forwarded-For: 2001:db8::7")) << heads[1];
  EXPECT_TRUE(has(heads[1], "Content-Length: 0")) << heads[1];
  EXPECT_TRUE(has(heads[2], "Forwarded: for=192.0.2.7")) << heads[2];
  EXPECT_FALSE(has(heads[2], "X-Forwarded-For")) << heads[2];
  EXPECT_TRUE(has(heads[3], "Forwarded: for=\"[2001:db8::7]\"")) << heads[3];
}

TEST(Client, SendsInOrderWhenOneAtATimeAndAllOfThemWhenMany) {
  FakeTier tier;
  std::vector<std::string> targets;
  for (int i = 0; i < 300; ++i) targets.push_back("/" + std::to_string(i));
  const auto requests = requests_for(targets);
  (void)replay(settings_for(tier.address()), requests);
  const auto heads = tier.heads();
  ASSERT_EQ(heads.size(), 300U);
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(heads[i].substr(0, heads[i].find('\n')), "GET " + targets[i]);
  }
  const Journal journal = replay(settings_for(tier.address(), 16), requests);
  for (const Reply& reply : journal.replies) EXPECT_TRUE(reply.is_hit());
  EXPECT_EQ(tier.heads().size(), 600U);
}

TEST(Client, TellsHowFarItIs) {
  FakeTier tier;
  const auto requests = requests_for({"/a", "/chunked", "/broken", "/short"});
  Client client(settings_for(tier.address()), requests, system_clock);
  ASSERT_TRUE(client.start().has_value());
  EXPECT_TRUE(client.wait_until_sent(2, Milliseconds{20'000}));
  EXPECT_GE(client.progress().sent, 2U);
  EXPECT_TRUE(client.wait_until_done(Milliseconds{20'000}));
  EXPECT_TRUE(client.wait_until_sent(1'000, Milliseconds{20'000}));  // there is nothing to wait for
  const Client::Progress progress = client.progress();
  EXPECT_EQ(progress.sent, 4U);
  EXPECT_EQ(progress.answered, 4U);
  EXPECT_EQ(progress.gets, 2U);
  EXPECT_EQ(progress.get_hits, 1U);
  EXPECT_EQ(progress.errors, 2U);
}

TEST(Client, ARateIsKeptByWaitingNotByHurrying) {
  FakeTier tier;
  const auto requests = requests_for({"/a", "/b", "/c"});
  ClientSettings settings = settings_for(tier.address(), 16);
  settings.rate_per_second = 50;
  const SteadyPoint began = system_clock.steady_now();
  (void)replay(settings, requests);
  // The third is due after 2/50 s; never earlier, however slow the machine.
  EXPECT_GE(system_clock.steady_now() - began, Milliseconds{40});
}

TEST(Client, WhereNobodyListensIsToldBeforeAnythingElse) {
  const Endpoint gone = support::refusing_address();
  const auto requests = requests_for({"/a"});
  Client client(settings_for(gone), requests, system_clock);
  const auto started = client.start();
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().kind, ErrorKind::refused);
  EXPECT_NE(started.error().message.find(gone.text()), std::string::npos)
      << started.error().message;
}

TEST(Client, CanBeGivenUpInTheMiddle) {
  FakeTier tier;
  const auto requests = requests_for(std::vector<std::string>(100, "/a"));
  ClientSettings settings = settings_for(tier.address(), 4);
  settings.rate_per_second = 1;  // the test would take 100 s if the end did not break off the waits
  Client client(settings, requests, system_clock);
  ASSERT_TRUE(client.start().has_value());
  EXPECT_TRUE(client.wait_until_sent(1, Milliseconds{20'000}));
}

TEST(Client, AnOriginWithoutCacheStatusIsReplayedToo) {
  const auto origin = SampleOrigin::start({"127.0.0.1", 0}, system_clock);
  ASSERT_TRUE(origin.has_value()) << origin.error().message;
  const auto requests = requests_for({"/a", "/b", "/a"});
  const Journal journal = replay(settings_for((*origin)->address(), 2), requests);
  for (const Reply& reply : journal.replies) {
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.outcome, std::nullopt);
    EXPECT_FALSE(reply.is_error());
    EXPECT_GE(reply.body_bytes, limits::kKiB);
  }
  EXPECT_EQ(journal.replies[0].body_bytes, journal.replies[2].body_bytes);
  EXPECT_EQ((*origin)->requests(), 3U);
}

}  // namespace
}  // namespace ringside::replay
