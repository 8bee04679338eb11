#include <gtest/gtest.h>

#include "tests/cache/some_replica.h"

// What belongs to one client, and must not reach another by way of the store.
namespace ringside::cache {
namespace {

using support::answer;
using support::Reply;
using support::ScriptedPeer;
using support::Stage;

constexpr std::string_view from_sidecar = "Ringside-Topology: t\r\n";

bool may_be_repeated(const Reply& reply) { return !reply.field("ringside-near-ttl-ms").empty(); }

// A near cache would have given the one client's cookie, and what is private, to everybody.
TEST(ReplicaPrivacy, WhatA304SaysToOneClientIsNotForANearCache) {
  for (const std::string fields : {"Cache-Control: max-age=60\r\nSet-Cookie: sid=alice\r\n",
                                   "Cache-Control: private, max-age=60\r\nX-User: alice\r\n",
                                   "Cache-Control: no-store, max-age=60\r\nX-User: alice\r\n"}) {
    ScriptedPeer origin([&](Stage& stage) {
      stage.read_request();
      stage.send(answer("200 OK", "Cache-Control: max-age=1\r\nETag: \"1\"\r\n", "page"));
      while (true) {
        stage.read_request();
        stage.send("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n" + fields + "\r\n");
      }
    });
    SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
    EXPECT_EQ(replica.get("/", from_sidecar).body, "page");
    replica.settle();
    EXPECT_TRUE(may_be_repeated(replica.get("/", from_sidecar)));
    replica.clock().advance(Milliseconds{5'000});
    const Reply validated = replica.get("/", from_sidecar);
    EXPECT_EQ(validated.body, "page");
    EXPECT_FALSE(may_be_repeated(validated)) << fields;
  }
}

// RFC 9111 §3.5
TEST(ReplicaPrivacy, Rfc9111Section3_5WhatHeadOrA304SaysToAnAuthorizedClientIsNotForOthers) {
  for (const std::string method : {"HEAD", "GET"}) {
    ScriptedPeer origin([&](Stage& stage) {
      while (true) {
        const auto request = stage.read_request();
        const auto user = support::field(request, "authorization");
        const std::string fields = "Cache-Control: max-age=600\r\nETag: \"1\"\r\n" +
                                   (user.empty() ? "" : "X-User: " + std::string(user) + "\r\n");
        if (request.starts_with("HEAD")) {
          stage.send("HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 4\r\n\r\n");
        } else if (!support::field(request, "if-none-match").empty()) {
          stage.send("HTTP/1.1 304 Not Modified\r\n" + fields + "\r\n");
        } else {
          stage.send(answer("200 OK", fields, "page"));
        }
      }
    });
    SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
    EXPECT_EQ(replica.get("/").body, "page");
    replica.settle();
    auto alice = replica.client();
    alice.send(method +
               " / HTTP/1.1\r\nHost: a.test\r\nAuthorization: alice\r\n"
               "Cache-Control: no-cache\r\n\r\n");
    EXPECT_EQ(alice.read(method).field("x-user"), "alice");
    replica.settle();
    const Reply bob = replica.get("/");
    EXPECT_EQ(bob.field("cache-status"), "cache-7; hit; ttl=600");
    EXPECT_EQ(bob.field("x-user"), "") << method;
  }
}

// The request's fields were looked at after its body had been read over them.
TEST(ReplicaPrivacy, Rfc9110Section9_3_3WhatPostLeavesForGetIsForItsOwnVariant) {
  ScriptedPeer origin([&](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      const std::string language(support::field(request, "accept-language"));
      stage.send(answer("200 OK",
                        "Cache-Control: max-age=600\r\nContent-Location: /p\r\n"
                        "Vary: Accept-Language\r\n",
                        language.empty() ? "none" : language));
    }
  });
  for (const std::size_t size : {10U, 30'000U, 200'000U}) {
    SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
    const std::string body(size, 'x');
    const auto posted = replica.client().ask(
        "POST /p HTTP/1.1\r\nHost: a.test\r\nAccept-Language: de\r\nContent-Length: " +
        std::to_string(size) + "\r\n\r\n" + body);
    EXPECT_EQ(posted.body, "de");
    replica.settle();
    EXPECT_EQ(replica.get("/p", "Accept-Language: de\r\n").field("cache-status"),
              "cache-7; hit; ttl=600");
    EXPECT_EQ(replica.get("/p").body, "none") << size;
    EXPECT_EQ(replica.get("/p", "Accept-Language: fr\r\n").body, "fr") << size;
  }
}

// RFC 9110 §13.1.2: the origin has done what was asked.
TEST(ReplicaPrivacy, Rfc9110Section13_1_2PostIsNotAnsweredWith304) {
  ScriptedPeer origin(support::always(answer(
      "200 OK", "Cache-Control: max-age=600\r\nContent-Location: /p\r\nETag: \"1\"\r\n", "done")));
  SomeReplica replica(origin.address());
  const auto posted = replica.client().ask(
      "POST /p HTTP/1.1\r\nHost: a.test\r\nIf-None-Match: *\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(posted.status, 200);
  EXPECT_EQ(posted.body, "done");
}

// RFC 9111 §4.1: the origin has not seen the field, so its answer is not the one for it.
TEST(ReplicaPrivacy, AFieldThatConnectionNamesChoosesNoVariant) {
  ScriptedPeer origin([&](Stage& stage) {
    while (true) {
      const std::string language(support::field(stage.read_request(), "accept-language"));
      stage.send(answer("200 OK", "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n",
                        language.empty() ? "none" : language));
    }
  });
  SomeReplica replica(origin.address());
  const std::string_view named = "Accept-Language: de\r\nConnection: accept-language\r\n";
  EXPECT_EQ(replica.get("/", named).body, "none");
  replica.settle();
  EXPECT_EQ(replica.get("/", "Accept-Language: de\r\n").body, "de");
}

// Early Hints to a leader who has gone failed the fetch for all who had joined it.
TEST(ReplicaPrivacy, ALeaderThatCantBeToldOfAnInterimResponseFailsNobody) {
  support::Gate go;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.wait(go);
    stage.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
    stage.send("HTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n");
    stage.send(answer("200 OK", "Cache-Control: max-age=60\r\n", "page"));
    stage.stall();
  });
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  auto leader = std::make_unique<support::TestClient>(replica->address());
  leader->send(support::get_request("/"));
  ASSERT_TRUE(support::eventually([&] { return origin.requests() == 1; }));
  std::vector<support::TestClient> followers;
  for (unsigned index = 0; index < 5; ++index) {
    followers.push_back(replica.client());
    followers.back().send(support::get_request("/"));
  }
  // By the time of this answer the one core has seen their requests.
  EXPECT_EQ(replica.get("/never", "Cache-Control: only-if-cached\r\n").status, 504);
  leader->socket().reset();
  leader.reset();
  go.open();
  for (auto& follower : followers) {
    const Reply reply = follower.read();
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "page");
  }
  EXPECT_EQ(origin.requests(), 1U);
}

// One client's 400 or 429 took a page from everybody.
TEST(ReplicaPrivacy, WhatAnOriginAnswersToOneClientsFaultTakesNothingFromOthers) {
  for (const std::string status : {"400 Bad Request", "403 Forbidden", "429 Too Many Requests"}) {
    ScriptedPeer origin([&](Stage& stage) {
      while (true) {
        const auto request = stage.read_request();
        const bool is_bad = !support::field(request, "x-bad").empty();
        stage.send(is_bad
                       ? answer(status, "", "no")
                       : answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"1\"\r\n", "page"));
      }
    });
    SomeReplica replica(origin.address());
    EXPECT_EQ(replica.get("/").body, "page");
    replica.settle();
    EXPECT_EQ(replica.get("/", "Cache-Control: no-cache\r\nX-Bad: 1\r\n").body, "no");
    replica.settle();
    EXPECT_EQ(replica.get("/").field("cache-status"), "cache-7; hit; ttl=60") << status;
  }
}

}  // namespace
}  // namespace ringside::cache
