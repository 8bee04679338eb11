#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_origin.h"

namespace ringside::cache {
namespace {

using support::always;
using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::Reply;
using support::ScriptedPeer;
using support::Stage;
using testing::HasSubstr;
using testing::Not;

Condition condition(Condition::In in, std::string name, std::optional<std::string> value = {}) {
  return {in, std::move(name), std::move(value)};
}

// Answers with the target that it was asked for.
void echo_targets(Stage& stage) {
  while (true) {
    const auto request = stage.read_request();
    const auto from = request.find(' ') + 1;
    stage.send(answer("200 OK", lives, request.substr(from, request.find(' ', from) - from)));
  }
}

struct LifetimeRow {
  std::string status;
  std::string lines;
  std::string kept;  // the Cache-Status of the second request
};

TEST(ReplicaRules, Rfc9111Section4_2LifetimesOfTheRouteFillInWhatTheOriginLeavesOut) {
  Rules rules;
  rules.ttl_by_status = {{404, 404, Seconds{5}}, {500, 503, Seconds{2}}, {302, 302, Seconds{0}}};
  rules.default_ttl = Seconds{100};
  const std::vector<LifetimeRow> rows{
      {"200 OK", "", "hit; ttl=100"},
      {"200 OK", "Cache-Control: max-age=7\r\n", "hit; ttl=7"},
      {"404 Not Found", "", "hit; ttl=5"},
      {"404 Not Found", "Cache-Control: max-age=7\r\n", "hit; ttl=7"},
      {"503 Service Unavailable", "", "hit; ttl=2"},
      {"410 Gone", "", "hit; ttl=100"},
      {"403 Forbidden", "", "fwd=uri-miss; fwd-status=403; detail=no-lifetime"},
      {"302 Found", "", "fwd=uri-miss; fwd-status=302; detail=no-lifetime"},
      {"200 OK", "Cache-Control: no-store\r\n", "fwd=uri-miss; fwd-status=200; detail=no-store"},
      {"200 OK", "Expires: 0\r\n", "fwd=uri-miss; fwd-status=200; detail=no-lifetime"},
  };
  for (const LifetimeRow& row : rows) {
    ScriptedPeer origin(always(answer(row.status, row.lines, "hello")));
    SomeReplica replica(origin.address());
    set_rules(replica, rules);
    EXPECT_EQ(replica.get("/").status, std::stoi(row.status));
    replica.settle();
    const Reply again = replica.get("/");
    EXPECT_EQ(again.status, std::stoi(row.status));
    EXPECT_EQ(again.body, "hello");
    EXPECT_EQ(again.field("cache-status"), "cache-7; " + row.kept) << row.status << row.lines;
  }
}

TEST(ReplicaRules, AnOriginThatIsNotHeededSaysNothingOfTimeButOfPrivacy) {
  Rules rules;
  rules.heed_origin = false;
  rules.default_ttl = Seconds{100};
  const std::vector<LifetimeRow> rows{
      {"200 OK", "Cache-Control: no-cache, max-age=0\r\nExpires: 0\r\n", "hit; ttl=100"},
      {"200 OK", "Cache-Control: max-age=7\r\n", "hit; ttl=100"},
      {"200 OK", "CDN-Cache-Control: max-age=7\r\n", "hit; ttl=100"},
      {"200 OK", "Cache-Control: private\r\n", "fwd=uri-miss; fwd-status=200; detail=private"},
      {"200 OK", "Cache-Control: no-store\r\n", "fwd=uri-miss; fwd-status=200; detail=no-store"},
  };
  for (const LifetimeRow& row : rows) {
    ScriptedPeer origin(always(answer(row.status, row.lines, "hello")));
    SomeReplica replica(origin.address());
    set_rules(replica, rules);
    EXPECT_EQ(replica.get("/").body, "hello");
    replica.settle();
    EXPECT_EQ(replica.get("/").field("cache-status"), "cache-7; " + row.kept) << row.lines;
  }
}

struct CookieRow {
  SetCookie rule;
  std::string cache_control;
  std::string followers;  // the cookie of who waits for the same fetch, and of later ones
  bool stored;
};

TEST(ReplicaRules, Rfc9111Section7_3CookiesGoToWhoCausedTheFetchAlone) {
  const std::vector<CookieRow> rows{
      {SetCookie::strip, "max-age=60", "", true},
      {SetCookie::store, "max-age=60", "a=b", true},
      {SetCookie::pass, "max-age=60, private=\"set-cookie\"", "", true},
      {SetCookie::pass, "max-age=60, no-cache=\"Set-Cookie\"", "", true},
      {SetCookie::store, "max-age=60, private=\"set-cookie\"", "", true},
      {SetCookie::pass, "max-age=60", "a=b", false},
  };
  for (const CookieRow& row : rows) {
    Gate head;
    ScriptedPeer origin([&](Stage& stage) {
      while (true) {
        stage.read_request();
        stage.wait(head);
        stage.send(answer(
            "200 OK", "Set-Cookie: a=b\r\nCache-Control: " + row.cache_control + "\r\n", "hello"));
      }
    });
    SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
    Rules rules;
    rules.set_cookie = row.rule;
    set_rules(replica, rules);
    auto leader = replica.client();
    leader.send(get_request("/"));
    ASSERT_TRUE(eventually([&] { return origin.requests() == 1; }));
    auto follower = replica.client();
    follower.send(get_request("/"));
    let_core_catch_up(replica);
    head.open();
    EXPECT_EQ(leader.read().field("set-cookie"), "a=b") << row.cache_control;
    EXPECT_EQ(follower.read().field("set-cookie"), row.followers) << row.cache_control;
    replica.settle();
    const Reply later = replica.get("/");
    EXPECT_EQ(later.field("set-cookie"), row.followers) << row.cache_control;
    EXPECT_EQ(replica.store().entries, row.stored ? 1U : 0U) << row.cache_control;
  }
}

// RFC 9111 §5.2.2.4, §5.2.2.7
TEST(ReplicaRules, Rfc9111Section5_2_2_7NamedFieldsGoToWhoCausedTheFetchAlone) {
  ScriptedPeer origin(
      always(answer("200 OK",
                    "Cache-Control: max-age=60, private=\"x-user\", "
                    "no-cache=\"x-token\"\r\nX-User: me\r\nX-Token: t\r\nX-All: a\r\n",
                    "hello")));
  SomeReplica replica(origin.address());
  const Reply first = replica.get("/");
  EXPECT_EQ(first.field("x-user"), "me");
  EXPECT_EQ(first.field("x-token"), "t");
  EXPECT_EQ(first.field("x-all"), "a");
  replica.settle();
  const Reply hit = replica.get("/");
  EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=60");
  EXPECT_EQ(hit.field("x-user"), "");
  EXPECT_EQ(hit.field("x-token"), "");
  EXPECT_EQ(hit.field("x-all"), "a");
}

// private="…" may name what frames the message, and what is ours: it was written a second time.
TEST(ReplicaRules, Rfc9110Section7_6_1NamedFieldsOfTheConnectionAreNotPassedOn) {
  ScriptedPeer origin(always(
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=60, private=\"transfer-encoding, connection, "
      "x-hop, age, ringside-outcome\"\r\nTransfer-Encoding: chunked\r\nConnection: x-hop\r\n"
      "X-Hop: h\r\nAge: 3\r\nRingside-Outcome: hit\r\n\r\n" +
      support::chunked("hello", 5)));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  const Reply reply = client.ask("GET / HTTP/1.0\r\nHost: a.test\r\n\r\n");
  EXPECT_EQ(reply.body, "hello");
  for (const auto* name : {"transfer-encoding", "x-hop", "ringside-outcome"}) {
    EXPECT_EQ(reply.field(name), "") << name;
  }
  EXPECT_EQ(reply.field("connection"), "close");
  EXPECT_EQ(reply.head.find("Age: "), reply.head.rfind("Age: "));
}

TEST(ReplicaRules, WhatAValidationBringsForItsClientGoesToItAlone) {
  ScriptedPeer origin(
      answers_in_turn({answer("200 OK", "ETag: \"1\"\r\nCache-Control: max-age=60\r\n", "hello"),
                       "HTTP/1.1 304 Not Modified\r\nSet-Cookie: a=b\r\n\r\n"}));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "hello");
  replica.settle();
  pass(replica, Seconds{70});
  const Reply validated = replica.get("/");
  EXPECT_EQ(validated.body, "hello");
  EXPECT_EQ(validated.field("set-cookie"), "a=b");
  const Reply hit = replica.get("/");
  EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=60");
  EXPECT_EQ(hit.field("set-cookie"), "");
}

TEST(ReplicaRules, ConditionsKeepRequestsFromTheStoreOrTheStoreFromThem) {
  ScriptedPeer origin(always(answer("200 OK", lives, "hello")));
  SomeReplica replica(origin.address());
  Rules rules;
  rules.bypass = {condition(Condition::In::cookie, "session")};
  rules.no_store = {condition(Condition::In::header, "X-Debug", "1"),
                    condition(Condition::In::query, "trial")};
  set_rules(replica, rules);
  const std::string_view cookie = "Cookie: a=b; session=x\r\n";
  EXPECT_EQ(replica.get("/", cookie).field("cache-status"), "cache-7; fwd=bypass; fwd-status=200");
  EXPECT_EQ(replica.get("/", "X-Debug: 1\r\n").body, "hello");
  EXPECT_EQ(replica.get("/?trial").body, "hello");
  EXPECT_EQ(replica.store().entries, 0U);
  EXPECT_EQ(replica.get("/", "X-Debug: 2\r\nCookie: a=session\r\n").field("cache-status"),
            "cache-7; fwd=uri-miss; fwd-status=200; stored");
  replica.settle();
  EXPECT_EQ(replica.get("/", "X-Debug: 1\r\n").field("cache-status"), "cache-7; hit; ttl=60");
  EXPECT_EQ(replica.get("/", cookie).field("cache-status"), "cache-7; fwd=bypass; fwd-status=200");
  EXPECT_TRUE(replica.counts(metrics::Outcome::hit, 1));
}

TEST(ReplicaRules, TheOriginIsAskedWithTheRoutesRequestFields) {
  ScriptedPeer origin(always(answer("200 OK", lives, "hello")));
  SomeReplica replica(origin.address());
  Rules rules;
  rules.request_fields.remove = {"Cookie"};
  rules.request_fields.set = {{"X-Set", "ours"}, {"Accept-Language", "en"}};
  set_rules(replica, rules);
  EXPECT_EQ(replica.get("/", "cookie: a=b\r\nx-set: theirs\r\nX-Kept: k\r\n").status, 200);
  EXPECT_EQ(replica.client().ask("POST / HTTP/1.1\r\nHost: a.test\r\nCookie: c=d\r\n\r\n").status,
            200);
  for (const std::string& head : origin.heads()) {
    EXPECT_EQ(support::field(head, "cookie"), "") << head;
    EXPECT_EQ(support::field(head, "x-set"), "ours") << head;
    EXPECT_EQ(support::field(head, "accept-language"), "en") << head;
  }
  EXPECT_EQ(support::field(origin.heads().at(0), "x-kept"), "k");
}

TEST(ReplicaRules, ClientsAreAnsweredWithTheRoutesResponseFields) {
  ScriptedPeer origin([](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      const std::string control =
          request.find("/own") == std::string::npos ? "max-age=60" : "no-store";
      stage.send(
          answer("200 OK",
                 "Cache-Control: " + control + "\r\nETag: \"1\"\r\nServer: s\r\nX-Set: theirs\r\n",
                 "hello"));
    }
  });
  SomeReplica replica(origin.address());
  Rules rules;
  rules.response_fields.remove = {"server", "ETag"};
  rules.response_fields.set = {{"x-set", "ours"}, {"Cache-Control", "max-age=1"}};
  set_rules(replica, rules);
  const auto expect_rewritten = [](const Reply& reply, int status) {
    EXPECT_EQ(reply.status, status);
    EXPECT_EQ(reply.field("server"), "") << reply.head;
    EXPECT_EQ(reply.field("etag"), "") << reply.head;
    EXPECT_EQ(reply.field("x-set"), "ours") << reply.head;
    EXPECT_EQ(reply.field("cache-control"), "max-age=1") << reply.head;
  };
  expect_rewritten(replica.get("/"), 200);  // from the flight
  replica.settle();
  expect_rewritten(replica.get("/"), 200);
  // What is stored is as it came: its validators still count.
  expect_rewritten(replica.get("/", "If-None-Match: \"1\"\r\n"), 304);
  expect_rewritten(replica.get("/", "Range: bytes=0-1\r\nIf-Range: \"1\"\r\n"), 206);
  expect_rewritten(replica.get("/own"), 200);
  expect_rewritten(replica.client().ask("POST / HTTP/1.1\r\nHost: a.test\r\n\r\n"), 200);
  EXPECT_EQ(origin.requests(), 3U);
  EXPECT_EQ(replica.get("/").field("cache-status"),
            "cache-7; fwd=uri-miss; fwd-status=200; stored");
  replica.settle();
  pass(replica, Seconds{61});
  EXPECT_EQ(replica.get("/").status, 200);
  EXPECT_EQ(support::field(origin.heads().back(), "if-none-match"), "\"1\"");
}

