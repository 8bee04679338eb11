#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_origin.h"

namespace ringside::cache {
namespace {

using metrics::Outcome;
using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::Reply;
using support::ScriptedPeer;
using support::TestClient;
using testing::StartsWith;

std::string stored_answer(std::string_view cache_control) {
  return answer("200 OK", "ETag: \"1\"\r\nCache-Control: " + std::string(cache_control) + "\r\n",
                "stored");
}

std::string failing(std::string_view status) { return answer(status, "", "failed"); }

void expect_stale(const Reply& reply, Seconds staleness, std::string_view where = {}) {
  EXPECT_EQ(reply.status, 200) << where;
  EXPECT_EQ(reply.body, "stored") << where;
  EXPECT_EQ(reply.field("age"), std::to_string(60 + staleness.count())) << where;
  EXPECT_EQ(reply.field("ringside-outcome"), "stale") << where;
  EXPECT_THAT(reply.field("cache-status"), StartsWith("cache-7; fwd=")) << where;
  EXPECT_THAT(reply.field("cache-status"),
              testing::HasSubstr("; ttl=-" + std::to_string(staleness.count())))
      << where;
}

constexpr std::string_view from_sidecar = "Ringside-Topology: t\r\n";

TEST(ReplicaStale, Rfc9111Section4_2_4WhatIsStaleIsGivenWhereNoOriginAnswers) {
  const std::vector<std::string> failures{
      std::string(closes), "HTTP/1.1 200 OK\r\nContent-Le", "rubbish\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"};
  for (const std::string& failure : failures) {
    ScriptedPeer origin(answers_in_turn({stored_answer("max-age=60"), failure}));
    SomeReplica replica(origin.address());
    EXPECT_EQ(replica.get("/").body, "stored");
    replica.settle();
    pass(replica, Seconds{70});
    const Reply reply = replica.get("/", from_sidecar);
    expect_stale(reply, Seconds{10}, failure);
    EXPECT_EQ(reply.field("cache-status"), "cache-7; fwd=stale; ttl=-10; detail=origin-failed");
    EXPECT_EQ(reply.field("proxy-status"), "");
    EXPECT_TRUE(replica.counts(Outcome::stale, 1));
    EXPECT_EQ(replica.store().entries, 1U);
  }
}

TEST(ReplicaStale, Rfc9111Section4_2_4AnOriginThatRefusesAndACircuitThatIsOpen) {
  ScriptedPeer origin(answers_in_turn({stored_answer("max-age=60")}));
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  EXPECT_EQ(replica.get("/").body, "stored");
  replica.settle();
  pass(replica, Seconds{70});
  auto settings = replica.settings();
  settings.routes.front().origins = {net::Origin{support::refusing_address(), 1}};
  replica.apply(settings);
  for (unsigned count = 0; count <= limits::breaker_failures; ++count) {
    expect_stale(replica.get("/", from_sidecar), Seconds{10}, std::to_string(count));
  }
  EXPECT_GE(replica->sheet().totals().origins->refused_circuit_open, 1U);
}

TEST(ReplicaStale, Rfc9111Section4_2_4AnOriginThatDoesNotAnswerInTime) {
  Gate never;
  ScriptedPeer origin(answers_then(stored_answer("max-age=60"), std::string(closes), never));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "stored");
  replica.settle();
  pass(replica, Seconds{70});
  auto client = replica.client();
  client.send(get_request("/", from_sidecar));
  ASSERT_TRUE(eventually([&] { return origin.requests() == 2; }));
  replica.clock().advance(limits::first_byte_timeout);
  const Reply reply = client.read();
  EXPECT_EQ(reply.body, "stored");
  EXPECT_EQ(reply.field("age"), "100");
  EXPECT_EQ(reply.field("ringside-outcome"), "stale");
}

struct ForbiddenRow {
  std::string cache_control;
  std::string request;
};

TEST(ReplicaStale, Rfc9111Section4_2_4WhatForbidsStaleOnesIsHeeded) {
  const std::vector<ForbiddenRow> rows{
      {"max-age=60, must-revalidate", ""},
      {"max-age=60, proxy-revalidate", ""},
      {"s-maxage=60", ""},
      {"max-age=60, no-cache", ""},
      {"max-age=60, must-revalidate, stale-if-error=1000", ""},
      {"max-age=60", "Cache-Control: no-cache\r\n"},
      {"max-age=60", "Cache-Control: max-age=65\r\n"},
      {"max-age=60", "Cache-Control: min-fresh=1\r\n"},
      {"max-age=60", "Cache-Control: max-stale=9\r\n"},
  };
  for (const ForbiddenRow& row : rows) {
    ScriptedPeer origin(answers_in_turn({stored_answer(row.cache_control), std::string(closes)}));
    SomeReplica replica(origin.address());
    EXPECT_EQ(replica.get("/").body, "stored");
    replica.settle();
    pass(replica, Seconds{70});
    const Reply reply = replica.get("/", row.request);
    EXPECT_EQ(reply.status, 502) << row.cache_control << row.request;
    EXPECT_EQ(replica.store().entries, 1U) << row.cache_control << row.request;
    EXPECT_EQ(replica.get("/", "Cache-Control: only-if-cached\r\n").status, 504);
  }
}

// What lies there longer than that is not worth giving.
TEST(ReplicaStale, Rfc9111Section4_2_4NotForEver) {
  ScriptedPeer origin(answers_in_turn({stored_answer("max-age=60"), std::string(closes)}));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "stored");
  replica.settle();
  pass(replica, Seconds{60} + limits::stale_unreachable_most - Seconds{1});
  expect_stale(replica.get("/", from_sidecar), limits::stale_unreachable_most - Seconds{1});
  pass(replica, Seconds{1});
  EXPECT_EQ(replica.get("/", from_sidecar).status, 502);
}

