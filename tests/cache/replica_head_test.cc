#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_origin.h"

namespace ringside::cache {
namespace {

using support::Reply;
using support::ScriptedPeer;
using support::Stage;
using testing::StartsWith;

constexpr std::string_view modified = "Last-Modified: Sat, 05 Nov 1994 08:49:37 GMT\r\n";

std::string stored_answer() {
  return support::answer(
      "200 OK",
      "Cache-Control: max-age=60\r\nETag: \"1\"\r\nX-New: old\r\n" + std::string(modified),
      "hello");
}

Reply head(SomeReplica& replica, std::string_view lines = {}) {
  std::string request("HEAD / HTTP/1.1\r\nHost: a.test\r\n");
  return replica.client().ask(request.append(lines).append("\r\n"));
}

// The answers to GET in turn, and that head to every HEAD.
ScriptedPeer::Script answers_head_with(std::string to_head, std::string second_get) {
  const auto gets = std::make_shared<std::atomic<unsigned>>(0);
  return [=](Stage& stage) {
    while (true) {
      const bool is_head = stage.read_request().starts_with("HEAD");
      stage.send(is_head ? to_head : gets->fetch_add(1) == 0 ? stored_answer() : second_get);
    }
  };
}

struct HeadRow {
  std::string status;
  std::string lines;
  std::string then;  // how the Cache-Status of the next GET begins
};

TEST(ReplicaHead, Rfc9111Section4_3_5AnAnswerToHeadFreshensOrRemovesWhatIsStored) {
  const std::string fresh = "Cache-Control: max-age=90\r\n";
  const std::string hit = "cache-7; hit; ttl=80";
  const std::string gone = "cache-7; fwd=uri-miss";
  const std::string stale = "cache-7; fwd=stale; fwd-status=200";
  const std::vector<HeadRow> rows{
      {"200 OK", fresh + "ETag: \"1\"\r\n" + std::string(modified), hit},
      {"200 OK", fresh + "ETag: \"1\"\r\nContent-Length: 5\r\n", hit},
      {"200 OK", fresh, hit},
      {"200 OK", fresh + "ETag: \"2\"\r\n", gone},
      {"200 OK", fresh + "ETag: \"1\"\r\nContent-Length: 6\r\n", gone},
      {"200 OK", fresh + "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n", gone},
      {"404 Not Found", fresh, stale},
      {"503 Service Unavailable", "", stale},
      {"304 Not Modified", fresh + "ETag: \"1\"\r\n", stale},
      {"204 No Content", fresh + "ETag: \"2\"\r\n", stale},
      {"302 Found", fresh + "Location: /x\r\n", stale},
  };
  for (const HeadRow& row : rows) {
    ScriptedPeer origin(answers_head_with("HTTP/1.1 " + row.status + "\r\n" + row.lines + "\r\n",
                                          support::answer("200 OK", lives, "next")));
    SomeReplica replica(origin.address());
    EXPECT_EQ(replica.get("/").body, "hello");
    replica.settle();
    pass(replica, Seconds{61});
    const Reply asked = head(replica);
    EXPECT_EQ(asked.status, std::stoi(row.status));
    EXPECT_EQ(asked.field("cache-status"),
              "cache-7; fwd=stale; fwd-status=" + row.status.substr(0, 3));
    EXPECT_EQ(origin.requests(), 2U);
    EXPECT_EQ(replica.store().entries, row.then == gone ? 0U : 1U) << row.status << row.lines;
    pass(replica, Seconds{10});
    const Reply next = replica.get("/");
    EXPECT_THAT(next.field("cache-status"), StartsWith(row.then)) << row.status << row.lines;
    EXPECT_EQ(next.body, row.then == hit ? "hello" : "next");
  }
}

TEST(ReplicaHead, Rfc9111Section3_2ItsFieldsReplaceTheStoredOnes) {
  ScriptedPeer origin(answers_head_with(
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=90\r\nETag: \"1\"\r\nX-New: new\r\n"
      "Content-Length: 5\r\nContent-Encoding: br\r\nSet-Cookie: a=b\r\n\r\n",
      "HTTP/1.1 500 No\r\n\r\n"));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").field("x-new"), "old");
  replica.settle();
  pass(replica, Seconds{61});
  EXPECT_EQ(head(replica).field("set-cookie"), "a=b");
  const Reply hit = replica.get("/");
  EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=90");
  EXPECT_EQ(hit.field("x-new"), "new");
  EXPECT_EQ(hit.field("age"), "0");
  EXPECT_EQ(hit.field("content-length"), "5");
  EXPECT_EQ(hit.field("content-encoding"), "");
  EXPECT_EQ(hit.field("set-cookie"), "");
  EXPECT_EQ(hit.body, "hello");
}

// It was kept under the words that forbid it.
TEST(ReplicaHead, Rfc9111Section5_2_2WhatHeadSaysIsNotForTheStoreIsRemoved) {
  for (const auto* control : {"no-store", "private", "private, max-age=60"}) {
    ScriptedPeer origin(answers_head_with(
        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nCache-Control: " + std::string(control) + "\r\n\r\n",
        support::answer("200 OK", lives, "next")));
    SomeReplica replica(origin.address());
    EXPECT_EQ(replica.get("/").body, "hello");
    replica.settle();
    pass(replica, Seconds{61});
    EXPECT_EQ(head(replica).status, 200);
    EXPECT_EQ(replica.store().entries, 0U) << control;
  }
}

TEST(ReplicaHead, Rfc9111Section4AFreshOneAnswersHeadAndTheOriginIsNotAsked) {
  ScriptedPeer origin(answers_head_with("HTTP/1.1 200 OK\r\nETag: \"2\"\r\n\r\n", stored_answer()));
  SomeReplica replica(origin.address());
  EXPECT_EQ(head(replica).field("cache-status"), "cache-7; fwd=bypass; fwd-status=200");
  EXPECT_EQ(replica.store().entries, 0U);  // nothing of HEAD's is stored
  EXPECT_EQ(replica.get("/").body, "hello");
  replica.settle();
  const Reply stored = head(replica);
  EXPECT_EQ(stored.field("cache-status"), "cache-7; hit; ttl=60");
  EXPECT_EQ(stored.field("content-length"), "5");
  EXPECT_EQ(head(replica, "If-None-Match: \"1\"\r\n").status, 304);
  EXPECT_EQ(origin.requests(), 2U);
}

// RFC 9111 §4.3.5 speaks of the response that could have been chosen for the HEAD.
TEST(ReplicaHead, Rfc9111Section4_3_5OtherVariantsStayAsTheyAre) {
  ScriptedPeer origin([](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      const auto language = support::field(request, "accept-language");
      const std::string lines =
          "Cache-Control: max-age=60\r\nVary: Accept-Language\r\nETag: \"" + language + "\"\r\n";
      stage.send(request.starts_with("HEAD") ? "HTTP/1.1 200 OK\r\n" + lines + "\r\n"
                                             : support::answer("200 OK", lines, language));
    }
  });
  SomeReplica replica(origin.address());
  const std::string_view german = "Accept-Language: de\r\n";
  const std::string_view french = "Accept-Language: fr\r\n";
  EXPECT_EQ(replica.get("/", german).body, "de");
  replica.settle();
  EXPECT_EQ(replica.get("/", french).body, "fr");
  replica.settle();
  pass(replica, Seconds{61});
  EXPECT_EQ(head(replica, german).status, 200);
  EXPECT_EQ(replica.get("/", german).field("cache-status"), "cache-7; hit; ttl=60");
  EXPECT_THAT(replica.get("/", french).field("cache-status"), StartsWith("cache-7; fwd=stale"));
}

}  // namespace
}  // namespace ringside::cache
