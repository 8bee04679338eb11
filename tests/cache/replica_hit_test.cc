#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cache/some_replica.h"

namespace ringside::cache {
namespace {

using metrics::Outcome;
using support::always;
using support::answer;
using support::eventually;
using support::get_request;
using support::ScriptedPeer;
using support::Stage;
using support::TestClient;
using testing::HasSubstr;
using testing::Not;

TEST(ReplicaHit, AMissIsStoredAndThenAHit) {
  ScriptedPeer origin(always(
      answer("200 OK", "Cache-Control: max-age=60\r\nX-Kept: yes\r\nConnection: keep-alive\r\n",
             "hello")));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  const auto miss = client.get("/a?b");
  EXPECT_EQ(miss.status, 200);
  EXPECT_EQ(miss.body, "hello");
  EXPECT_TRUE(miss.whole);
  EXPECT_EQ(miss.field("cache-status"), "cache-7; fwd=uri-miss; fwd-status=200; stored");
  EXPECT_EQ(miss.field("age"), "");
  EXPECT_EQ(miss.field("content-length"), "5");
  EXPECT_EQ(miss.field("via"), "1.1 cache-7");
  replica.settle();
  replica.clock().advance(Milliseconds{7'000});
  const auto hit = client.get("/a?b");
  EXPECT_EQ(hit.status, 200);
  EXPECT_EQ(hit.body, "hello");
  EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=53");
  EXPECT_EQ(hit.field("age"), "7");
  EXPECT_EQ(hit.field("content-length"), "5");
  EXPECT_EQ(hit.field("x-kept"), "yes");
  EXPECT_EQ(hit.field("connection"), "");
  EXPECT_EQ(hit.field("ringside-outcome"), "");
  EXPECT_EQ(origin.requests(), 1U);
  EXPECT_EQ(replica.get("/a?c").field("cache-status"),
            "cache-7; fwd=uri-miss; fwd-status=200; stored");
  EXPECT_EQ(origin.requests(), 2U);
  EXPECT_TRUE(replica.counts(Outcome::miss, 2));
  EXPECT_TRUE(replica.counts(Outcome::hit, 1));
}

TEST(ReplicaHit, TheSidecarIsToldMore) {
  ScriptedPeer origin(always(answer("200 OK", lives, "hello")));
  SomeReplica replica(origin.address());
  const std::string told = "Ringside-Topology: t\r\nX-Country: DE\r\nRingside-Extra-Key: DE\r\n";
  const auto miss = replica.get("/a", told);
  EXPECT_EQ(miss.field("ringside-outcome"), "miss");
  EXPECT_EQ(support::field(origin.heads().at(0), "x-country"), "DE");
  EXPECT_THAT(origin.heads().at(0), Not(HasSubstr("Ringside-")));
  replica.settle();
  const auto hit = replica.get("/a", told);
  EXPECT_EQ(hit.field("ringside-outcome"), "hit");
  EXPECT_EQ(hit.field("ringside-near-ttl-ms"), "60000");
  EXPECT_EQ(replica.get("/a", "X-Country: DE\r\n").field("cache-status"),
            "cache-7; fwd=uri-miss; fwd-status=200; stored");
}

TEST(ReplicaHit, AChunkedOriginIsStoredAndHasALengthOnTheHit) {
  const std::string body(300'000, 'c');
  ScriptedPeer origin(
      always("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
             "Transfer-Encoding: chunked\r\n\r\n" +
             support::chunked(body, 7'777)));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  const auto miss = client.get("/");
  EXPECT_EQ(miss.field("transfer-encoding"), "chunked");
  EXPECT_EQ(miss.body, body);
  EXPECT_TRUE(miss.whole);
  replica.settle();
  const auto hit = client.get("/");
  EXPECT_EQ(hit.field("content-length"), "300000");
  EXPECT_EQ(hit.field("transfer-encoding"), "");
  EXPECT_EQ(hit.body, body);
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaHit, ABodyUntilTheOriginClosesIsStored) {
  ScriptedPeer origin([](Stage& stage) {
    stage.read_request();
    stage.send("HTTP/1.0 200 OK\r\nCache-Control: max-age=60\r\n\r\nall of it");
    stage.close();
  });
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "all of it");
  replica.settle();
  const auto hit = replica.get("/");
  EXPECT_EQ(hit.field("content-length"), "9");
  EXPECT_EQ(hit.field("via"), "1.0 cache-7");
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaHit, AnswersHeadFromTheStore) {
  ScriptedPeer origin(always(answer("200 OK", lives, "hello")));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  EXPECT_EQ(client.get("/").body, "hello");
  replica.settle();
  const auto head = client.ask("HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("content-length"), "5");
  EXPECT_EQ(head.field("cache-status"), "cache-7; hit; ttl=60");
  EXPECT_EQ(client.get("/").body, "hello");  // nothing of a body lay in between
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaHit, PassesHeadOnWhereNothingIsStored) {
  ScriptedPeer origin(
      always("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\n"));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  for (unsigned count = 1; count <= 2; ++count) {
    const auto head = client.ask("HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.field("content-length"), "5");
    EXPECT_EQ(origin.requests(), count);
  }
  EXPECT_EQ(origin.connections(), 1U);
}

TEST(ReplicaHit, SpeaksToClientsOfHttp10) {
  const std::string body(100'000, 'o');
  ScriptedPeer origin(
      always("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
             "Transfer-Encoding: chunked\r\n\r\n" +
             support::chunked(body, 10'000)));
  SomeReplica replica(origin.address());
  const auto miss =
      replica.client().ask("GET / HTTP/1.0\r\nHost: a.test\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(miss.field("transfer-encoding"), "");
  EXPECT_EQ(miss.field("connection"), "close");
  EXPECT_EQ(miss.body, body);
  EXPECT_TRUE(miss.whole);
  replica.settle();
  auto client = replica.client();
  const auto hit = client.ask("GET / HTTP/1.0\r\nHost: a.test\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(hit.field("connection"), "keep-alive");
  EXPECT_EQ(hit.body, body);
  const auto last = client.ask("GET / HTTP/1.0\r\nHost: a.test\r\n\r\n");
  EXPECT_EQ(last.field("connection"), "close");
  EXPECT_EQ(last.body, body);
  EXPECT_EQ(client.read_to_end(), support::RawSocket::End::closed);
}

TEST(ReplicaHit, AnswersAClientsConditionsItself) {
  ScriptedPeer origin(always(answer(
      "200 OK", "Cache-Control: max-age=60\r\nETag: \"1\"\r\nContent-Type: a/b\r\n", "hello")));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  // The origin is asked for the whole, whatever the client has.
  const auto first = client.get("/", "If-None-Match: \"1\"\r\n");
  EXPECT_EQ(first.status, 304);
  EXPECT_EQ(support::field(origin.heads().at(0), "if-none-match"), "");
  replica.settle();
  const auto same = client.get("/", "If-None-Match: \"0\", W/\"1\"\r\n");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.field("etag"), "\"1\"");
  EXPECT_EQ(same.field("content-type"), "");
  EXPECT_EQ(same.field("cache-status"), "cache-7; hit; ttl=60");
  EXPECT_EQ(client.get("/", "If-None-Match: \"0\"\r\n").body, "hello");
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaHit, OnlyIfCachedNeverAsksTheOrigin) {
  ScriptedPeer origin(always(answer("200 OK", lives, "hello")));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  const std::string_view only = "Cache-Control: only-if-cached\r\n";
  EXPECT_EQ(client.get("/", only).status, 504);
  EXPECT_EQ(client.get("/", "Range: bytes=0-1\r\nCache-Control: only-if-cached\r\n").status, 504);
  EXPECT_EQ(
      client.ask("HEAD / HTTP/1.1\r\nHost: a.test\r\nCache-Control: only-if-cached\r\n\r\n").status,
      504);
  EXPECT_EQ(origin.requests(), 0U);
  EXPECT_EQ(client.get("/").status, 200);
  replica.settle();
  EXPECT_EQ(client.get("/", only).body, "hello");
}

TEST(ReplicaHit, AColdRangeIsAskedForAsItIsAndStoredAsAPart) {
  ScriptedPeer origin(always(answer(
      "206 Partial Content", "Cache-Control: max-age=60\r\nContent-Range: bytes 0-1/5\r\n", "he")));
  SomeReplica replica(origin.address());
  for (unsigned count = 0; count < 2; ++count) {
    const auto part = replica.get("/", "Range: bytes=0-1\r\n");
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(part.body, "he");
    EXPECT_EQ(part.field("content-range"), "bytes 0-1/5");
    replica.settle();
  }
  EXPECT_EQ(support::field(origin.heads().at(0), "range"), "bytes=0-1");
  EXPECT_EQ(origin.requests(), 1U);
  EXPECT_EQ(replica.store().entries, 1U);
}

// A large body from the store, to a client that takes its time, but takes.
TEST(ReplicaHit, ASlowReaderIsNotCutOffWhileItReads) {
  const std::string body(16'000'000, 's');
  ScriptedPeer origin(always(answer("200 OK", lives, body)));
  SomeReplica replica(origin.address(), 128 * limits::kMiB);
  EXPECT_EQ(replica.get("/").body.size(), body.size());
  replica.settle();
  TestClient slow(replica->address(), 65'536);
  slow.send(get_request("/"));
  std::string got;
  std::size_t since_moved = 0;
  while (got.size() < body.size() && !slow.socket().receive(got, 65'536)) {
    if (got.size() - since_moved < 5'000'000) continue;
    since_moved = got.size();
    replica.clock().advance(Milliseconds{20'000});
  }
  EXPECT_GE(got.size(), body.size());
}

TEST(ReplicaHit, AReaderThatTakesNothingIsCutOff) {
  const std::string body(16'000'000, 's');
  ScriptedPeer origin(always(answer("200 OK", lives, body)));
  SomeReplica replica(origin.address(), 128 * limits::kMiB);
  EXPECT_EQ(replica.get("/").body.size(), body.size());
  replica.settle();
  TestClient stuck(replica->address(), 4'096);
  stuck.send(get_request("/"));
  ASSERT_TRUE(eventually(
      [&] { return replica.counted(Outcome::hit) == 0 && replica->open_connections() == 1; }));
  ASSERT_TRUE(eventually([&] {
    replica.clock().advance(Milliseconds{10'000});
    return replica->open_connections() == 0;
  }));
}

// Set back a day, the clock kept an object fresh for a day.
TEST(ReplicaHit, AClockThatIsSetBackMakesNothingFreshAgain) {
  ScriptedPeer origin(support::always(answer("200 OK", "Cache-Control: max-age=60\r\n", "page")));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "page");
  replica.settle();
  replica.clock().set_back(Milliseconds{Seconds{86'400}});
  replica.clock().advance(Milliseconds{Seconds{40}});
  EXPECT_EQ(replica.get("/").field("age"), "40");
  replica.clock().advance(Milliseconds{Seconds{21}});
  EXPECT_EQ(replica.get("/").body, "page");
  EXPECT_EQ(origin.requests(), 2U);
}

}  // namespace
}  // namespace ringside::cache