// RFC 5861 §4: its window is the one that counts, shorter or longer.
TEST(ReplicaStale, Rfc5861Section4ItsWindowCountsWhereNoOriginAnswers) {
  for (const Seconds window : {Seconds{100}, 2 * limits::stale_unreachable_most}) {
    const auto lines = "max-age=60, stale-if-error=" + std::to_string(window.count());
    ScriptedPeer origin(answers_in_turn({stored_answer(lines), std::string(closes)}));
    SomeReplica replica(origin.address());
    EXPECT_EQ(replica.get("/").body, "stored");
    replica.settle();
    pass(replica, Seconds{60} + window - Seconds{1});
    expect_stale(replica.get("/", from_sidecar), window - Seconds{1});
    pass(replica, Seconds{1});
    EXPECT_EQ(replica.get("/").status, 502);
  }
}

struct StatusRow {
  std::string status;
  std::string cache_control;
  std::string request;
  std::optional<Seconds> rule;
  bool stale;
};

TEST(ReplicaStale, Rfc5861Section4ErrorsAreHiddenOnlyWhereThatIsSaid) {
  const std::string said = "max-age=60, stale-if-error=100";
  const std::string asked = "Cache-Control: stale-if-error=100\r\n";
  const std::vector<StatusRow> rows{
      {"500 Internal Server Error", said, "", {}, true},
      {"502 Bad Gateway", said, "", {}, true},
      {"503 Service Unavailable", said, "", {}, true},
      {"504 Gateway Timeout", said, "", {}, true},
      {"501 Not Implemented", said, "", {}, false},
      {"505 HTTP Version Not Supported", said, "", {}, false},
      {"429 Too Many Requests", said, "", {}, false},
      {"500 Internal Server Error", "max-age=60", "", {}, false},
      {"500 Internal Server Error", "max-age=60", asked, {}, true},
      {"500 Internal Server Error", "max-age=60", "", Seconds{100}, true},
      {"500 Internal Server Error", "max-age=60, stale-if-error=5", "", Seconds{100}, false},
      {"500 Internal Server Error", said + ", must-revalidate", asked, {}, false},
      {"500 Internal Server Error", said, "Cache-Control: no-cache\r\n", {}, false},
  };
  for (const StatusRow& row : rows) {
    ScriptedPeer origin(answers_in_turn({stored_answer(row.cache_control), failing(row.status)}));
    SomeReplica replica(origin.address());
    Rules rules;
    rules.stale_if_error = row.rule;
    set_rules(replica, rules);
    EXPECT_EQ(replica.get("/").body, "stored");
    replica.settle();
    pass(replica, Seconds{70});
    const Reply reply = replica.get("/", row.request + std::string(from_sidecar));
    const auto where = row.status + row.cache_control + row.request;
    if (row.stale) {
      expect_stale(reply, Seconds{10}, where);
      EXPECT_EQ(reply.field("cache-status"),
                "cache-7; fwd=stale; fwd-status=" + row.status.substr(0, 3) +
                    "; ttl=-10; detail=origin-failed");
      EXPECT_EQ(replica.store().entries, 1U);
    } else {
      EXPECT_EQ(reply.status, std::stoi(row.status)) << where;
      EXPECT_EQ(reply.body, "failed") << where;
    }
  }
}

// What the origin failed for was still there for the next.
TEST(ReplicaStale, Rfc5861Section4WhatRecoversIsValidatedAsBefore) {
  ScriptedPeer origin(
      answers_in_turn({stored_answer("max-age=60, stale-if-error=100"),
                       failing("503 Service Unavailable"), std::string(not_modified)}));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "stored");
  replica.settle();
  pass(replica, Seconds{70});
  expect_stale(replica.get("/", from_sidecar), Seconds{10});
  const Reply reply = replica.get("/", from_sidecar);
  EXPECT_EQ(reply.field("cache-status"), "cache-7; fwd=stale; fwd-status=304; stored; ttl=60");
  EXPECT_EQ(support::field(origin.heads().at(2), "if-none-match"), "\"1\"");
}

