#include <gtest/gtest.h>

#include <future>
#include <random>
#include <string>
#include <vector>

#include "tests/sidecar/some_sidecar.h"

namespace ringside::sidecar {
namespace {

using metrics::Outcome;
using support::always;
using support::eventually;
using support::Gate;
using support::RawSocket;
using support::ScriptedPeer;
using support::Stage;

std::string random_bytes(std::size_t size) {
  std::mt19937 random(20240601);
  std::string bytes(size, ' ');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

// The data in a body of the chunked coding.
std::string unchunked(std::string_view body) {
  std::string data;
  while (true) {
    const auto line = body.find("\r\n");
    if (line == std::string_view::npos) return data + " and no end";
    const std::size_t size = std::stoul(std::string(body.substr(0, line)), nullptr, 16);
    if (size == 0) return data;
    data.append(body.substr(line + 2, size));
    body.remove_prefix(line + 2 + size + 2);
  }
}

// A replica that takes one upload after the other.
struct Taking {
  ScriptedPeer::Script script() {
    return [this](Stage& stage) {
      while (true) {
        const auto request = stage.read_request();
        const auto end = request.find("\r\n\r\n") + 4;
        head = request.substr(0, end);
        body = request.substr(end);
        stage.send(hit_of("cache-0"));
      }
    };
  }
  std::string head;
  std::string body;
};

TEST(Streaming, UploadsArriveAsTheyAre) {
  Taking taking;
  const ScriptedPeer replica(taking.script());
  SomeSidecar sidecar({replica.address()});
  auto client = sidecar.client();
  for (const std::size_t size : {0UL, 1UL, 70'000UL, 1'048'576UL}) {
    const auto body = random_bytes(size);
    EXPECT_EQ(client.ask(post("/", body)).status, 200);
    EXPECT_EQ(support::field(taking.head, "content-length"), std::to_string(size));
    EXPECT_EQ(support::field(taking.head, "transfer-encoding"), "");
    EXPECT_TRUE(taking.body == body) << size;

    EXPECT_EQ(client
                  .ask("POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n" +
                       support::chunked(body, 7'001))
                  .status,
              200);
    EXPECT_EQ(support::field(taking.head, "content-length"), "");
    EXPECT_EQ(support::field(taking.head, "transfer-encoding"), "chunked");
    EXPECT_TRUE(unchunked(taking.body) == body) << size;
  }
  EXPECT_EQ(sidecar.totals().of("ringside_connections_total"), 1U);
}

TEST(Streaming, DownloadsArriveAsTheyAre) {
  const auto body = random_bytes(1'500'000);
  const std::string head = "HTTP/1.1 200 OK\r\nRingside-Outcome: hit\r\n";
  for (const auto& [framing, bytes] : std::vector<std::pair<std::string, std::string>>{
           {"Content-Length: 1500000\r\n\r\n", body},
           {"Transfer-Encoding: chunked\r\n\r\n", support::chunked(body, 10'007)},
           {"\r\n", body}}) {
    const std::string answer = head + framing + bytes;
    const ScriptedPeer replica([&](Stage& stage) {
      stage.read_request();
      stage.send(answer);
    });
    SomeSidecar sidecar({replica.address()});
    auto client = sidecar.client();
    for (int i = 0; i < 2; ++i) {  // The second on the same connection of the client.
      const auto reply = client.get("/");
      EXPECT_EQ(reply.status, 200);
      EXPECT_TRUE(reply.whole) << framing;
      EXPECT_TRUE(reply.body == body) << framing;
      const bool length_known = framing.starts_with("Content-Length");
      EXPECT_EQ(reply.field("content-length"), length_known ? "1500000" : "");
      EXPECT_EQ(reply.field("transfer-encoding"), length_known ? "" : "chunked");
    }
    // HTTP/1.0 knows no chunks.
    const auto old = sidecar.ask("GET / HTTP/1.0\r\nHost: a.test\r\n\r\n");
    EXPECT_EQ(old.field("transfer-encoding"), "");
    EXPECT_EQ(old.field("connection"), "close");
    EXPECT_TRUE(old.whole) << framing;
    EXPECT_TRUE(old.body == body) << framing;
    EXPECT_TRUE(sidecar.will_count(3, Outcome::hit, "cache-0"));
    EXPECT_TRUE(eventually([&] {  // bytes are counted last
      return sidecar.totals().of("ringside_response_bytes_total", Outcome::hit) == 3 * body.size();
    }));
  }
}

TEST(Streaming, AnswersWithoutBodyDoNotWaitForOne) {
  const ScriptedPeer replica([](Stage& stage) {
    while (true) {
      const auto target = target_of(stage.read_request());
      if (target == "/head") stage.send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n");
      if (target == "/204") stage.send("HTTP/1.1 204 No Content\r\n\r\n");
      if (target == "/304") stage.send("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n");
      if (target == "/103") {
        stage.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + hit_of("cache-0"));
      }
    }
  });
  SomeSidecar sidecar({replica.address()});
  auto client = sidecar.client();
  const auto head = client.ask("HEAD /head HTTP/1.1\r\nHost: a.test\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("content-length"), "99");
  EXPECT_EQ(client.get("/204").status, 204);
  EXPECT_EQ(client.get("/304", "If-None-Match: \"x\"\r\n").status, 304);
  EXPECT_EQ(client.get("/103").status, 103);
  EXPECT_EQ(client.read().status, 200);
  EXPECT_EQ(replica.connections(), 1U);
}

TEST(Streaming, AnOldClientMayKeepItsConnection) {
  const ScriptedPeer replica(always(hit_of("cache-0")));
  SomeSidecar sidecar({replica.address()});
  auto client = sidecar.client();
  for (int i = 0; i < 2; ++i) {
    const auto reply =
        client.ask("GET / HTTP/1.0\r\nHost: a.test\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.field("connection"), "keep-alive");
  }
  EXPECT_EQ(client.ask("GET / HTTP/1.0\r\nHost: a.test\r\n\r\n").field("connection"), "close");
  EXPECT_EQ(client.read_to_end(), RawSocket::End::closed);
}

TEST(Streaming, AHeadIsNotKeptBackForItsBody) {
  Gate go_on;
  const ScriptedPeer replica([&](Stage& stage) {
    stage.read_request();
    stage.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
    stage.wait(go_on);
    stage.send("body");
  });
  SomeSidecar sidecar({replica.address()});
  auto client = sidecar.client();
  client.send(support::get_request("/"));
  EXPECT_TRUE(client.read_until("\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
  go_on.open();
  EXPECT_EQ(client.read_until("body"), "body");
}

TEST(Streaming, HalfABodyIsNeverTakenForAWholeOne) {
  for (const std::string framing :
       {"Content-Length: 1000\r\n\r\n0123", "Transfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n",
        "Transfer-Encoding: chunked\r\n\r\n8\r\n0123"}) {
    Gate go_on;
    const ScriptedPeer replica([&](Stage& stage) {
      stage.read_request();
      stage.send("HTTP/1.1 200 OK\r\n" + framing);
      stage.wait(go_on);
    });
    SomeSidecar sidecar({replica.address()});
    auto client = sidecar.client();
    client.send(support::get_request("/"));
    EXPECT_NE(client.read_until("0123").find("200 OK"), std::string::npos);
    go_on.open();
    std::string rest;
    EXPECT_EQ(client.read_to_end(&rest), RawSocket::End::reset) << framing;
    EXPECT_TRUE(rest.empty() || rest == "\r\n") << rest;
    EXPECT_EQ(replica.requests(), 1U);
    EXPECT_EQ(sidecar.errors(ErrorSource::peer), 1U);
  }
}

TEST(Streaming, AReplicaThatFallsSilentInABodyIsLeft) {
  const ScriptedPeer replica([](Stage& stage) {
    stage.read_request();
    stage.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n0123");
    stage.stall();
  });
  SomeSidecar sidecar({replica.address()});
  auto client = sidecar.client();
  client.send(support::get_request("/"));
  client.read_until("0123");
  auto ended = std::async(std::launch::async, [&] { return client.read_to_end(); });
  EXPECT_TRUE(eventually([&] {
    sidecar.clock().advance(limits::upstream_io_timeout / 10);
    return sidecar.errors(ErrorSource::peer) == 1;
  }));
  EXPECT_EQ(ended.get(), RawSocket::End::reset);
}

TEST(Streaming, PipelinedRequestsAreAnsweredInOrder) {
  const ScriptedPeer replica([](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      stage.send(hit_of("cache-0", target_of(request) + request.substr(request.find("\r\n\r\n"))));
    }
  });
  SomeSidecar sidecar({replica.address()});
  auto client = sidecar.client();
  std::string requests;
  for (int i = 0; i < 20; ++i) {
    const std::string target = "/" + std::to_string(i);
    requests += i % 2 == 0 ? support::get_request(target) : post(target, "upload" + target);
  }
  client.send(requests);
  for (int i = 0; i < 20; ++i) {
    const auto reply = client.read();
    const std::string target = "/" + std::to_string(i);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, target + "\r\n\r\n" + (i % 2 == 0 ? "" : "upload" + target));
  }
}

TEST(Streaming, AClientThatAsksIsToldToContinue) {
  for (const bool replica_says_so : {true, false}) {
    const ScriptedPeer replica([&](Stage& stage) {
      stage.read_head();
      if (replica_says_so) stage.send("HTTP/1.1 100 Continue\r\n\r\n");
      stage.send(hit_of("cache-0", stage.read(4)));
      stage.read_head();
      stage.send(hit_of("cache-0"));
    });
    SomeSidecar sidecar({replica.address()});
    auto client = sidecar.client();
    client.send(
        "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    ASSERT_TRUE(eventually([&] { return replica.requests() == 1; }));
    EXPECT_EQ(support::field(replica.heads().at(0), "expect"), "100-continue");
    // The wait may begin only after the replica has seen the head.
    ASSERT_TRUE(eventually([&] {
      if (!replica_says_so) sidecar.clock().advance(limits::continue_timeout + Milliseconds{1});
      return client.socket().readable(Milliseconds{50});
    }));
    EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("body");
    EXPECT_EQ(client.read().body, "body");
    EXPECT_EQ(client.get("/").status, 200);
  }
}

// RFC 9110 §10.1.1: the body that was refused is never asked for.
TEST(Streaming, AReplicaThatRefusesTheBodyIsHeard) {
  const ScriptedPeer replica([](Stage& stage) {
    stage.read_head();
    stage.send(support::answer("417 Expectation Failed", "", "no"));
    stage.stall();
  });
  SomeSidecar sidecar({replica.address()});
  auto client = sidecar.client();
  const auto reply = client.ask(
      "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(reply.status, 417);
  EXPECT_EQ(reply.field("connection"), "close");
}

TEST(Streaming, AClientThatAsksIsNotToldToContinueForNobody) {
  SomeSidecar sidecar({support::refusing_address()});
  auto client = sidecar.client();
  const auto reply = client.ask(
      "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(reply.status, 503);  // and no 100 before
  EXPECT_EQ(reply.field("connection"), "close");
  EXPECT_EQ(client.read_to_end(), RawSocket::End::closed);
}

TEST(Streaming, AnUploadThatTheClientBreaksOffIsOneErrorOfItsOwn) {
  const ScriptedPeer replica([](Stage& stage) {
    stage.read_head();
    stage.read_to_end();
  });
  SomeSidecar sidecar({replica.address()});
  auto client = sidecar.client();
  client.send("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10\r\n\r\n012");
  client.socket().shutdown_send();
  EXPECT_EQ(client.read().status, 400);
  EXPECT_TRUE(sidecar.will_count(1, Outcome::error, ""));
  EXPECT_EQ(sidecar.errors(ErrorSource::client), 1U);
  EXPECT_EQ(sidecar.errors(ErrorSource::peer), 0U);
}

TEST(Streaming, AnEarlyAnswerToAnUploadIsWorthMoreThanTheError) {
  const ScriptedPeer replica([](Stage& stage) {
    stage.read_head();
    stage.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stage.read_to_end();
  });
  SomeSidecar sidecar({replica.address()});
  EXPECT_EQ(sidecar.ask(post("/", random_bytes(100'000))).status, 413);
}

}  // namespace
}  // namespace ringside::sidecar
