#include <gtest/gtest.h>

#include <random>

#include "tests/cache/some_replica.h"

namespace ringside::cache {
namespace {

using metrics::Outcome;
using support::always;
using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::ScriptedPeer;
using support::Stage;

std::string random_bytes(std::size_t size) {
  std::mt19937 random(7);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

std::string post(std::string_view field_lines, std::string_view body) {
  std::string request("POST /p HTTP/1.1\r\nHost: a.test\r\n");
  return request.append(field_lines).append("\r\n").append(body);
}

// The decoded body of a request as it came.
std::string body_of(const std::string& request) {
  std::size_t at = request.find("\r\n\r\n") + 4;
  if (support::field(request, "transfer-encoding") != "chunked") return request.substr(at);
  std::string body;
  while (true) {
    const std::size_t size = std::stoul(request.substr(at, 16), nullptr, 16);
    at = request.find("\r\n", at) + 2;
    if (size == 0) return body;
    body += request.substr(at, size);
    at += size + 2;
  }
}

TEST(ReplicaPassOn, BodiesPassByteForByteBothWays) {
  const std::string sent = random_bytes(limits::kMiB);
  const std::string returned = random_bytes(limits::kMiB + 1);
  for (const bool chunked_up : {false, true}) {
    for (const bool chunked_down : {false, true}) {
      std::string arrived;
      ScriptedPeer origin([&](Stage& stage) {
        while (true) {
          arrived = body_of(stage.read_request());
          stage.send(chunked_down ? "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                        support::chunked(returned, 70'001)
                                  : answer("201 Created", "", returned));
        }
      });
      SomeReplica replica(origin.address());
      auto client = replica.client();
      for (unsigned count = 0; count < 2; ++count) {
        const auto reply = client.ask(
            chunked_up ? post("Transfer-Encoding: chunked\r\n", support::chunked(sent, 33'333))
                       : post("Content-Length: " + std::to_string(sent.size()) + "\r\n", sent));
        EXPECT_EQ(reply.status, 201);
        EXPECT_TRUE(reply.whole);
        EXPECT_TRUE(reply.body == returned);
        EXPECT_TRUE(arrived == sent);
        EXPECT_EQ(reply.field("cache-status"), "cache-7; fwd=method; fwd-status=201");
        EXPECT_EQ(reply.field("transfer-encoding"), chunked_down ? "chunked" : "");
      }
      EXPECT_EQ(support::field(origin.heads().at(0), "transfer-encoding"),
                chunked_up ? "chunked" : "");
      EXPECT_EQ(origin.connections(), 1U);
      EXPECT_TRUE(replica.counts(Outcome::bypass, 2));
    }
  }
}

TEST(ReplicaPassOn, ASuccessfulUnsafeMethodInvalidates) {
  ScriptedPeer origin([](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      stage.send(request.starts_with("GET") ? answer("200 OK", lives, "page")
                 : request.ends_with("no")  ? answer("500 Internal Server Error", "", "")
                                            : "HTTP/1.1 204 No Content\r\n\r\n");
    }
  });
  SomeReplica replica(origin.address());
  auto client = replica.client();
  EXPECT_EQ(client.get("/p").body, "page");
  replica.settle();
  EXPECT_EQ(client.ask(post("Content-Length: 2\r\n", "no")).status, 500);
  EXPECT_EQ(replica.store().entries, 1U);
  EXPECT_EQ(client.ask(post("Content-Length: 3\r\n", "yes")).status, 204);
  EXPECT_EQ(replica.store().entries, 0U);
  EXPECT_EQ(client.get("/p").field("cache-status"),
            "cache-7; fwd=uri-miss; fwd-status=200; stored");
}

// 1. a GET is being fetched; 2. a POST to the same URI succeeds; 3. the GET's old answer ends.
TEST(ReplicaPassOn, AFetchThatBeganBeforeAnUnsafeMethodIsNotStored) {
  Gate rest;
  ScriptedPeer origin([&](Stage& stage) {
    const auto request = stage.read_request();
    if (request.starts_with("POST")) {
      stage.send(answer("200 OK", "Connection: close\r\n", "done"));
    } else if (stage.connection() == 0) {
      stage.send(
          "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nConnection: close\r\n"
          "Content-Length: 6\r\n\r\nold");
      stage.wait(rest);
      stage.send("...");
    } else {
      stage.send(answer("200 OK", "Cache-Control: max-age=60\r\nConnection: close\r\n", "new"));
    }
    stage.stall();
  });
  SomeReplica replica(origin.address());
  auto reader = replica.client();
  reader.send(get_request("/p"));
  reader.read_until("old");
  EXPECT_EQ(replica.client().ask(post("Content-Length: 0\r\n", "")).status, 200);
  EXPECT_EQ(replica.get("/p").body, "new");  // and does not join it either
  rest.open();
  EXPECT_EQ(reader.read_until("..."), "...");
  ASSERT_TRUE(replica.counts(Outcome::miss, 2));
  EXPECT_EQ(replica.get("/p").body, "new");
}

TEST(ReplicaPassOn, TheBodyWaitsForTheOriginsContinue) {
  for (const bool origin_knows : {true, false}) {
    ScriptedPeer origin([&](Stage& stage) {
      stage.read_head();
      if (origin_knows) stage.send("HTTP/1.1 100 Continue\r\n\r\n");
      stage.send(answer("200 OK", "", stage.read(5)));
      stage.stall();
    });
    SomeReplica replica(origin.address());
    auto client = replica.client();
    client.send(post("Content-Length: 5\r\nExpect: 100-continue\r\n", ""));
    ASSERT_TRUE(support::eventually([&] { return origin.requests() == 1; }));
    EXPECT_EQ(support::field(origin.heads().at(0), "expect"), "100-continue");
    // One that knows nothing of it gets the body when its time is over, which may begin only after
    // it has seen the head.
    ASSERT_TRUE(support::eventually([&] {
      if (!origin_knows) replica.clock().advance(limits::continue_timeout + Milliseconds{1});
      return client.socket().readable(Milliseconds{50});
    }));
    EXPECT_EQ(client.read().status, 100);
    client.send("hello");
    EXPECT_EQ(client.read().body, "hello");
  }
}

TEST(ReplicaPassOn, InterimAnswersArePassedOn) {
  ScriptedPeer origin(
      always("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" +
             answer("200 OK", "Cache-Control: no-store\r\n", "final")));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  const auto early = client.get("/");
  EXPECT_EQ(early.status, 103);
  EXPECT_EQ(early.field("link"), "</x>");
  EXPECT_EQ(client.read().status, 102);
  EXPECT_EQ(client.read().body, "final");
  EXPECT_EQ(replica.client().ask("GET / HTTP/1.0\r\nHost: a.test\r\n\r\n").body, "final");
}

TEST(ReplicaPassOn, AnsweredHere) {
  ScriptedPeer origin(always(answer("200 OK", lives, "final")));
  SomeReplica replica(origin.address());
  const auto ask = [&](std::string_view method, std::string_view lines) {
    std::string request(method);
    request.append(" /a HTTP/1.1\r\nHost: a.test\r\n").append(lines).append("\r\n");
    return replica.client().ask(request);
  };
  const auto traced = ask("TRACE", "");
  EXPECT_EQ(traced.status, 405);
  EXPECT_NE(traced.field("allow"), "");
  const auto options = ask("OPTIONS", "Max-Forwards: 0\r\n");
  EXPECT_EQ(options.status, 200);
  EXPECT_NE(options.field("allow"), "");
  EXPECT_EQ(origin.requests(), 0U);
  EXPECT_EQ(ask("GET", "").status, 200);
  const auto own = support::field(origin.heads().at(0), "via");
  EXPECT_EQ(ask("GET", "Via: 1.0 other, " + own + "\r\n").status, 508);
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaPassOn, PipelinedRequestsAreAnsweredInOrder) {
  ScriptedPeer origin([](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      const auto from = request.find('/');
      const auto path = request.substr(from, request.find(' ', from) - from);
      stage.send(answer("200 OK", path == "/2" ? "Cache-Control: no-store\r\n" : lives, path));
    }
  });
  SomeReplica replica(origin.address());
  auto client = replica.client();
  std::string requests;
  for (const auto* path : {"/1", "/2", "/3", "/1"}) requests += get_request(path);
  requests += "HEAD /1 HTTP/1.1\r\nHost: a.test\r\n\r\n" + post("Content-Length: 1\r\n", "x") +
              get_request("/4");
  client.send(requests);
  for (const auto* path : {"/1", "/2", "/3", "/1"}) EXPECT_EQ(client.read().body, path);
  EXPECT_EQ(client.read("HEAD").field("content-length"), "2");
  EXPECT_EQ(client.read().body, "/p");
  EXPECT_EQ(client.read().body, "/4");
}

TEST(ReplicaPassOn, OriginConnectionsAreUsedAgain) {
  ScriptedPeer origin(always(answer("200 OK", "Cache-Control: no-store\r\n", "hello")));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  for (unsigned count = 0; count < 20; ++count) EXPECT_EQ(client.get("/").body, "hello");
  EXPECT_EQ(origin.connections(), 1U);
  EXPECT_EQ(origin.requests(), 20U);
}

TEST(ReplicaPassOn, AStalePooledConnectionIsRepeatedOnceUnseen) {
  for (const bool with_reset : {false, true}) {
    ScriptedPeer origin([&](Stage& stage) {
      stage.read_request();
      stage.send(
          answer("200 OK", "Cache-Control: no-store\r\n", std::to_string(stage.connection())));
      stage.read_request();  // and gives it no answer
      if (with_reset) stage.reset();
      stage.close();
    });
    SomeReplica replica(origin.address());
    auto client = replica.client();
    EXPECT_EQ(client.get("/").body, "0");
    EXPECT_EQ(client.get("/").body, "1");
    EXPECT_EQ(origin.connections(), 2U);
    EXPECT_EQ(origin.requests(), 3U);
    EXPECT_EQ(client.get("/").body, "2");
  }
}

TEST(ReplicaPassOn, ARequestWithABodyIsNotRepeated) {
  ScriptedPeer origin([](Stage& stage) {
    stage.read_request();
    if (stage.connection() > 0) stage.close();
    stage.send(answer("200 OK", "", "first"));
    stage.read_request();
    stage.close();
  });
  SomeReplica replica(origin.address());
  auto client = replica.client();
  EXPECT_EQ(client.ask(post("Content-Length: 1\r\n", "x")).status, 200);
  EXPECT_EQ(client.ask(post("Content-Length: 1\r\n", "y")).status, 502);
  EXPECT_EQ(origin.requests(), 2U);
}

TEST(ReplicaPassOn, AnAnswerBeforeTheBodysEndEndsTheConnection) {
  ScriptedPeer origin([](Stage& stage) {
    stage.read_head();
    stage.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stage.reset();
  });
  SomeReplica replica(origin.address());
  auto client = replica.client();
  client.send(post("Content-Length: 10000000\r\n", std::string(1000, 'x')));
  ASSERT_TRUE(eventually([&] { return origin.requests() == 1; }));
  for (unsigned count = 0; count < 200 && client.send(std::string(50'000, 'x')); ++count) {
  }
  const auto reply = client.read();
  EXPECT_TRUE(reply.status == 413 || reply.status == 502 || reply.status == 0) << reply.status;
  EXPECT_EQ(reply.field("connection"), reply.status == 0 ? "" : "close");
}

// An upload that takes longer than the origin may take for an answer, at a rate that clients may
// have.
TEST(ReplicaPassOn, ASlowUploadIsNotCutOffWhileItMoves) {
  constexpr std::size_t piece_size_bytes = 9 * limits::upload_rate_least_bytes_s;
  std::atomic<std::size_t> arrived{0};
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_head();
    while (arrived < 10 * piece_size_bytes) arrived.fetch_add(stage.read(1).size());
    stage.send(answer("200 OK", "", "thanks"));
    stage.stall();
  });
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  WheelWatch wheel(replica);
  auto client = replica.client();
  client.send(post("Content-Length: " + std::to_string(10 * piece_size_bytes) + "\r\n", ""));
  const std::string piece(piece_size_bytes, 'x');
  for (std::size_t sent = 1; sent <= 9; ++sent) {
    client.send(piece);
    ASSERT_TRUE(eventually([&] { return arrived == sent * piece_size_bytes; }));
    replica.clock().advance(Milliseconds{9'000});
  }
  wheel.expect_turned();
  client.send(piece);
  EXPECT_EQ(client.read().body, "thanks");
}

// Longer than a client may take for its head, shorter than the origin may take for its answer.
TEST(ReplicaPassOn, ASlowAnswerIsNotLostToTheClientsOwnDeadline) {
  Gate go;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.wait(go);
    stage.send(answer("200 OK", "Cache-Control: no-store\r\n", "late"));
    stage.stall();
  });
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  auto patient = replica.settings();
  patient.first_byte_timeout = patient.request_deadline = Milliseconds{1'000'000};
  replica.apply(patient);
  WheelWatch wheel(replica);
  auto client = replica.client();
  client.send(get_request("/"));
  ASSERT_TRUE(eventually([&] { return origin.requests() == 1; }));
  replica.clock().advance(Milliseconds{100'000});
  wheel.expect_turned();
  go.open();
  EXPECT_EQ(client.read().body, "late");
}

}  // namespace
}  // namespace ringside::cache