// The fields that are not stored were written as they came.
TEST(ReplicaRules, TheRoutesResponseFieldsAreAlsoThoseOfWhatIsNotStored) {
  ScriptedPeer origin(always(
      answer("200 OK",
             "Cache-Control: max-age=60, private=\"x-user\"\r\nSet-Cookie: a=b\r\nX-User: me\r\n",
             "hello")));
  SomeReplica replica(origin.address());
  Rules rules;
  rules.set_cookie = SetCookie::strip;
  rules.response_fields.remove = {"Set-Cookie"};
  rules.response_fields.set = {{"X-User", "somebody"}};
  set_rules(replica, rules);
  const Reply reply = replica.get("/");
  EXPECT_EQ(reply.field("set-cookie"), "");
  EXPECT_EQ(reply.field("x-user"), "somebody");
  EXPECT_THAT(reply.head, Not(HasSubstr("me\r\n")));
}

TEST(ReplicaRules, Rfc9110Section12_5_3ClassesOfAcceptEncodingAreFewVariants) {
  ScriptedPeer origin([](Stage& stage) {
    while (true) {
      const auto coding = support::field(stage.read_request(), "accept-encoding");
      stage.send(
          answer("200 OK", "Cache-Control: max-age=60\r\nVary: Accept-Encoding\r\n", coding));
    }
  });
  SomeReplica replica(origin.address());
  Rules rules;
  rules.content_codings = {"br", "gzip"};
  set_rules(replica, rules);
  const std::vector<std::pair<std::string, std::string>> rows{
      {"gzip, deflate, br", "br"},
      {"br;q=0.1, gzip", "br"},
      {"gzip, deflate", "gzip"},
      {"x-gzip", "gzip"},
      {"br;q=0, *", "gzip"},
      {"deflate", ""},
      {"identity", ""},
      {"gzip;q=0", ""},
  };
  for (const auto& [accepted, coding] : rows) {
    EXPECT_EQ(replica.get("/", "Accept-Encoding: " + accepted + "\r\n").body, coding) << accepted;
    replica.settle();
  }
  EXPECT_EQ(replica.get("/").body, "");
  EXPECT_EQ(origin.requests(), 3U);
  EXPECT_EQ(replica.store().entries, 3U);
}

