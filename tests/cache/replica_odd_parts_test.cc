#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "tests/cache/ranged_origin.h"

// Origins whose parts are not what they should be, and parts that are too large.
namespace ringside::cache {
namespace {

using support::always;
using support::answer;
using support::Gate;
using support::get_request;
using support::Reply;
using support::ScriptedPeer;
using support::Stage;
using support::TestClient;

struct LieRow {
  std::string what;
  std::string asked;  // field lines
  std::string answer;
};

// Such an answer is passed on as it is, and nothing of it is stored.
TEST(ReplicaOddParts, Rfc9110Section15_3_7WhatIsNotThePartThatWasAskedForIsNotStored) {
  const std::string two_parts =
      std::string(tagged) + "Content-Type: multipart/byteranges; boundary=b\r\n";
  const std::vector<LieRow> rows{
      {"nobody asked", "", partial("bytes 0-4/10", tagged, "01234")},
      {"another part", range(0, 4), partial("bytes 5-9/10", tagged, "56789")},
      {"more than was asked", range(0, 4), partial("bytes 0-5/10", tagged, "012345")},
      {"less than was asked", range(0, 4), partial("bytes 0-3/10", tagged, "0123")},
      {"unknown length", range(0, 4), partial("bytes 0-4/*", tagged, "01234")},
      {"no range", range(0, 4), answer("206 Partial Content", tagged, "01234")},
      {"longer than its range", range(0, 4), partial("bytes 0-4/10", tagged, "012345")},
      {"shorter than its range", range(0, 4), partial("bytes 0-4/10", tagged, "0123")},
      {"beyond its length", range(0, 4), partial("bytes 0-4/4", tagged, "01234")},
      {"another unit", range(0, 4), partial("lines 0-4/10", tagged, "01234")},
      {"two ranges", range(0, 4),
       partial("bytes 0-4/10", std::string(tagged) + "Content-Range: bytes 0-4/10\r\n", "01234")},
      {"several parts", range(0, 4), partial("bytes 0-4/10", two_parts, "01234")},
      {"not satisfiable", range(0, 4),
       answer("416 Range Not Satisfiable", std::string(tagged) + "Content-Range: bytes */0\r\n",
              "none")},
  };
  for (const LieRow& row : rows) {
    ScriptedPeer origin(always(row.answer));
    SomeReplica replica(origin.address());
    auto client = replica.client();
    for (unsigned count = 1; count <= 2; ++count) {
      const auto reply = client.get("/", row.asked);
      EXPECT_EQ(std::to_string(reply.status), row.answer.substr(9, 3)) << row.what;
      EXPECT_TRUE(row.answer.ends_with("\r\n\r\n" + reply.body)) << row.what;
      EXPECT_EQ(reply.field("content-range"), support::field(row.answer, "content-range"))
          << row.what;
      EXPECT_EQ(reply.field("cache-status"),
                fmt::format("cache-7; fwd=uri-miss; fwd-status={}; detail=status", reply.status))
          << row.what;
      EXPECT_EQ(origin.requests(), count) << row.what;
    }
    EXPECT_EQ(replica.store().entries, 0U) << row.what;
  }
}

// Where the length is only known at the end: chunked, or until the origin closes.
TEST(ReplicaOddParts, ABodyThatIsNotAsLongAsItsContentRangeIsNotStored) {
  for (const bool chunked : {true, false}) {
    for (const std::string body : {"0123", "0123456789"}) {
      ScriptedPeer origin([&](Stage& stage) {
        stage.read_request();
        stage.send("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/20\r\n" +
                   std::string(tagged) +
                   (chunked ? "Transfer-Encoding: chunked\r\n\r\n" + support::chunked(body, 3)
                            : "Connection: close\r\n\r\n" + body));
        stage.close();
      });
      SomeReplica replica(origin.address());
      for (std::size_t count = 1; count <= 2; ++count) {
        const Reply reply = replica.get("/", range(0, 4));
        EXPECT_EQ(reply.status, 206);
        EXPECT_EQ(reply.field("content-length"), "5");
        EXPECT_EQ(reply.whole, body.size() > 5);
        EXPECT_TRUE(std::string("01234").starts_with(reply.body)) << reply.body;
        replica.settle();
        EXPECT_EQ(origin.requests(), count);
        EXPECT_EQ(replica.store().entries, 0U);
      }
    }
  }
}

TEST(ReplicaOddParts, A416LeavesThePartThatIsStored) {
  const Object object{"0123456789"};
  ScriptedPeer origin(first_then(
      {object.part(0, 4), answer("416 Range Not Satisfiable", "Content-Range: bytes */4\r\n", "")},
      object));
  SomeReplica replica(origin.address());
  expect_part(replica.get("/", range(0, 4)), object.body, 0, 4);
  replica.settle();
  const auto refused = replica.get("/", range(5, 6));
  EXPECT_EQ(refused.status, 416);
  EXPECT_EQ(refused.field("cache-status"), "cache-7; fwd=partial; fwd-status=416; detail=status");
  expect_part(replica.get("/", range(0, 4)), object.body, 0, 4);
  EXPECT_EQ(origin.requests(), 2U);
}

TEST(ReplicaOddParts, APartThatIsTooLargeToStoreStreams) {
  const Object object{numbered(4 * limits::kMiB)};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address(), 8 * limits::kMiB);
  const std::size_t last = 3 * limits::kMiB;
  for (unsigned count = 1; count <= 2; ++count) {
    expect_part(replica.get("/", range(5, last)), object.body, 5, last);
    EXPECT_EQ(origin.requests(), count);
  }
  replica.settle();
  EXPECT_EQ(replica.store().entries, 0U);
  EXPECT_TRUE(support::eventually([&] { return replica.store().used_bytes == 0; }));
}

// Together they would be too large: the newer one is kept, not the older one for ever.
TEST(ReplicaOddParts, OfPartsThatAreTooLargeTogetherTheNewerStays) {
  const Object object{numbered(2 * limits::kMiB)};
  ScriptedPeer origin(serves(object));
  SomeReplica replica(origin.address(), 8 * limits::kMiB);
  expect_part(replica.get("/", range(0, 699'999)), object.body, 0, 699'999);
  replica.settle();
  for (unsigned count = 0; count < 2; ++count) {
    expect_part(replica.get("/", range(700'000, 1'399'999)), object.body, 700'000, 1'399'999);
    replica.settle();
  }
  EXPECT_EQ(origin.requests(), 2U);
  EXPECT_EQ(replica.store().entries, 1U);
}

// A fast and a slow client of one fetch that is too large to store.
struct LeftBehind {
  std::string field_lines;
  std::string asked;  // the Range of both
  bool gets_the_rest;
};

TEST(ReplicaOddParts, Rfc9110Section13_1_5WhoIsLeftBehindGetsTheRestWhereATagTellsThatItFits) {
  const std::size_t size = 24 * limits::kMiB;
  const std::string bytes = numbered(size);
  for (const LeftBehind& row :
       std::vector<LeftBehind>{{std::string(tagged), "", true},
                               {std::string(tagged), range(1'000, size - 2'000), true},
                               {std::string(lives), "", false}}) {
    const Object object{bytes, row.field_lines};
    Gate go;
    ScriptedPeer origin([&](Stage& stage) {
      while (true) {
        const auto request = stage.read_request();
        stage.wait(go);
        stage.send(object.answer_to(request));
      }
    });
    SomeReplica replica(origin.address(), 8 * limits::kMiB, 1);
    auto fast = replica.client();
    TestClient slow(replica->address(), 65'536);
    fast.send(get_request("/", row.asked));
    ASSERT_TRUE(support::eventually([&] { return origin.requests() == 1; }));
    slow.send(get_request("/", row.asked));
    // By the time of this answer the one core has seen the slow one's request.
    EXPECT_EQ(replica.get("/never", "Cache-Control: only-if-cached\r\n").status, 504);
    go.open();
    const std::size_t first = row.asked.empty() ? 0 : 1'000;
    const std::size_t last = row.asked.empty() ? size - 1 : size - 2'000;
    const auto expected = std::string_view(bytes).substr(first, last - first + 1);
    auto whole = std::async(std::launch::async, [&] { return fast.read().body; });
    EXPECT_TRUE(support::eventually([&] {
      replica.clock().advance(Milliseconds{5});  // the slow one is waited for, for some time
      return whole.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }));
    EXPECT_TRUE(whole.get() == expected);
    const Reply late = slow.read();
    if (!row.gets_the_rest) {
      // Cut off; or all of it by a request of its own, where nothing had been said yet.
      EXPECT_TRUE(expected.starts_with(late.body));
      EXPECT_EQ(late.whole, late.body.size() == expected.size());
      EXPECT_EQ(origin.requests(), late.whole ? 2U : 1U);
      continue;
    }
    EXPECT_EQ(origin.requests(), 2U);
    EXPECT_EQ(late.status, row.asked.empty() ? 200 : 206);
    EXPECT_TRUE(late.whole);
    EXPECT_TRUE(late.body == expected);
    EXPECT_EQ(asked(origin, 1, "if-range"), "\"1\"");
    EXPECT_TRUE(asked(origin, 1, "range").ends_with(fmt::format("-{}", last)));
  }
}

}  // namespace
}  // namespace ringside::cache
