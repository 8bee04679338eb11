#include "k8s/api_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/limits.h"
#include "tests/support/fake_api_server.h"
#include "tests/support/scripted_peer.h"

namespace ringside::k8s {
namespace {

using namespace std::chrono_literals;
using support::always;
using support::answer;
using support::FakeApiServer;
using support::field;
using support::ScriptedPeer;
using support::Stage;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const Question question{"list", "statefulsets.apps", "shop"};

Access plain_access(const Endpoint& server) {
  Access access;
  access.server = server;
  access.tls = false;
  access.origin = "the test";
  return access;
}

// Its kernel answers nobody any more: the queue of who was not accepted yet is full.
class DeafListener {
 public:
  DeafListener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof to;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&to), size), 0);
    EXPECT_EQ(::listen(socket_.get(), 0), 0);
    EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&to), &size), 0);
    port_ = ntohs(to.sin_port);
    queued_ = support::RawSocket::connect(address());
  }
  [[nodiscard]] Endpoint address() const { return {"127.0.0.1", port_}; }
  // Until this process has a socket that waits for the connection.
  void wait_for_client() const {
    const std::string row = fmt::format("0100007F:{:04X} 02 ", port_);  // SYN_SENT
    const auto is_there = [&] {
      std::ifstream table("/proc/net/tcp");
      const std::string rows((std::istreambuf_iterator<char>(table)), {});
      return rows.find(row) != std::string::npos;
    };
    while (!is_there()) std::this_thread::sleep_for(1ms);
  }

 private:
  support::Descriptor socket_;
  std::uint16_t port_ = 0;
  support::RawSocket queued_;
};

class ApiClientTest : public testing::Test {
 protected:
  ApiClientTest() { std::signal(SIGPIPE, SIG_IGN); }

  // What comes of one get.
  Failure failure_of_get(const Access& access) {
    ApiClient client(access, pace);
    const auto got = client.get("/apis", question);
    EXPECT_FALSE(got) << *got;
    return got ? Failure() : got.error();
  }
  Failure failure_of_script(ScriptedPeer::Script script) {
    ScriptedPeer server(std::move(script));
    return failure_of_get(plain_access(server.address()));
  }
  // The script has to wait for its request, or a reset takes its answer away.
  Failure failure_of_answer(const std::string& bytes) {
    return failure_of_script([bytes](Stage& stage) {
      stage.read_request();
      stage.send(bytes);
    });
  }

  Pace pace;
};

TEST_F(ApiClientTest, AsksAsItShould) {
  ScriptedPeer server(always(answer("200 OK", "", "[]")));
  Access access = plain_access(server.address());
  access.base_path = "/prefix";
  access.token = "abc.def\n";
  ApiClient client(access, pace);
  const auto got = client.get("/apis/apps/v1?fieldSelector=a%3Db", question);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, "[]");
  const std::string head = server.heads().at(0);
  EXPECT_THAT(head, HasSubstr("GET /prefix/apis/apps/v1?fieldSelector=a%3Db HTTP/1.1\r\n"));
  EXPECT_EQ(field(head, "Host"), server.address().text());
  EXPECT_EQ(field(head, "Authorization"), "Bearer abc.def");
  EXPECT_EQ(field(head, "User-Agent"), "ringside/" RINGSIDE_VERSION);
  EXPECT_EQ(field(head, "Accept-Encoding"), "identity");
}

TEST_F(ApiClientTest, ATokenFileIsReadWithEachRequest) {
  const std::string path = testing::TempDir() + "ringside-token-" + std::to_string(::getpid());
  std::ofstream(path) << "first\n";
  ScriptedPeer server([](Stage& stage) {
    const bool is_new = field(stage.read_request(), "Authorization") == "Bearer second";
    stage.send(
        is_new ? answer("200 OK", "", "in")
               : answer("401 Unauthorized", "", FakeApiServer::status_body(401, "Unauthorized")));
  });
  Access access = plain_access(server.address());
  access.token_file = path;
  access.token = "unused";
  ApiClient client(access, pace);
  const auto first = client.get("/", question);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().reason, FailureReason::unauthorized);
  EXPECT_THAT(first.error().message, Not(HasSubstr("first")));
  std::ofstream(path) << "second\n";
  EXPECT_TRUE(client.get("/", question));
  for (const std::string content : {"", "two words", "three\x01"}) {
    std::ofstream(path) << content;
    const auto refused = client.get("/", question);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, Not(HasSubstr("words")));
  }
  std::remove(path.c_str());
  EXPECT_THAT(client.get("/", question).error().message, HasSubstr(path));
  EXPECT_EQ(server.requests(), 2U);
}