TEST(ReplicaRules, QueriesAreOneEntryAndTheOriginIsAskedWithWhatIsLookedUp) {
  ScriptedPeer origin(echo_targets);
  SomeReplica replica(origin.address());
  Rules rules;
  rules.query.sort = true;
  rules.query.drop = {"utm_*"};
  set_rules(replica, rules);
  EXPECT_EQ(replica.get("/p?b=2&a=1&utm_source=x").body, "/p?a=1&b=2");
  replica.settle();
  for (const auto* target : {"/p?a=1&b=2", "/p?b=2&a=1", "/p?utm_x&a=1&utm_y=3&b=2"}) {
    const Reply reply = replica.get(target);
    EXPECT_EQ(reply.body, "/p?a=1&b=2") << target;
    EXPECT_EQ(reply.field("cache-status"), "cache-7; hit; ttl=60") << target;
  }
  EXPECT_EQ(replica.get("/p?a=2&b=1").body, "/p?a=2&b=1");
  EXPECT_EQ(replica.get("/p?utm_source=x").body, "/p");
  EXPECT_EQ(origin.requests(), 3U);
  EXPECT_EQ(replica.client().ask("POST /p?utm_a=1 HTTP/1.1\r\nHost: a.test\r\n\r\n").body, "/p");
}

