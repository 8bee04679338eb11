#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_origin.h"

namespace ringside::cache {
namespace {

using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::ScriptedPeer;
using support::Stage;
using support::TestClient;

// An origin that holds each answer until the test lets the first ones, and then all, go.
class Holding {
 public:
  explicit Holding(std::string answer_text)
      : answer_(std::move(answer_text)), origin_([this](Stage& stage) { play(stage); }) {}

  [[nodiscard]] const Endpoint& address() const noexcept { return origin_.address(); }
  [[nodiscard]] std::size_t requests() const noexcept { return origin_.requests(); }
  // That the origin has them in hand at once, so that none waits for another's answer.
  [[nodiscard]] bool has(std::size_t requests) const {
    return eventually([&] { return origin_.requests() >= requests; }) &&
           origin_.requests() == requests;
  }
  void answer_first() { first_.open(); }
  void answer_all() { all_.open(); }

 private:
  void play(Stage& stage) {
    while (true) {
      stage.read_request();
      stage.wait(next_.fetch_add(1) == 0 ? first_ : all_);
      stage.send(answer_);
    }
  }

  Gate first_;
  Gate all_;
  std::atomic<std::size_t> next_{0};
  const std::string answer_;
  ScriptedPeer origin_;
};

std::vector<TestClient> send(SomeReplica& replica, std::size_t count, std::string_view lines = {}) {
  std::vector<TestClient> clients;
  for (std::size_t index = 0; index < count; ++index) {
    clients.push_back(replica.client());
    clients.back().send(get_request("/", lines));
  }
  let_core_catch_up(replica);
  return clients;
}

void expect_bodies(std::vector<TestClient>& clients) {
  for (TestClient& client : clients) EXPECT_EQ(client.read().body, "hello");
}

constexpr std::string_view own = "Cache-Control: private\r\n";

TEST(ReplicaUncacheable, Rfc9111Section4TheFirstAnswerReleasesAllWhoWaitAtOnce) {
  Holding origin(answer("200 OK", own, "hello"));
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  auto clients = send(replica, 10);
  EXPECT_TRUE(origin.has(1));
  origin.answer_first();
  EXPECT_TRUE(origin.has(10));
  origin.answer_all();
  expect_bodies(clients);
  EXPECT_EQ(replica.store().flights, 0U);
}

TEST(ReplicaUncacheable, Rfc9111Section4LaterOnesDoNotWaitForEachOtherUntilItsTimeIsOver) {
  Holding origin(answer("200 OK", own, "hello"));
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  origin.answer_first();
  EXPECT_EQ(replica.get("/").body, "hello");
  replica.clock().advance(limits::uncacheable_ttl - Milliseconds{1});
  auto clients = send(replica, 10);
  EXPECT_TRUE(origin.has(11));
  origin.answer_all();
  expect_bodies(clients);
}

TEST(ReplicaUncacheable, Rfc9111Section4AfterItsTimeTheyWaitAgain) {
  Holding origin(answer("200 OK", own, "hello"));
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  origin.answer_first();
  EXPECT_EQ(replica.get("/").body, "hello");
  replica.clock().advance(limits::uncacheable_ttl);
  auto clients = send(replica, 10);
  EXPECT_TRUE(origin.has(2));
  EXPECT_EQ(replica.store().flights, 1U);
  origin.answer_all();
  expect_bodies(clients);
  EXPECT_EQ(origin.requests(), 11U);
}

struct NotRememberedRow {
  std::string status;
  std::string lines;
  std::string request;
};

// What speaks of who asked, or of an origin in trouble, says nothing of the next answer.
TEST(ReplicaUncacheable, Rfc9111Section3_5ErrorsAndAuthorizationDoNotCount) {
  const std::vector<NotRememberedRow> rows{
      {"500 Internal Server Error", "", ""},
      {"503 Service Unavailable", "Cache-Control: no-store\r\n", ""},
      {"200 OK", std::string(lives), "Authorization: Basic eA==\r\n"},
  };
  for (const NotRememberedRow& row : rows) {
    Holding origin(answer(row.status, row.lines, "hello"));
    SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
    origin.answer_first();
    EXPECT_EQ(replica.get("/", row.request).body, "hello");
    auto clients = send(replica, 10);
    EXPECT_TRUE(origin.has(2)) << row.status;
    EXPECT_EQ(replica.store().flights, 1U) << row.status;
    origin.answer_all();
    expect_bodies(clients);
  }
}

// 1. an answer that can't be stored; 2. one that can; it expires; 3. requests wait for each other.
TEST(ReplicaUncacheable, Rfc9111Section4AnAnswerThatCanBeStoredEndsIt) {
  Gate go;
  std::atomic<unsigned> count{0};
  ScriptedPeer origin([&](Stage& stage) {
    while (true) {
      stage.read_request();
      const unsigned number = count.fetch_add(1);
      if (number >= 2) stage.wait(go);
      stage.send(answer("200 OK", number == 0 ? own : "Cache-Control: max-age=5\r\n", "hello"));
    }
  });
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  EXPECT_EQ(replica.get("/").body, "hello");
  EXPECT_EQ(replica.get("/").field("cache-status"),
            "cache-7; fwd=uri-miss; fwd-status=200; stored");
  replica.settle();
  pass(replica, Seconds{6});
  auto clients = send(replica, 10);
  EXPECT_EQ(replica.store().flights, 1U);
  EXPECT_TRUE(eventually([&] { return origin.requests() == 3; }));
  go.open();
  expect_bodies(clients);
  EXPECT_EQ(origin.requests(), 3U);
}

// Each asks for itself, and what can be stored of it is stored.
TEST(ReplicaUncacheable, Rfc9111Section3OneOfThemThatCanBeStoredIsStored) {
  Gate go;
  std::atomic<unsigned> count{0};
  ScriptedPeer origin([&](Stage& stage) {
    while (true) {
      stage.read_request();
      const unsigned number = count.fetch_add(1);
      if (number > 0) stage.wait(go);
      stage.send(answer("200 OK", number == 0 ? own : lives, "hello"));
    }
  });
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  EXPECT_EQ(replica.get("/").body, "hello");
  auto clients = send(replica, 3);
  EXPECT_TRUE(eventually([&] { return origin.requests() == 4; }));
  go.open();
  expect_bodies(clients);
  replica.settle();
  EXPECT_EQ(replica.store().entries, 1U);
  EXPECT_EQ(replica.get("/").field("cache-status"), "cache-7; hit; ttl=60");
}

TEST(ReplicaUncacheable, Rfc9111Section2OtherKeysAreNotMeant) {
  Holding origin(answer("200 OK", own, "hello"));
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  origin.answer_first();
  EXPECT_EQ(replica.get("/").body, "hello");
  auto clients = send(replica, 5, "Ringside-Topology: t\r\nRingside-Extra-Key: DE\r\n");
  EXPECT_TRUE(origin.has(2));
  EXPECT_EQ(replica.store().flights, 1U);
  origin.answer_all();
  expect_bodies(clients);
}

}  // namespace
}  // namespace ringside::cache