TEST_F(ApiClientTest, ATokenIsNotSentWhereOthersCouldReadIt) {
  Access access = plain_access({"192.0.2.1", 80});
  access.token = "abc";
  const Failure failure = failure_of_get(access);
  EXPECT_EQ(failure.reason, FailureReason::other);
  EXPECT_THAT(failure.message, HasSubstr("https://"));
}

TEST_F(ApiClientTest, NamesAreLookedUp) {
  ScriptedPeer server(always(answer("200 OK", "", "in")));
  ApiClient client(plain_access({"localhost", server.address().port}), pace);
  const auto got = client.get("/", question);
  ASSERT_TRUE(got) << got.error().message;
}

TEST_F(ApiClientTest, StatusesAreFailures) {
  struct Case {
    std::string status;
    FailureReason reason;
  };
  for (const Case& each :
       {Case{"401 No", FailureReason::unauthorized}, Case{"403 No", FailureReason::forbidden},
        Case{"404 No", FailureReason::not_found}, Case{"410 No", FailureReason::gone},
        Case{"429 No", FailureReason::throttled}, Case{"500 No", FailureReason::other},
        Case{"302 Found", FailureReason::other}}) {
    const Failure failure =
        failure_of_answer(answer(each.status, "Location: http://192.0.2.1/\r\n", "no"));
    EXPECT_EQ(failure.reason, each.reason) << each.status << ": " << failure.message;
  }
  EXPECT_EQ(failure_of_answer(answer("429 No", "Retry-After: 7\r\n", "{}")).retry_after, 7'000ms);
  EXPECT_EQ(failure_of_answer("HTTP/1.1 204 No Content\r\n\r\n").reason, FailureReason::other);
  // The status counts, whatever becomes of the body.
  EXPECT_EQ(failure_of_answer("HTTP/1.1 403 No\r\nContent-Length: 100\r\n\r\nx").reason,
            FailureReason::forbidden);
  EXPECT_EQ(failure_of_answer("HTTP/1.1 403 No\r\n\r\n" + std::string(1'000'000, 'x')).reason,
            FailureReason::forbidden);
}

TEST_F(ApiClientTest, WhatIsNoWholeAnswerIsUnreachable) {
  // Short where the peer is silent; long where it acts, which may take it a while on a busy
  // machine.
  struct Case {
    std::string words;
    std::chrono::milliseconds answer_timeout;
    ScriptedPeer::Script script;
  };
  const std::string half = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc";
  const auto sends = [](std::string bytes, bool waits) {
    return [bytes = std::move(bytes), waits](Stage& stage) {
      stage.read_request();
      stage.send(bytes);
      if (waits) stage.stall();
    };
  };
  const auto drips = [](Stage& stage) {
    stage.read_request();
    stage.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    const support::Gate never;
    while (true) {
      stage.send("x");
      static_cast<void>(never.wait(1ms));
    }
  };
  const auto resets = [](Stage& stage) {
    stage.read_request();
    stage.reset();
  };
  for (const Case& each : {Case{"closed the connection", 20s, sends("", false)},
                           Case{"in time", 20ms, sends("", true)},
                           Case{"closed the connection", 20s, sends(half, false)},
                           Case{"in time", 20ms, sends(half, true)}, Case{"in time", 20s, drips},
                           Case{"broke", 20s, resets}}) {
    pace.answer_timeout = each.answer_timeout;
    pace.answer_whole = each.words == "in time" ? 200ms : 20s;
    const Failure failure = failure_of_script(each.script);
    EXPECT_EQ(failure.reason, FailureReason::unreachable);
    EXPECT_THAT(failure.message, HasSubstr(each.words));
  }
  const Failure refused = failure_of_get(plain_access(support::refusing_address()));
  EXPECT_EQ(refused.reason, FailureReason::unreachable);
  EXPECT_THAT(refused.message, HasSubstr("nothing listens there"));
}

TEST_F(ApiClientTest, WhatIsNoHttpIsTold) {
  const Failure failure = failure_of_answer("SSH-2.0-OpenSSH_9.2p1\r\n");
  EXPECT_EQ(failure.reason, FailureReason::unreachable);  // httplib does not tell the two apart
  EXPECT_THAT(failure.message, HasSubstr("no HTTP"));
}

TEST_F(ApiClientTest, AnEndlessListIsRefused) {
  const Failure failure = failure_of_script([](Stage& stage) {
    stage.read_request();
    stage.send(FakeApiServer::watch_head());
    const std::string chunk = FakeApiServer::chunk(std::string(1'000'000, ' '));
    while (true) stage.send(chunk);
  });
  EXPECT_EQ(failure.reason, FailureReason::malformed);
  EXPECT_THAT(failure.message, HasSubstr(std::to_string(limits::api_answer_size_bytes)));
}

TEST_F(ApiClientTest, AWatchIsToldPieceByPiece) {
  support::Gate go_on;
  ScriptedPeer server([&go_on](Stage& stage) {
    stage.read_request();
    stage.send(FakeApiServer::watch_head() + FakeApiServer::chunk("one"));
    stage.wait(go_on);
    stage.send(support::chunked("two", 1));
  });
  ApiClient client(plain_access(server.address()), pace);
  std::vector<std::string> pieces;
  const auto watched = client.watch("/", question, [&](std::string_view piece) {
    pieces.emplace_back(piece);
    if (piece == "one") go_on.open();
    return true;
  });
  EXPECT_TRUE(watched) << watched.error().message;
  EXPECT_THAT(pieces, ElementsAre("", "one", "t", "w", "o"));
}

TEST_F(ApiClientTest, AWatchEndsWhereItsTakerHasEnough) {
  ScriptedPeer server([](Stage& stage) {
    stage.read_request();
    stage.send(FakeApiServer::watch_head() + FakeApiServer::chunk("one"));
    stage.stall();
  });
  ApiClient client(plain_access(server.address()), pace);
  EXPECT_TRUE(client.watch("/", question, [](std::string_view piece) { return piece.empty(); }));
  EXPECT_TRUE(client.watch("/", question, [](std::string_view) { return false; }));
}

TEST_F(ApiClientTest, ASilentWatchIsGivenUp) {
  pace.watch_silence = 10ms;
  ScriptedPeer server([](Stage& stage) {
    stage.read_request();
    stage.send(FakeApiServer::watch_head());
    stage.stall();
  });
  ApiClient client(plain_access(server.address()), pace);
  const auto watched = client.watch("/", question, [](std::string_view) { return true; });
  ASSERT_FALSE(watched);
  EXPECT_EQ(watched.error().reason, FailureReason::unreachable);
}

// A test that hangs here is ended by ctest.
TEST_F(ApiClientTest, StopEndsWhateverWaits) {
  pace.connect_timeout = 1h;
  pace.answer_timeout = 1h;
  struct Case {
    std::string head;  // nothing: silent from the start
    bool tls;
  };
  const std::string half = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc";
  for (const Case& each : {Case{"", false}, Case{half, false}, Case{"", true}}) {
    support::Gate began;
    ScriptedPeer server([&](Stage& stage) {
      if (!each.tls) stage.read_request();
      stage.send(each.head);
      began.open();
      stage.stall();
    });
    Access access = plain_access(server.address());
    access.tls = each.tls;
    ApiClient client(access, pace);
    std::thread waits([&] {
      const auto got = client.get("/", question);
      EXPECT_FALSE(got);
      EXPECT_EQ(got.error().message, "stopped");
    });
    EXPECT_TRUE(began.wait());
    client.stop();
    waits.join();
    EXPECT_FALSE(client.get("/", question));
    EXPECT_EQ(server.connections(), 1U);
  }
}

TEST_F(ApiClientTest, StopEndsAConnectionThatIsBeingMade) {
  pace.connect_timeout = 1h;
  const DeafListener deaf;
  ApiClient client(plain_access(deaf.address()), pace);
  std::thread waits([&] { EXPECT_EQ(client.get("/", question).error().message, "stopped"); });
  deaf.wait_for_client();
  client.stop();
  waits.join();
}

TEST_F(ApiClientTest, StopMayComeAtAnyMoment) {
  ScriptedPeer server(always(answer("200 OK", "", "in")));
  for (int round = 0; round < 50; ++round) {
    ApiClient client(plain_access(server.address()), pace);
    std::atomic<bool> began{false};
    std::thread asks([&] {
      began = true;
      while (client.get("/", question)) {
      }
    });
    while (!began) std::this_thread::yield();
    client.stop();
    asks.join();
  }
}

}  // namespace
}  // namespace ringside::k8s