TEST(ReplicaRules, VariantsBeyondTheRoutesNumberPushTheOldestOut) {
  ScriptedPeer origin(
      always(answer("200 OK", "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n", "hello")));
  SomeReplica replica(origin.address());
  Rules rules;
  rules.variants_most = 2;
  set_rules(replica, rules);
  for (const auto* language : {"de", "fr", "en"}) {
    EXPECT_EQ(replica.get("/", "Accept-Language: " + std::string(language) + "\r\n").status, 200);
    replica.settle();
  }
  EXPECT_EQ(replica.store().entries, 2U);
  EXPECT_EQ(replica.get("/", "Accept-Language: fr\r\n").field("cache-status"),
            "cache-7; hit; ttl=60");
  EXPECT_EQ(replica.get("/", "Accept-Language: de\r\n").field("cache-status"),
            "cache-7; fwd=vary-miss; fwd-status=200; stored");
}

// Each no-cache, max-age=0 or Pragma of whomever cost the origin a fetch, and no rule could help.
TEST(ReplicaRules, AClientsNoCacheCostTheOriginOneFetchEach) {
  struct Row {
    std::optional<Seconds> rule;
    std::size_t fetches;             // of four requests in the same second: max-age=0 allows that
    std::size_t fetches_after_time;  // of one more, ten seconds later
  };
  for (const Row& row : std::vector<Row>{
           {Seconds{0}, 3, 1}, {Seconds{10}, 1, 1}, {Seconds{11}, 1, 0}, {std::nullopt, 1, 0}}) {
    ScriptedPeer origin(
        support::always(answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"1\"\r\n", "hello")));
    SomeReplica replica(origin.address());
    Rules rules;
    rules.client_no_cache = row.rule;
    set_rules(replica, rules);
    for (const char* line : {"", "Cache-Control: no-cache\r\n", "Cache-Control: max-age=0\r\n",
                             "Pragma: no-cache\r\n"}) {
      EXPECT_EQ(replica.get("/", line).body, "hello");
      replica.settle();
    }
    EXPECT_EQ(origin.requests(), row.fetches);
    pass(replica, Seconds{10});
    EXPECT_EQ(replica.get("/", "Cache-Control: no-cache\r\n").body, "hello");
    replica.settle();
    EXPECT_EQ(origin.requests(), row.fetches + row.fetches_after_time);
  }
}

}  // namespace
}  // namespace ringside::cache
