#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/ranged_origin.h"

namespace ringside::cache {
namespace {

using metrics::Outcome;
using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::ScriptedPeer;
using support::Stage;

TEST(ReplicaPartial, AColdRangeIsAskedForAsItIsAndStored) {
  const Object object{"0123456789", std::string(tagged) + "X-Kept: yes\r\n"};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  const auto miss = client.get("/", range(3, 6));
  expect_part(miss, object.body, 3, 6);
  EXPECT_EQ(miss.field("cache-status"), "cache-7; fwd=uri-miss; fwd-status=206; stored");
  EXPECT_EQ(miss.field("etag"), "\"1\"");
  EXPECT_EQ(miss.field("x-kept"), "yes");
  EXPECT_EQ(asked(origin, 0, "range"), "bytes=3-6");
  EXPECT_EQ(asked(origin, 0, "if-range"), "");
  replica.settle();
  EXPECT_EQ(replica.store().entries, 1U);
  replica.clock().advance(Milliseconds{7'000});
  struct Row {
    std::string range;
    std::size_t first, last;
  };
  for (const Row& row : std::vector<Row>{{"bytes=3-6", 3, 6},
                                         {"bytes=4-5", 4, 5},
                                         {"bytes=6-6", 6, 6},
                                         {"bytes=3-4,5-6", 3, 6}}) {
    const auto hit = client.get("/", "Range: " + row.range + "\r\n");
    expect_part(hit, object.body, row.first, row.last);
    EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=53");
    EXPECT_EQ(hit.field("age"), "7");
    EXPECT_EQ(hit.field("x-kept"), "yes");
  }
  EXPECT_EQ(client.get("/", range(10, 11)).status, 416);
  EXPECT_EQ(client.get("/", "If-None-Match: \"1\"\r\n").status, 304);
  EXPECT_EQ(client.get("/", "Range: bytes=3-3,6-6\r\n").status, 206);
  EXPECT_EQ(origin.requests(), 1U);
  EXPECT_EQ(client.get("/", "Cache-Control: only-if-cached\r\n").status, 504);
  EXPECT_TRUE(replica.counts(Outcome::miss, 1));
  EXPECT_TRUE(replica.counts(Outcome::hit, 7));
}

TEST(ReplicaPartial, OpenEndsAndSuffixesAreStoredToo) {
  const Object object{"0123456789"};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  expect_part(client.get("/end", "Range: bytes=-4\r\n"), object.body, 6, 9);
  expect_part(client.get("/open", "Range: bytes=7-\r\n"), object.body, 7, 9);
  expect_part(client.get("/beyond", "Range: bytes=7-99\r\n"), object.body, 7, 9);
  replica.settle();
  expect_part(client.get("/end", "Range: bytes=6-7\r\n"), object.body, 6, 7);
  expect_part(client.get("/open", "Range: bytes=-2\r\n"), object.body, 8, 9);
  expect_part(client.get("/beyond", "Range: bytes=8-\r\n"), object.body, 8, 9);
  EXPECT_EQ(origin.requests(), 3U);
}

TEST(ReplicaPartial, Rfc9111Section3_4PartsBecomeTheWhole) {
  const Object object{numbered(300'000)};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  expect_part(client.get("/", range(100'000, 199'999)), object.body, 100'000, 199'999);
  replica.settle();
  const auto more = client.get("/", range(150'000, 299'999));
  expect_part(more, object.body, 150'000, 299'999);
  EXPECT_EQ(more.field("cache-status"), "cache-7; fwd=partial; fwd-status=206; stored");
  replica.settle();
  expect_part(client.get("/", range(100'000, 299'999)), object.body, 100'000, 299'999);
  EXPECT_EQ(origin.requests(), 2U);
  expect_part(client.get("/", range(0, 99'999)), object.body, 0, 99'999);
  replica.settle();
  const auto whole = client.get("/");
  expect_whole(whole, object.body);
  EXPECT_EQ(whole.field("cache-status"), "cache-7; hit; ttl=60");
  EXPECT_EQ(client.ask("HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n").field("content-length"),
            "300000");
  EXPECT_EQ(origin.requests(), 3U);
  EXPECT_EQ(replica.store().entries, 1U);
}

TEST(ReplicaPartial, WhatLeavesAGapTakesThePlace) {
  const Object object{"0123456789"};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  expect_part(replica.get("/", range(0, 2)), object.body, 0, 2);
  replica.settle();
  expect_part(replica.get("/", range(4, 6)), object.body, 4, 6);
  replica.settle();
  expect_part(replica.get("/", range(4, 6)), object.body, 4, 6);
  EXPECT_EQ(origin.requests(), 2U);
  expect_part(replica.get("/", range(0, 2)), object.body, 0, 2);
  EXPECT_EQ(origin.requests(), 3U);
  EXPECT_EQ(replica.store().entries, 1U);
}

// RFC 9110 §15.3.7.3
TEST(ReplicaPartial, OnlyPartsOfOneStrongTagAreCombined) {
  const std::string strong(tagged);
  const std::string weak = "Cache-Control: max-age=60\r\nETag: W/\"1\"\r\n";
  const std::string other = "Cache-Control: max-age=60\r\nETag: \"2\"\r\n";
  const std::string dated =
      "Cache-Control: max-age=60\r\nLast-Modified: Sun, 06 Nov 1994 08:00:00 GMT\r\n";
  const std::string second = "abcdefghij";
  for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
           {strong, other}, {weak, weak}, {strong, weak}, {dated, dated}, {strong, dated}}) {
    const Object object{second, after};
    ScriptedPeer origin(first_then({partial("bytes 0-4/10", before, "01234")}, object));
    SomeReplica replica(origin.address());
    expect_part(replica.get("/", range(0, 4)), "0123456789", 0, 4);
    replica.settle();
    expect_part(replica.get("/", range(5, 9)), second, 5, 9);
    replica.settle();
    EXPECT_EQ(replica.store().entries, 1U);
    expect_part(replica.get("/", range(5, 9)), second, 5, 9);
    EXPECT_EQ(origin.requests(), 2U);
    expect_whole(replica.get("/"), second);
    EXPECT_EQ(asked(origin, 2, "range"), "") << after;
  }
}

// `Range: bytes=0-` is what players begin with: the 206 has all there is.
TEST(ReplicaPartial, APartThatIsAllIsTheWhole) {
  for (const std::string& fields : {std::string(tagged), std::string(lives)}) {
    const Object object{"0123456789", fields};
    ScriptedPeer origin(serves(object));
    SomeReplica replica(origin.address());
    expect_part(replica.get("/", "Range: bytes=0-\r\n"), object.body, 0, 9);
    replica.settle();
    expect_whole(replica.get("/"), object.body);
    expect_part(replica.get("/", "Range: bytes=-3\r\n"), object.body, 7, 9);
    EXPECT_EQ(origin.requests(), 1U);
  }
}

TEST(ReplicaPartial, AStalePartIsConfirmedBy304) {
  const Object object{"0123456789"};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  expect_part(replica.get("/", range(3, 6)), object.body, 3, 6);
  replica.settle();
  replica.clock().advance(Milliseconds{61'000});
  const auto confirmed = replica.get("/", range(4, 5));
  expect_part(confirmed, object.body, 4, 5);
  // RFC 9211 §2.2: it had all the ranges, so it is not `partial`.
  EXPECT_EQ(confirmed.field("cache-status"), "cache-7; fwd=stale; fwd-status=304; stored; ttl=60");
  EXPECT_EQ(asked(origin, 1, "range"), "bytes=4-5");
  EXPECT_EQ(asked(origin, 1, "if-none-match"), "\"1\"");
  expect_part(replica.get("/", range(3, 6)), object.body, 3, 6);
  EXPECT_EQ(origin.requests(), 2U);
}

TEST(ReplicaPartial, AStalePartIsReplacedByWhatTheOriginHasNow) {
  const std::string fields = "Cache-Control: max-age=60\r\nETag: \"2\"\r\n";
  for (const bool heeds_range : {true, false}) {
    const Object changed{"abcdefghij", fields};
    ScriptedPeer origin(
        first_then({Object{"0123456789"}.part(3, 6),
                    heeds_range ? changed.part(4, 5) : answer("200 OK", fields, changed.body)},
                   changed));
    SomeReplica replica(origin.address());
    expect_part(replica.get("/", range(3, 6)), "0123456789", 3, 6);
    replica.settle();
    replica.clock().advance(Milliseconds{61'000});
    const auto replaced = replica.get("/", range(4, 5));
    expect_part(replaced, changed.body, 4, 5);
    EXPECT_EQ(replaced.field("etag"), "\"2\"");
    replica.settle();
    expect_part(replica.get("/", range(4, 5)), changed.body, 4, 5);
    EXPECT_EQ(origin.requests(), 2U);
    expect_part(replica.get("/", range(3, 6)), changed.body, 3, 6);
    EXPECT_EQ(origin.requests(), heeds_range ? 3U : 2U);
  }
}

// What was refreshed in the background was the whole, however large.
TEST(ReplicaPartial, ThePartThatWasGivenStaleIsRefreshedAlone) {
  const Object object{"0123456789",
                      "Cache-Control: max-age=60, stale-while-revalidate=60\r\nETag: \"1\"\r\n"};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  expect_part(replica.get("/", range(0, 6)), object.body, 0, 6);
  replica.settle();
  replica.clock().advance(Milliseconds{61'000});
  expect_part(replica.get("/", range(4, 5)), object.body, 4, 5);
  ASSERT_TRUE(eventually([&] { return origin.requests() == 2; }));
  EXPECT_EQ(asked(origin, 1, "if-none-match"), "\"1\"");
  EXPECT_EQ(asked(origin, 1, "range"), "bytes=4-5");
  replica.settle();
  EXPECT_EQ(replica.get("/", range(0, 6)).field("cache-status"), "cache-7; hit; ttl=60");
}

// RFC 9110 §13.2.2: who asks for a range and has it already, was sent it again.
TEST(ReplicaPartial, IfNoneMatchOfAColdRangeWasNotHeeded) {
  const Object object{"0123456789"};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/", "If-None-Match: \"1\"\r\n" + range(3, 6)).status, 304);
  EXPECT_EQ(asked(origin, 0, "if-none-match"), "");
  replica.settle();
  expect_part(replica.get("/", "If-None-Match: \"2\"\r\n" + range(3, 6)), object.body, 3, 6);
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaPartial, VariantsHaveTheirOwnParts) {
  ScriptedPeer origin([](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      const auto language = support::field(request, "accept-language");
      const Object object{language + "23456789", std::string(tagged) + "Vary: Accept-Language\r\n"};
      stage.send(object.answer_to(request));
    }
  });
  SomeReplica replica(origin.address());
  for (unsigned round = 0; round < 2; ++round) {
    for (const std::string language : {"de", "fr"}) {
      const auto accept = "Accept-Language: " + language + "\r\n";
      expect_part(replica.get("/", accept + range(0, 3)), language + "23456789", 0, 3);
      replica.settle();
    }
  }
  EXPECT_EQ(origin.requests(), 2U);
  expect_whole(replica.get("/", "Accept-Language: fr\r\n"), "fr23456789");
  EXPECT_EQ(asked(origin, 2, "range"), "bytes=4-");
}

TEST(ReplicaPartial, SimultaneousRequestsForARangeCostOneFetch) {
  constexpr std::size_t clients = 100;
  const Object object{numbered(200'000)};
  Gate go;
  ScriptedPeer origin([&](Stage& stage) {
    const auto request = stage.read_request();
    stage.wait(go);
    stage.send(object.answer_to(request));
    stage.stall();
  });
  SomeReplica replica(origin.address());
  std::vector<support::TestClient> waiting;
  for (std::size_t index = 0; index < clients; ++index) {
    waiting.push_back(replica.client());
    waiting.back().send(get_request("/", range(50'000, 149'999)));
  }
  ASSERT_TRUE(eventually([&] { return origin.requests() == 1; }));
  go.open();
  for (auto& client : waiting) expect_part(client.read(), object.body, 50'000, 149'999);
  EXPECT_EQ(origin.requests(), 1U);
  // Late ones found it stored.
  ASSERT_TRUE(eventually([&] {
    return replica.counted(Outcome::miss) + replica.counted(Outcome::collapsed) +
               replica.counted(Outcome::hit) ==
           clients;
  }));
  EXPECT_EQ(replica.counted(Outcome::miss), 1U);
}

// Of two parts that were fetched at once, the later one took the other's place.
TEST(ReplicaPartial, PartsThatAreFetchedAtOnceAreBothKept) {
  const Object object{"0123456789"};
  Gate go;
  ScriptedPeer origin([&](Stage& stage) {
    const auto request = stage.read_request();
    stage.wait(go);
    stage.send(object.answer_to(request));
    stage.stall();
  });
  SomeReplica replica(origin.address());
  auto one = replica.client();
  auto two = replica.client();
  one.send(get_request("/", range(0, 4)));
  two.send(get_request("/", range(5, 9)));
  ASSERT_TRUE(eventually([&] { return origin.requests() == 2; }));
  go.open();
  expect_part(one.read(), object.body, 0, 4);
  expect_part(two.read(), object.body, 5, 9);
  replica.settle();
  expect_whole(replica.get("/", "Cache-Control: only-if-cached\r\n"), object.body);
}

TEST(ReplicaPartial, APartTookThePlaceOfTheWholeThatCameMeanwhile) {
  for (const std::string& fields : {std::string(tagged), std::string(lives)}) {
    const Object object{"0123456789", fields};
    Gate go;
    ScriptedPeer origin([&](Stage& stage) {
      const auto request = stage.read_request();
      if (!support::field(request, "range").empty()) stage.wait(go);
      stage.send(object.answer_to(request));
      stage.stall();
    });
    SomeReplica replica(origin.address());
    auto part = replica.client();
    part.send(get_request("/", range(5, 9)));
    ASSERT_TRUE(eventually([&] { return origin.requests() == 1; }));
    expect_whole(replica.get("/"), object.body);
    ASSERT_TRUE(eventually([&] { return replica.store().flights == 1; }));
    go.open();
    expect_part(part.read(), object.body, 5, 9);
    replica.settle();
    expect_whole(replica.get("/", "Cache-Control: only-if-cached\r\n"), object.body);
  }
}

// What a purge or an unsafe method has taken does not come back with the next part.
TEST(ReplicaPartial, NothingOutdatedIsStoredOrCombined) {
  const Object object{"0123456789"};
  for (const std::string how : {"PURGE", "POST"}) {
    Gate go;
    ScriptedPeer origin([&](Stage& stage) {
      while (true) {
        const auto request = stage.read_request();
        if (request.starts_with("POST")) {
          stage.send(answer("200 OK", "", ""));
          continue;
        }
        if (support::field(request, "range") == "bytes=5-9") stage.wait(go);
        stage.send(object.answer_to(request));
      }
    });
    SomeReplica replica(origin.address());
    expect_part(replica.get("/", range(0, 4)), object.body, 0, 4);
    replica.settle();
    auto late = replica.client();
    late.send(get_request("/", range(5, 9)));
    ASSERT_TRUE(eventually([&] { return origin.requests() == 2; }));
    EXPECT_EQ(replica.client()
                  .ask(how + " / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n")
                  .status,
              200);
    EXPECT_EQ(replica.store().entries, 0U);
    go.open();
    expect_part(late.read(), object.body, 5, 9);
    EXPECT_TRUE(eventually([&] { return replica.store().used_bytes == 0; })) << how;
    EXPECT_EQ(replica.store().entries, 0U) << how;
  }
}

}  // namespace
}  // namespace ringside::cache
