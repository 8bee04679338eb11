#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_origin.h"

namespace ringside::cache {
namespace {

using support::answer;
using support::Gate;
using support::Reply;
using support::ScriptedPeer;
using support::Stage;

std::string request_of(std::string_view method, std::string_view target, std::string_view lines,
                       std::string_view host = "a.test") {
  std::string request(method);
  request.append(" ").append(target).append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n");
  return request.append(lines).append("\r\n");
}

std::string key_lines(std::string_view extra_key) {
  return "Ringside-Topology: t\r\nRingside-Extra-Key: " + std::string(extra_key) + "\r\n";
}

// An origin whose GETs can be stored, and that answers everything else with `changed`.
ScriptedPeer::Script changes_with(std::string changed) {
  return [changed = std::move(changed)](Stage& stage) {
    while (true) {
      stage.send(stage.read_request().starts_with("GET") ? answer("200 OK", lives, "page")
                                                         : changed);
    }
  };
}

struct Place {
  std::string_view host;
  std::string_view target;
  std::string_view key;
};

// Whether each is stored, as a row of 0 and 1.
std::string stored(SomeReplica& replica, const std::vector<Place>& places) {
  std::string row;
  for (const Place& place : places) {
    const auto lines = key_lines(place.key) + "Cache-Control: only-if-cached\r\n";
    const Reply reply = replica.client().ask(request_of("GET", place.target, lines, place.host));
    row += reply.status == 200 ? '1' : '0';
  }
  return row;
}

void fill(SomeReplica& replica, const std::vector<Place>& places) {
  for (const Place& place : places) {
    const auto request = request_of("GET", place.target, key_lines(place.key), place.host);
    EXPECT_EQ(replica.client().ask(request).body, "page");
  }
  replica.settle();
  EXPECT_EQ(stored(replica, places), std::string(places.size(), '1'));
}

const std::vector<Place> places{{"a.test", "/p", ""},   {"a.test", "/p", "DE"},
                                {"a.test", "/p", "FR"}, {"a.test", "/p?q", "DE"},
                                {"b.test", "/p", "DE"}, {"a.test", "/l", "DE"},
                                {"a.test", "/c", "FR"}, {"b.test", "/l", "DE"}};

struct ChangeRow {
  std::string method;
  std::string status;
  std::string lines;
  std::string left;  // of `places`
};

TEST(ReplicaInvalidation, Rfc9111Section4_4AnUnsafeMethodThatSucceedsInvalidates) {
  const std::vector<ChangeRow> rows{
      {"POST", "200 OK", "", "00011111"},
      {"PUT", "204 No Content", "", "00011111"},
      {"DELETE", "303 See Other", "Location: /l\r\n", "00011011"},
      {"PATCH", "201 Created", "Location: http://a.test/l\r\nContent-Location: c\r\n", "00011001"},
      {"FROBNICATE", "200 OK", "", "00011111"},
      {"POST", "302 Found", "Location: http://b.test/l\r\n", "00011111"},
      {"POST", "200 OK", "Content-Location: ?q\r\n", "00001111"},
      {"POST", "400 Bad Request", "Location: /l\r\n", "11111111"},
      {"POST", "500 Internal Server Error", "Content-Location: /c\r\n", "11111111"},
      {"OPTIONS", "200 OK", "Location: /l\r\n", "11111111"},
  };
  for (const ChangeRow& row : rows) {
    const std::string no_content = "HTTP/1.1 " + row.status + "\r\n\r\n";
    ScriptedPeer origin(changes_with(
        row.status.starts_with("204") ? no_content : answer(row.status, row.lines, "done")));
    SomeReplica replica(origin.address());
    fill(replica, places);
    const Reply changed = replica.client().ask(
        request_of(row.method, "/p", key_lines("DE") + "Content-Length: 0\r\n"));
    EXPECT_EQ(changed.status, std::stoi(row.status));
    EXPECT_EQ(stored(replica, places), row.left) << row.method << " " << row.status << row.lines;
  }
}

// 1. a GET is being fetched, for another shard key; 2. a POST succeeds; 3. the GET's answer ends.
TEST(ReplicaInvalidation, Rfc9111Section4_4WhatIsInTheAirIsNotStored) {
  for (const auto* how : {"POST", "OPTIONS"}) {
    Gate rest;
    ScriptedPeer origin([&](Stage& stage) {
      const auto request = stage.read_request();
      if (request.starts_with("POST")) {
        stage.send(answer("200 OK", "Connection: close\r\n", "done"));
      } else if (request.find(" /other ") != std::string::npos || stage.connection() > 2) {
        stage.send(answer("200 OK", "Cache-Control: max-age=60\r\nConnection: close\r\n", "new"));
      } else {
        stage.send(
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nConnection: close\r\n"
            "Content-Length: 6\r\n\r\nold");
        stage.wait(rest);
        stage.send("...");
      }
      stage.stall();
    });
    SomeReplica replica(origin.address());
    std::vector<support::TestClient> readers;
    for (const auto* key : {"DE", "FR"}) {
      readers.push_back(replica.client());
      readers.back().send(request_of("GET", "/p", key_lines(key)));
      readers.back().read_until("old");
    }
    EXPECT_EQ(replica.get("/other").body, "new");
    EXPECT_EQ(replica.store().flights, 2U);
    const std::string lines = how == std::string_view("POST")
                                  ? "Content-Length: 0\r\n"
                                  : "Max-Forwards: 0\r\nRingside-Invalidate: /p\r\n";
    EXPECT_EQ(replica.client().ask(request_of(how, "/p", key_lines("US") + lines)).status, 200);
    EXPECT_EQ(replica.store().flights, 0U);
    rest.open();
    for (auto& reader : readers) EXPECT_EQ(reader.read_until("..."), "...");
    ASSERT_TRUE(replica.counts(metrics::Outcome::miss, 3));
    EXPECT_EQ(stored(replica, {{"a.test", "/p", "DE"}, {"a.test", "/p", "FR"}}), "00") << how;
    EXPECT_EQ(replica.get("/other", "Cache-Control: only-if-cached\r\n").status, 200);
  }
}

TEST(ReplicaInvalidation, ASidecarSaysWhatIsInvalid) {
  ScriptedPeer origin(changes_with(answer("200 OK", "", "done")));
  SomeReplica replica(origin.address());
  fill(replica, places);
  const std::string told =
      "Max-Forwards: 0\r\nRingside-Topology: t\r\nRingside-Invalidate: /p\r\n"
      "Ringside-Invalidate: /l\r\nRingside-Invalidate: /nothing\r\n";
  const std::size_t before = origin.requests();
  const Reply reply = replica.client().ask(request_of("OPTIONS", "*", told, "A.TEST:80"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.field("ringside-purged"), "4");
  EXPECT_EQ(stored(replica, places), "00011011");
  EXPECT_EQ(origin.requests(), before);
  const Reply again = replica.client().ask(request_of("OPTIONS", "/p", told));
  EXPECT_EQ(again.field("ringside-purged"), "0");
}

TEST(ReplicaInvalidation, WhoIsNoSidecarSaysNothing) {
  ScriptedPeer origin(changes_with(answer("200 OK", "", "done")));
  SomeReplica replica(origin.address());
  fill(replica, places);
  for (const auto* lines : {"Max-Forwards: 0\r\nRingside-Invalidate: /p\r\n",
                            "Max-Forwards: 0\r\nRingside-Topology: t\r\n",
                            "Ringside-Topology: t\r\nRingside-Invalidate: /p\r\n"}) {
    const Reply reply = replica.client().ask(request_of("OPTIONS", "/p", lines));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.field("ringside-purged"), "") << lines;
    EXPECT_EQ(stored(replica, places), "11111111") << lines;
  }
  const Reply get = replica.client().ask(
      request_of("GET", "/p", key_lines("DE") + "Ringside-Invalidate: /p\r\n"));
  EXPECT_EQ(get.field("cache-status"), "cache-7; hit; ttl=60");
}

// Who changes something by one scheme has changed it for those who ask by the other.
TEST(ReplicaInvalidation, Rfc9111Section4_4IsOfBothSchemes) {
  ScriptedPeer origin(changes_with(answer("200 OK", "", "done")));
  SomeReplica replica(origin.address());
  const auto get = [&](const std::string& lines) {
    return replica.client()
        .ask(request_of("GET", "/p", key_lines("DE") + lines))
        .field("cache-status")
        .substr(0, 12);
  };
  const std::string secure = "Ringside-Scheme: https\r\n";
  for (const std::string& changed : {std::string(), secure}) {
    for (const std::string& lines : {std::string(), secure}) {
      EXPECT_EQ(get(lines), "cache-7; fwd") << lines;
      replica.settle();
      EXPECT_EQ(get(lines), "cache-7; hit") << lines;
    }
    const std::string lines = key_lines("DE") + changed + "Content-Length: 0\r\n";
    EXPECT_EQ(replica.client().ask(request_of("POST", "/p", lines)).status, 200);
  }
  EXPECT_EQ(replica.store().entries, 0U);
}

// What stands under a query that the route has rewritten was looked for under the one that was
// said.
TEST(ReplicaInvalidation, Rfc9111Section4_4TheRoutesQueryRulesCountForWhatIsNamed) {
  ScriptedPeer origin(changes_with(
      answer("201 Created", "Location: /p?utm_x=1&b=2&a=1\r\nContent-Location: /q?utm_x\r\n", "")));
  SomeReplica replica(origin.address());
  Rules rules;
  rules.query.sort = true;
  rules.query.drop = {"utm_*"};
  set_rules(replica, rules);
  const std::vector<Place> both{{"a.test", "/p?a=1&b=2", ""}, {"a.test", "/q", "DE"}};
  fill(replica, both);
  EXPECT_EQ(replica.client().ask(request_of("POST", "/", "Content-Length: 0\r\n")).status, 201);
  EXPECT_EQ(stored(replica, both), "00");
  fill(replica, both);
  const std::string told =
      "Max-Forwards: 0\r\nRingside-Topology: t\r\nRingside-Invalidate: /p?b=2&a=1\r\n";
  EXPECT_EQ(replica.client().ask(request_of("OPTIONS", "*", told)).field("ringside-purged"), "1");
  EXPECT_EQ(stored(replica, both), "01");
}

}  // namespace
}  // namespace ringside::cache
