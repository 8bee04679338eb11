#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_replica.h"

namespace ringside::cache {
namespace {

using metrics::Outcome;
using support::always;
using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::RawSocket;
using support::Reply;
using support::ScriptedPeer;
using support::Stage;
using testing::HasSubstr;

TEST(ReplicaFailure, ABodyThatStallsIsCutOffAndNotStored) {
  for (const bool chunked : {false, true}) {
    ScriptedPeer origin([&](Stage& stage) {
      stage.read_request();
      const std::string head =
          "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nConnection: close\r\n";
      if (stage.connection() > 0) {
        stage.send(head + "Content-Length: 5\r\n\r\nwhole");
      } else {
        stage.send(head + (chunked ? "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
                                   : "Content-Length: 10\r\n\r\nhello"));
      }
      stage.stall();
    });
    SomeReplica replica(origin.address());
    auto client = replica.client();
    client.send(get_request("/"));
    EXPECT_THAT(client.read_until("hello"), HasSubstr("200 OK"));
    replica.clock().advance(limits::upstream_io_timeout);
    // By a reset, so that nobody takes it for an end.
    EXPECT_EQ(client.read_to_end(), RawSocket::End::reset);
    replica.settle();
    EXPECT_EQ(replica.store().entries, 0U);
    EXPECT_EQ(replica.get("/").body, "whole");
    EXPECT_EQ(origin.requests(), 2U);
  }
}

TEST(ReplicaFailure, AnOriginThatClosesMidBodyCutsTheClientOff) {
  for (const auto* fields : {"Cache-Control: max-age=60\r\nContent-Length: 10\r\n",
                             "Cache-Control: no-store\r\nContent-Length: 10\r\n"}) {
    Gate close;
    ScriptedPeer origin([&](Stage& stage) {
      stage.read_request();
      stage.send(std::string("HTTP/1.1 200 OK\r\n") + fields + "\r\nhello");
      stage.wait(close);
      stage.close();
    });
    SomeReplica replica(origin.address());
    auto client = replica.client();
    client.send(get_request("/"));
    EXPECT_THAT(client.read_until("hello"), HasSubstr("200 OK"));
    close.open();
    EXPECT_EQ(client.read_to_end(), RawSocket::End::reset);
    replica.settle();
    EXPECT_EQ(replica.store().entries, 0U);
    EXPECT_TRUE(eventually([&] { return replica.store().used_bytes == 0; }));
  }
}

// HTTP/1.0 knows no end of a body of unknown length but the connection's: an orderly one would make
// the part the whole.
TEST(ReplicaFailure, AnHttp10ClientIsNotToldThatAPartIsTheWhole) {
  for (const auto* control : {"max-age=60", "no-store"}) {
    Gate close;
    ScriptedPeer origin([&](Stage& stage) {
      stage.read_request();
      stage.send(std::string("HTTP/1.1 200 OK\r\nCache-Control: ") + control +
                 "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
      stage.wait(close);
      stage.close();
    });
    SomeReplica replica(origin.address());
    auto client = replica.client();
    client.send("GET / HTTP/1.0\r\nHost: a.test\r\n\r\n");
    EXPECT_THAT(client.read_until("hello"), HasSubstr("Connection: close"));
    close.open();
    EXPECT_EQ(client.read_to_end(), RawSocket::End::reset) << control;
  }
}

struct BrokenRow {
  std::string answer;
  std::string error;  // of Proxy-Status
};

TEST(ReplicaFailure, AMalformedOriginIs502AndNothingIsStored) {
  const std::string lives_on = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n";
  const std::vector<BrokenRow> rows{
      {"rubbish\r\n\r\n", "http_protocol_error"},
      {"HTTP/1.1 99 Low\r\n\r\n", "http_protocol_error"},
      {lives_on + "A : b\r\n\r\n", "http_protocol_error"},
      {lives_on + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "http_protocol_error"},
      {lives_on + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "http_protocol_error"},
      {lives_on + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "http_protocol_error"},
      {lives_on + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "http_protocol_error"},
      {lives_on + "X: " + std::string(limits::head_size_bytes, 'x') + "\r\n\r\n",
       "http_response_header_section_size"},
      {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "http_protocol_error"},
      {"HTTP/1.1 200 OK\r\nContent-Le", "connection_terminated"},
      {"", "connection_terminated"},
  };
  for (const BrokenRow& row : rows) {
    ScriptedPeer origin([&](Stage& stage) {
      stage.read_request();
      stage.send(row.answer);
      stage.close();
    });
    SomeReplica replica(origin.address());
    auto client = replica.client();
    const Reply reply = client.get("/");
    EXPECT_EQ(reply.status, 502) << row.answer.substr(0, 99);
    EXPECT_TRUE(reply.whole);
    EXPECT_THAT(reply.field("proxy-status"), HasSubstr("cache-7; error=" + row.error))
        << row.answer.substr(0, 99);
    EXPECT_THAT(reply.field("cache-status"), HasSubstr("cache-7; fwd=uri-miss"));
    EXPECT_EQ(reply.field("cache-status").find("stored"), std::string::npos);
    EXPECT_EQ(reply.field("cache-control"), "no-store");
    EXPECT_EQ(replica.store().entries, 0U);
    EXPECT_EQ(client.get("/").status, 502);  // it asks again, and on the same connection
    EXPECT_GE(origin.requests(), 2U);
    EXPECT_TRUE(replica.counts(Outcome::error, 2));
  }
}

TEST(ReplicaFailure, ARefusingOriginIs502) {
  SomeReplica replica(support::refusing_address());
  auto client = replica.client();
  const Reply reply = client.get("/", "Ringside-Topology: t\r\n");
  EXPECT_EQ(reply.status, 502);
  EXPECT_THAT(reply.field("proxy-status"), HasSubstr("cache-7; error=connection_refused"));
  EXPECT_EQ(reply.field("ringside-outcome"), "error");
  EXPECT_EQ(reply.field("connection"), "");
  EXPECT_EQ(client.ask("HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n").status, 502);
  EXPECT_EQ(client.get("/").status, 502);
}

TEST(ReplicaFailure, ASilentOriginIs504ForLeaderAndFollowers) {
  ScriptedPeer origin([](Stage& stage) {
    stage.read_request();
    stage.stall();
  });
  SomeReplica replica(origin.address());
  std::vector<support::TestClient> waiting;
  for (unsigned index = 0; index < 4; ++index) {
    waiting.push_back(replica.client());
    waiting.back().send(get_request("/"));
  }
  ASSERT_TRUE(eventually([&] { return origin.requests() == 1; }));
  replica.clock().advance(limits::request_deadline);
  for (auto& client : waiting) {
    // Who comes to ask after time was moved has its own time before it.
    ASSERT_TRUE(eventually([&] {
      replica.clock().advance(limits::request_deadline);
      return client.socket().readable(Milliseconds{50});
    }));
    const Reply reply = client.read();
    EXPECT_EQ(reply.status, 504);
    EXPECT_THAT(reply.field("proxy-status"), HasSubstr("error=http_response_timeout"));
  }
}

struct RefusedRow {
  std::string request;
  int status;
};

TEST(ReplicaFailure, LimitsAndMalformedRequestsAreToldAndEndTheConnection) {
  const std::string get = "GET / HTTP/1.1\r\nHost: a.test\r\n";
  const std::vector<RefusedRow> rows{
      {"rubbish\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {get + "A : b\r\n\r\n", 400},
      {get + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"GET /%00 HTTP/1.1\r\nHost: a.test\r\n\r\n", 400},
      {"GET /" + std::string(limits::request_line_size_bytes, 'a') + " HTTP/1.1\r\n", 414},
      {get + "X: " + std::string(limits::hop_head_size_bytes, 'x') + "\r\n\r\n", 431},
      {"GET / HTTP/2.0\r\nHost: a.test\r\n\r\n", 505},
      {get + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: " +
           std::to_string(limits::request_body_size_bytes + 1) + "\r\n\r\n",
       413},
  };
  ScriptedPeer origin([](Stage& stage) {
    stage.read_request();
    stage.stall();
  });
  SomeReplica replica(origin.address());
  for (const RefusedRow& row : rows) {
    auto client = replica.client();
    client.send(row.request);
    const Reply reply = client.read();
    EXPECT_EQ(reply.status, row.status) << row.request.substr(0, 99);
    EXPECT_EQ(reply.field("connection"), "close");
    EXPECT_EQ(reply.field("proxy-status"), "");
    EXPECT_TRUE(reply.whole);
    client.socket().shutdown_send();
    EXPECT_EQ(client.read_to_end(), RawSocket::End::closed);
  }
}

TEST(ReplicaFailure, TooManyFieldsAreRefusedAndOneLessIsNot) {
  ScriptedPeer origin(always(answer("200 OK", lives, "hello")));
  SomeReplica replica(origin.address());
  std::string fields;
  for (std::size_t count = 1; count < limits::hop_head_fields; ++count) fields += "X: y\r\n";
  EXPECT_EQ(replica.get("/", fields).status, 200);
  EXPECT_EQ(replica.get("/", fields + "X: y\r\n").status, 431);
}

TEST(ReplicaFailure, AHeadThatTakesTooLongIs408AndSilenceJustEnds) {
  SomeReplica replica(support::refusing_address());
  auto slow = replica.client();
  slow.send("GET / HT");
  auto silent = replica.client();
  ASSERT_TRUE(eventually([&] { return replica->open_connections() == 2; }));
  Reply reply;
  ASSERT_TRUE(eventually([&] {
    replica.clock().advance(limits::client_head_timeout);
    return slow.socket().readable(Milliseconds{50});
  }));
  // Where the first bytes came only after time had moved, the idle connection's time ran out first.
  reply = slow.read();
  EXPECT_TRUE(reply.status == 408 || reply.status == 0) << reply.status;
  ASSERT_TRUE(eventually([&] {
    replica.clock().advance(limits::client_idle_timeout);
    return silent.socket().readable(Milliseconds{50});
  }));
  std::string nothing;
  EXPECT_EQ(silent.read_to_end(&nothing), RawSocket::End::closed);
  EXPECT_EQ(nothing, "");
}

}  // namespace
}  // namespace ringside::cache