// Sends its requests, and holds the origin's answer until all wait for one fetch.
struct Waiting {
  Gate go;
  ScriptedPeer origin;
  SomeReplica replica;
  std::vector<TestClient> clients;

  Waiting(std::string_view cache_control, std::string second)
      : origin(answers_then(stored_answer(cache_control), std::move(second), go)),
        replica(origin.address(), 16 * limits::kMiB, 1) {
    EXPECT_EQ(replica.get("/").body, "stored");
    replica.settle();
    pass(replica, Seconds{70});
  }
  // The first of them leads.
  void send(std::string_view request, std::string_view followers) {
    for (unsigned index = 0; index < 10; ++index) {
      clients.push_back(replica.client());
      clients.back().send(index == 0 ? request : followers);
      EXPECT_TRUE(eventually([&] { return origin.requests() == 2; }));
    }
    let_core_catch_up(replica);
    go.open();
  }
};

TEST(ReplicaStale, Rfc5861Section4WhoWaitsForTheSameFetchGetsTheStaleOneToo) {
  for (const std::string& failure : {std::string(closes), failing("503 Service Unavailable")}) {
    Waiting waiting("max-age=60, stale-if-error=100", failure);
    waiting.send(get_request("/", from_sidecar), get_request("/", from_sidecar));
    for (TestClient& client : waiting.clients) expect_stale(client.read(), Seconds{10}, failure);
    // A connection that ends without an answer is tried once more, since it was a used one.
    EXPECT_LE(waiting.origin.requests(), failure == closes ? 3U : 2U);
  }
}

// Each request has its own word on what it takes, whoever led.
TEST(ReplicaStale, Rfc9111Section5_2_1_4AFollowerThatWantsNoStaleOneGetsNone) {
  for (const std::string& failure : {std::string(closes), failing("503 Service Unavailable")}) {
    Waiting waiting("max-age=60, stale-if-error=100", failure);
    waiting.send(get_request("/", from_sidecar), get_request("/", "Cache-Control: no-cache\r\n"));
    expect_stale(waiting.clients.front().read(), Seconds{10}, failure);
    for (std::size_t index = 1; index < waiting.clients.size(); ++index) {
      EXPECT_EQ(waiting.clients[index].read().status, failure == closes ? 502 : 503);
    }
  }
}

// The leader's stale-if-error is not the followers'.
TEST(ReplicaStale, Rfc5861Section4AFollowerThatDidNotAskForItIsToldOfTheError) {
  Waiting waiting("max-age=60", failing("503 Service Unavailable"));
  waiting.send(get_request("/", "Cache-Control: stale-if-error=100\r\nRingside-Topology: t\r\n"),
               get_request("/"));
  expect_stale(waiting.clients.front().read(), Seconds{10});
  for (std::size_t index = 1; index < waiting.clients.size(); ++index) {
    EXPECT_EQ(waiting.clients[index].read().status, 503);
  }
}

// One browser's reload made an error of what all others could have had.
TEST(ReplicaStale, Rfc9111Section4_2_4ALeaderThatWantsNoStaleOneSpoilsNobodysAnswer) {
  for (const std::string& failure : {std::string(closes), failing("503 Service Unavailable")}) {
    Waiting waiting("max-age=60, stale-if-error=100", failure);
    waiting.send(get_request("/", "Cache-Control: no-cache\r\n"), get_request("/", from_sidecar));
    EXPECT_EQ(waiting.clients.front().read().status, failure == closes ? 502 : 503);
    for (std::size_t index = 1; index < waiting.clients.size(); ++index) {
      expect_stale(waiting.clients[index].read(), Seconds{10}, failure);
    }
  }
}

// Requests that are passed on as they are, since their answers can't be shared, had an error.
TEST(ReplicaStale, Rfc9111Section4_2_4WhatIsPassedOnIsAnsweredFromTheStoreToo) {
  for (const std::string& failure : {std::string(closes), failing("503 Service Unavailable")}) {
    ScriptedPeer origin(
        answers_in_turn({stored_answer("max-age=60, stale-if-error=100"), failure}));
    SomeReplica replica(origin.address());
    EXPECT_EQ(replica.get("/").body, "stored");
    replica.settle();
    pass(replica, Seconds{70});
    const Reply head =
        replica.client().ask("HEAD / HTTP/1.1\r\nHost: a.test\r\nRingside-Topology: t\r\n\r\n");
    EXPECT_EQ(head.status, 200) << failure;
    EXPECT_EQ(head.field("ringside-outcome"), "stale");
    EXPECT_EQ(head.field("content-length"), "6");
    expect_stale(
        replica.get("/", "Range: bytes=0-1\r\nIf-Range: \"2\"\r\nRingside-Topology: t\r\n"),
        Seconds{10}, failure);
    EXPECT_EQ(replica.get("/", "If-Match: \"1\"\r\n").status, failure == closes ? 502 : 503);
  }
}

}  // namespace
}  // namespace ringside::cache
