#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/ranged_origin.h"

// A part that is stored, and a request for the whole.
namespace ringside::cache {
namespace {

using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::ScriptedPeer;
using support::Stage;

TEST(ReplicaCompletion, Rfc9111Section3_4OnlyTheRestIsAskedFor) {
  const Object object{numbered(300'000), std::string(tagged) + "X-Kept: yes\r\n"};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  expect_part(replica.get("/", range(0, 99'999)), object.body, 0, 99'999);
  replica.settle();
  const auto whole = replica.get("/");
  expect_whole(whole, object.body);
  EXPECT_EQ(whole.field("content-length"), "300000");
  EXPECT_EQ(whole.field("etag"), "\"1\"");
  EXPECT_EQ(whole.field("x-kept"), "yes");
  EXPECT_EQ(whole.field("cache-status"), "cache-7; fwd=partial; fwd-status=206; stored");
  EXPECT_EQ(asked(origin, 1, "range"), "bytes=100000-");
  EXPECT_EQ(asked(origin, 1, "if-range"), "\"1\"");
  EXPECT_EQ(asked(origin, 1, "if-none-match"), "");
  replica.settle();
  EXPECT_EQ(replica.get("/").field("cache-status"), "cache-7; hit; ttl=60");
  expect_whole(replica.get("/"), object.body);
  expect_part(replica.get("/", range(99'990, 100'010)), object.body, 99'990, 100'010);
  EXPECT_EQ(origin.requests(), 2U);
  EXPECT_EQ(replica.store().entries, 1U);
}

TEST(ReplicaCompletion, AStaleBeginningIsAsGoodWhereTheTagIsTheSame) {
  const Object object{"0123456789"};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  expect_part(replica.get("/", range(0, 3)), object.body, 0, 3);
  replica.settle();
  replica.clock().advance(Milliseconds{100'000});
  const auto whole = replica.get("/");
  expect_whole(whole, object.body);
  EXPECT_EQ(whole.field("age"), "");
  EXPECT_EQ(asked(origin, 1, "range"), "bytes=4-");
  replica.settle();
  EXPECT_EQ(replica.get("/").field("cache-status"), "cache-7; hit; ttl=60");
}

TEST(ReplicaCompletion, OthersWaitForItAndGetTheWhole) {
  const Object object{numbered(300'000)};
  Gate go;
  ScriptedPeer origin([&](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      if (!support::field(request, "if-range").empty()) stage.wait(go);
      stage.send(object.answer_to(request));
    }
  });
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  expect_part(replica.get("/", range(0, 99'999)), object.body, 0, 99'999);
  replica.settle();
  std::vector<support::TestClient> waiting;
  for (unsigned index = 0; index < 20; ++index) {
    waiting.push_back(replica.client());
    waiting.back().send(get_request("/"));
  }
  ASSERT_TRUE(eventually([&] { return origin.requests() == 2; }));
  go.open();
  for (auto& client : waiting) expect_whole(client.read(), object.body);
  EXPECT_EQ(origin.requests(), 2U);
}

TEST(ReplicaCompletion, WhatHasNoStrongTagOrNoBeginningIsAskedForWhole) {
  const std::string dated =
      "Cache-Control: max-age=60\r\nLast-Modified: Sun, 06 Nov 1994 08:00:00 GMT\r\n";
  struct Row {
    Object object;
    std::size_t first;
  };
  for (const Row& row :
       std::vector<Row>{{{"0123456789", "Cache-Control: max-age=60\r\nETag: W/\"1\"\r\n"}, 0},
                        {{"0123456789", dated}, 0},
                        {{"0123456789", std::string(tagged)}, 1}}) {
    ScriptedPeer origin(serves(row.object));
    SomeReplica replica(origin.address());
    expect_part(replica.get("/", range(row.first, 5)), row.object.body, row.first, 5);
    replica.settle();
    const auto whole = replica.get("/");
    expect_whole(whole, row.object.body);
    EXPECT_EQ(whole.field("cache-status"), "cache-7; fwd=partial; fwd-status=200; stored");
    EXPECT_EQ(asked(origin, 1, "range"), "");
    EXPECT_EQ(asked(origin, 1, "if-range"), "");
    replica.settle();
    expect_whole(replica.get("/"), row.object.body);
    EXPECT_EQ(origin.requests(), 2U);
  }
}

// The origin's answer to the request for the rest of "0123456789", of which 0-3 are stored. By then
// it has something else.
struct OddRow {
  std::string what;
  std::string answer;
};

TEST(ReplicaCompletion, WhatDoesNotFitOnIsNeverPutTogether) {
  const Object now{"abcdefghijkl", "Cache-Control: max-age=60\r\nETag: \"2\"\r\n"};
  const std::string other = "Cache-Control: max-age=60\r\nETag: \"2\"\r\n";
  const std::string weak = "Cache-Control: max-age=60\r\nETag: W/\"1\"\r\n";
  const std::vector<OddRow> rows{
      {"another tag", partial("bytes 4-9/10", other, "456789")},
      {"a weak tag", partial("bytes 4-9/10", weak, "456789")},
      {"no tag", partial("bytes 4-9/10", lives, "456789")},
      {"another beginning", partial("bytes 5-9/10", tagged, "56789")},
      {"an earlier beginning", partial("bytes 3-9/10", tagged, "3456789")},
      {"another end", partial("bytes 4-8/10", tagged, "45678")},
      {"another length", partial("bytes 4-10/11", tagged, "456789a")},
      {"an unknown length", partial("bytes 4-9/*", tagged, "456789")},
      {"too long a body", partial("bytes 4-9/10", tagged, "456789a")},
      {"too short a body", partial("bytes 4-9/10", tagged, "45678")},
      {"no range", answer("206 Partial Content", tagged, "456789")},
      {"two ranges",
       partial("bytes 4-9/10", std::string(tagged) + "Content-Range: bytes 4-9/10\r\n", "456789")},
      {"a malformed range", partial("bytes 4-/10", tagged, "456789")},
      {"several ranges",
       partial("bytes 4-9/10",
               std::string(tagged) + "Content-Type: multipart/byteranges; boundary=b\r\n",
               "456789")},
      {"shorter by now",
       answer("416 Range Not Satisfiable", "Content-Range: bytes */3\r\n", "no such range")},
  };
  for (const OddRow& row : rows) {
    ScriptedPeer origin(first_then({Object{"0123456789"}.part(0, 3), row.answer}, now));
    SomeReplica replica(origin.address());
    // The request that asks again finds the one place at the origin free.
    auto settings = replica.settings();
    settings.origin_connections = 1;
    replica.apply(settings);
    expect_part(replica.get("/", range(0, 3)), "0123456789", 0, 3);
    replica.settle();
    const auto whole = replica.get("/");
    EXPECT_EQ(whole.status, 200) << row.what;
    EXPECT_EQ(whole.body, now.body) << row.what;
    EXPECT_EQ(asked(origin, 1, "range"), "bytes=4-") << row.what;
    EXPECT_EQ(asked(origin, 2, "range"), "") << row.what;
    replica.settle();
    expect_whole(replica.get("/"), now.body);
    replica.settle();
    expect_part(replica.get("/", range(0, 3)), now.body, 0, 3);
  }
}

TEST(ReplicaCompletion, A200IsTheWholeThatTheOriginHasNow) {
  const Object now{"abcdefghijkl", "Cache-Control: max-age=60\r\nETag: \"2\"\r\n"};
  ScriptedPeer origin(first_then({Object{"0123456789"}.part(0, 3)}, now));
  SomeReplica replica(origin.address());
  expect_part(replica.get("/", range(0, 3)), "0123456789", 0, 3);
  replica.settle();
  const auto whole = replica.get("/");
  expect_whole(whole, now.body);
  EXPECT_EQ(whole.field("etag"), "\"2\"");
  EXPECT_EQ(whole.field("cache-status"), "cache-7; fwd=partial; fwd-status=200; stored");
  replica.settle();
  expect_part(replica.get("/", range(0, 3)), now.body, 0, 3);
  expect_whole(replica.get("/"), now.body);
  EXPECT_EQ(origin.requests(), 2U);
}

// Without a length nobody can tell beforehand.
TEST(ReplicaCompletion, ARestThatEndsTooSoonIsCutOffAndNotStored) {
  const Object object{"0123456789"};
  for (const std::string rest : {"45678", "456789x"}) {
    ScriptedPeer origin(
        first_then({object.part(0, 3),
                    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 4-9/10\r\n"
                    "Transfer-Encoding: chunked\r\n" +
                        std::string(tagged) + "\r\n" + support::chunked(rest, 3)},
                   object));
    SomeReplica replica(origin.address());
    expect_part(replica.get("/", range(0, 3)), object.body, 0, 3);
    replica.settle();
    const auto broken = replica.get("/");
    EXPECT_EQ(broken.field("content-length"), "10");
    EXPECT_EQ(broken.whole, rest.size() > 6);
    EXPECT_TRUE(object.body.starts_with(broken.body)) << broken.body;
    replica.settle();
    expect_whole(replica.get("/"), object.body);
    EXPECT_EQ(asked(origin, 2, "range"), "bytes=4-");
  }
}

// The rest came with a word against storing it, and was stored.
TEST(ReplicaCompletion, ARestThatMayNotBeStoredIsNot) {
  for (const std::string_view said : {"no-store", "private"}) {
    const Object object{"0123456789", fmt::format("Cache-Control: {}\r\nETag: \"1\"\r\n", said)};
    ScriptedPeer origin(first_then({Object{"0123456789"}.part(0, 3)}, object));
    SomeReplica replica(origin.address());
    expect_part(replica.get("/", range(0, 3)), object.body, 0, 3);
    replica.settle();
    expect_whole(replica.get("/"), object.body);
    replica.settle();
    EXPECT_EQ(replica.store().entries, 0U) << said;
  }
}

// RFC 9111 §3.5
TEST(ReplicaCompletion, ARestThatAnAuthorizedRequestGotWasStored) {
  const Object object{"0123456789"};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address());
  expect_part(replica.get("/", range(0, 3)), object.body, 0, 3);
  replica.settle();
  expect_whole(replica.get("/", "Authorization: x\r\n"), object.body);
  replica.settle();
  EXPECT_EQ(replica.get("/", "Cache-Control: only-if-cached\r\n").status, 504);
  expect_part(replica.get("/", "Cache-Control: only-if-cached\r\n" + range(0, 3)), object.body, 0,
              3);
}

TEST(ReplicaCompletion, WhatIsTooLargeToStoreStreamsWhole) {
  const Object object{numbered(3 * limits::kMiB)};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address(), 8 * limits::kMiB);
  expect_part(replica.get("/", range(0, 99'999)), object.body, 0, 99'999);
  replica.settle();
  for (unsigned count = 0; count < 2; ++count) {
    expect_whole(replica.get("/"), object.body);
    EXPECT_EQ(asked(origin, 1 + count, "range"), "bytes=100000-");
    replica.settle();
    EXPECT_LE(replica.store().used_bytes, limits::kMiB);
    expect_part(replica.get("/", range(5, 99'999)), object.body, 5, 99'999);
  }
  EXPECT_EQ(origin.requests(), 3U);
}

}  // namespace
}  // namespace ringside::cache
