#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "tests/cache/ranged_origin.h"

namespace ringside::cache {
namespace {

using support::always;
using support::answer;
using support::Gate;
using support::get_request;
using support::ScriptedPeer;
using support::Stage;

constexpr std::string_view typed =
    "Cache-Control: max-age=60\r\nETag: \"1\"\r\nContent-Type: text/plain\r\n"
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nLast-Modified: Sun, 06 Nov 1994 08:00:00 GMT\r\n";

// Of a whole that is stored.
TEST(ReplicaRange, Rfc9110Section14_1_2OfAStoredResponse) {
  const Object object{"0123456789", std::string(typed)};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  expect_whole(client.get("/"), object.body);
  replica.settle();
  replica.clock().advance(Milliseconds{7'000});
  struct Row {
    std::string range;
    std::size_t first, last;
  };
  for (const Row& row : std::vector<Row>{{"bytes=0-0", 0, 0},
                                         {"bytes=2-4", 2, 4},
                                         {"bytes=5-", 5, 9},
                                         {"bytes=-3", 7, 9},
                                         {"bytes=-100", 0, 9},
                                         {"bytes=0-999", 0, 9},
                                         {"bytes=9-99999999999999999999999", 9, 9},
                                         {"Bytes=9-9", 9, 9},
                                         {"bytes=0-2,3-4", 0, 4},
                                         {"bytes=0-4,2-6", 0, 6},
                                         {"bytes=4-6, 20-30", 4, 6}}) {
    const auto reply = client.get("/", "Range: " + row.range + "\r\n");
    expect_part(reply, object.body, row.first, row.last);
    EXPECT_EQ(reply.field("etag"), "\"1\"");
    EXPECT_EQ(reply.field("content-type"), "text/plain");
    EXPECT_EQ(reply.field("date"), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(reply.field("age"), "7");
    EXPECT_EQ(reply.field("cache-status"), "cache-7; hit; ttl=53");
  }
  for (const std::string range : {"bytes=4-2", "chars=0-1", "bytes=", "bytes=a-b", "0-1"}) {
    expect_whole(client.get("/", "Range: " + range + "\r\n"), object.body);
  }
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaRange, Rfc9110Section15_5_17NoneOfTheRangesIsThere) {
  const Object object{"0123456789", std::string(typed)};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  expect_whole(client.get("/"), object.body);
  replica.settle();
  for (const std::string range : {"bytes=10-", "bytes=10-20", "bytes=-0", "bytes=11-12,99-"}) {
    const auto reply = client.get("/", "Range: " + range + "\r\n");
    EXPECT_EQ(reply.status, 416) << range;
    EXPECT_EQ(reply.field("content-range"), "bytes */10");
    EXPECT_EQ(reply.field("content-length"), "0");
    EXPECT_EQ(reply.field("content-type"), "");
    EXPECT_EQ(reply.field("cache-status"), "cache-7; hit; ttl=60");
  }
  expect_whole(client.get("/"), object.body);
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaRange, Rfc9110Section14_6SeveralRangesAreAMultipart) {
  const Object object{"0123456789", std::string(typed)};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  expect_whole(client.get("/"), object.body);
  replica.settle();
  const auto reply = client.get("/", "Range: bytes=5-6,0-1,-1\r\n");
  EXPECT_EQ(reply.status, 206);
  EXPECT_TRUE(reply.whole);
  EXPECT_EQ(reply.field("content-range"), "");
  EXPECT_EQ(reply.field("etag"), "\"1\"");
  const std::string type = reply.field("content-type");
  const std::string prefix = "multipart/byteranges; boundary=";
  ASSERT_TRUE(type.starts_with(prefix)) << type;
  const std::string delimiter = "--" + type.substr(prefix.size());
  const auto part = [&](std::string_view content_range, std::string_view bytes) {
    return fmt::format("{}\r\nContent-Type: text/plain\r\nContent-Range: {}\r\n\r\n{}", delimiter,
                       content_range, bytes);
  };
  EXPECT_EQ(reply.body, part("bytes 5-6/10", "56") + "\r\n" + part("bytes 0-1/10", "01") + "\r\n" +
                            part("bytes 9-9/10", "9") + "\r\n" + delimiter + "--\r\n");
  EXPECT_EQ(reply.field("content-length"), std::to_string(reply.body.size()));
  EXPECT_NE(client.get("/", "Range: bytes=5-6,0-1\r\n").field("content-type"), type);
  expect_whole(client.get("/"), object.body);
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaRange, CrossesThePiecesOfALargeBody) {
  const Object object{numbered(400'001)};
  ScriptedPeer origin(always("HTTP/1.1 200 OK\r\n" + object.field_lines +
                             "Transfer-Encoding: chunked\r\n\r\n" +
                             support::chunked(object.body, 50'000)));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  expect_whole(client.get("/"), object.body);
  replica.settle();
  for (const auto& [first, last] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 400'000}, {49'999, 50'000}, {1, 399'999}, {100'000, 149'999}, {400'000, 400'000}}) {
    expect_part(client.get("/", range(first, last)), object.body, first, last);
  }
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaRange, Rfc9110Section14_2HeadHasNoRanges) {
  const Object object{"0123456789", std::string(typed)};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  expect_whole(client.get("/"), object.body);
  replica.settle();
  const auto head = client.ask("HEAD / HTTP/1.1\r\nHost: a.test\r\nRange: bytes=0-1\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("content-length"), "10");
  EXPECT_EQ(head.field("content-range"), "");
  expect_whole(client.get("/"), object.body);
}

TEST(ReplicaRange, Rfc9110Section13_1_5IfRange) {
  const Object object{"0123456789", std::string(typed)};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  expect_whole(client.get("/"), object.body);
  replica.settle();
  struct Row {
    std::string condition;
    bool holds;
  };
  for (const Row& row : std::vector<Row>{{"\"1\"", true},
                                         {"\"2\"", false},
                                         {"W/\"1\"", false},
                                         {"1", false},
                                         {"Sun, 06 Nov 1994 08:00:00 GMT", true},
                                         {"Sun, 06 Nov 1994 08:00:01 GMT", false},
                                         {"Sun, 06 Nov 1994 07:59:59 GMT", false}}) {
    const auto condition = "If-Range: " + row.condition + "\r\n";
    const auto reply = client.get("/", condition + range(2, 4));
    if (row.holds) {
      expect_part(reply, object.body, 2, 4);
    } else {
      expect_whole(reply, object.body);
    }
    EXPECT_EQ(client.get("/", condition + range(10, 12)).status, row.holds ? 416 : 200);
    EXPECT_EQ(client.get("/", condition + "If-None-Match: \"1\"\r\n" + range(2, 4)).status, 304);
  }
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaRange, Rfc9110Section14_2OfAnotherStatusOrOfNothingIsIgnored) {
  for (const std::string& response :
       {answer("404 Not Found", lives, "not here"), answer("200 OK", lives, "")}) {
    ScriptedPeer origin(always(response));
    SomeReplica replica(origin.address());
    auto client = replica.client();
    for (unsigned count = 0; count < 2; ++count) {
      const auto reply = client.get("/", range(0, 1));
      EXPECT_EQ(reply.status, response[9] == '4' ? 404 : 200);
      EXPECT_EQ(reply.body, response[9] == '4' ? "not here" : "");
      replica.settle();
    }
    EXPECT_EQ(origin.requests(), 1U);
  }
}

// RFC 9530 §2: the digest of the whole's bytes stood over a part of them, and a part's was kept.
TEST(ReplicaRange, ADigestOfOtherContentWasSent) {
  const std::string digests = "Content-Digest: sha-256=:a:\r\nContent-MD5: b\r\n";
  const Object object{"0123456789", std::string(tagged) + digests + "Repr-Digest: sha-256=:c:\r\n"};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/whole").field("content-digest"), "sha-256=:a:");
  replica.settle();
  EXPECT_EQ(replica.get("/whole").field("content-digest"), "sha-256=:a:");
  expect_part(replica.get("/part", range(1, 5)), object.body, 1, 5);
  replica.settle();
  for (const std::string path : {"/whole", "/part"}) {
    const auto part = replica.get(path, range(2, 4));
    expect_part(part, object.body, 2, 4);
    EXPECT_EQ(part.field("content-digest"), "") << path;
    EXPECT_EQ(part.field("content-md5"), "") << path;
    EXPECT_EQ(part.field("repr-digest"), "sha-256=:c:") << path;
  }
  EXPECT_EQ(origin.requests(), 2U);
}

// Several ranges, and those under If-Range, of what is not stored are the origin's to answer.
TEST(ReplicaRange, WhatIsNotStoredIsPassedOnWithItsRanges) {
  const Object object{"0123456789"};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  expect_part(client.get("/", "If-Range: \"1\"\r\n" + range(2, 4)), object.body, 2, 4);
  EXPECT_EQ(asked(origin, 0, "if-range"), "\"1\"");
  EXPECT_EQ(asked(origin, 0, "range"), "bytes=2-4");
  const auto reply = client.get("/", "Range: bytes=2-4,7-8\r\n");
  EXPECT_EQ(reply.status, 206);
  EXPECT_EQ(asked(origin, 1, "range"), "bytes=2-4,7-8");
  EXPECT_EQ(replica.store().entries, 0U);
}

// The head and the first half, then, once the gate opens, the rest.
ScriptedPeer::Script in_halves(std::string head, std::string body, const Gate& rest) {
  return [head = std::move(head), body = std::move(body), &rest](Stage& stage) {
    stage.read_request();
    stage.send(head + body.substr(0, body.size() / 2));
    stage.wait(rest);
    stage.send(body.substr(body.size() / 2));
    stage.stall();
  };
}

// Those who ask for a part of what is being fetched whole get it from there, as soon as it has
// come.
TEST(ReplicaRange, OfAWholeThatStreams) {
  const Object object{numbered(200'000)};
  Gate rest;
  std::atomic<unsigned> connections{0};
  // The second request may come on a connection of its own, if the first is still being read out.
  ScriptedPeer origin([&](Stage& stage) {
    if (connections.fetch_add(1) == 0) {
      stage.read_request();
      stage.send(answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"0\"\r\n", "old"));
    }
    in_halves("HTTP/1.1 200 OK\r\n" + object.field_lines + "Content-Length: 200000\r\n\r\n",
              object.body, rest)(stage);
  });
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  EXPECT_EQ(replica.get("/").body, "old");
  replica.settle();
  replica.clock().advance(Milliseconds{61'000});
  auto leader = replica.client();
  leader.send(get_request("/"));
  leader.read_until("\r\n\r\n");
  expect_part(replica.get("/", range(10, 99'999)), object.body, 10, 99'999);
  expect_part(replica.get("/", "Range: bytes=0-0\r\n"), object.body, 0, 0);
  EXPECT_EQ(replica.get("/", range(200'000, 200'001)).status, 416);
  EXPECT_EQ(replica.get("/", "If-None-Match: \"1\"\r\n" + range(0, 1)).status, 304);
  auto late = replica.client();
  late.send(get_request("/", "Range: bytes=-5\r\n"));
  rest.open();
  expect_part(late.read(), object.body, 199'995, 199'999);
  replica.settle();
  expect_whole(replica.get("/"), object.body);
  EXPECT_EQ(origin.requests(), 2U);
}

TEST(ReplicaRange, AnOriginThatIgnoresRangeIsStoredWholeAndItsPartGiven) {
  const Object object{numbered(100'000)};
  ScriptedPeer origin(always(answer("200 OK", tagged, object.body)));
  SomeReplica replica(origin.address());
  const auto reply = replica.get("/", range(70'000, 70'010));
  expect_part(reply, object.body, 70'000, 70'010);
  EXPECT_EQ(reply.field("cache-status"), "cache-7; fwd=uri-miss; fwd-status=200; stored");
  EXPECT_EQ(asked(origin, 0, "range"), "bytes=70000-70010");
  replica.settle();
  expect_whole(replica.get("/"), object.body);
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaRange, Rfc9110Section14_2OfAnUnknownLengthIsIgnoredWhileItStreams) {
  const Object object{numbered(100'000)};
  ScriptedPeer origin(always("HTTP/1.1 200 OK\r\n" + object.field_lines +
                             "Transfer-Encoding: chunked\r\n\r\n" +
                             support::chunked(object.body, 9'999)));
  SomeReplica replica(origin.address());
  expect_whole(replica.get("/", range(5, 6)), object.body);
  replica.settle();
  expect_part(replica.get("/", range(5, 6)), object.body, 5, 6);
  EXPECT_EQ(origin.requests(), 1U);
}

}  // namespace
}  // namespace ringside::cache
