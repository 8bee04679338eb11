#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"
#include "http1/exchange.h"
#include "tests/http1/some_upload.h"

namespace ringside::http {
namespace {

using support::answer;
using support::eventually;
using support::Gate;
using support::ScriptedPeer;
using support::Stage;

class InterimTest : public UploadTest {};

TEST_F(InterimTest, TheBodyWaitsUntilTheUpstreamSaysContinue) {
  Gate go_on;
  ScriptedPeer peer([&](Stage& stage) {
    stage.read_head();
    stage.wait(go_on);
    stage.send(continue_head);
    stage.send(answer("200 OK", "", stage.read(5)));
    stage.stall();
  });
  auto end = start(peer, expecting);
  ASSERT_TRUE(eventually([&] { return peer.requests() == 1; }));
  EXPECT_FALSE(client_.readable(Milliseconds{0}));
  go_on.open();
  EXPECT_EQ(client_reads(continue_head.size()), continue_head);
  client_.send("hello");
  end.get();
  EXPECT_EQ(outcome_.status, 200);
  EXPECT_EQ(outcome_.body, "hello");
  EXPECT_TRUE(outcome_.pooled);
  EXPECT_EQ(client_reads_all(), "");  // once is enough
}

TEST_F(InterimTest, AFinalAnswerInsteadOfContinueEndsItWithoutTheBody) {
  for (const auto* status : {"417 Expectation Failed", "413 Content Too Large", "200 OK"}) {
    ScriptedPeer peer([&](Stage& stage) {
      stage.read_head();
      stage.send(answer(status, "", "early"));
      stage.stall();
    });
    auto end = start(peer, expecting);
    end.get();
    EXPECT_EQ(outcome_.status, std::stoi(status));
    EXPECT_EQ(outcome_.body, "early");
    // The upstream still waits for the body of a request that is over.
    EXPECT_FALSE(outcome_.pooled) << status;
    EXPECT_EQ(client_reads_all(), "") << status;
  }
}

TEST_F(InterimTest, AnUpstreamThatKnowsNothingOfContinueGetsTheBodyAfterAWhile) {
  ScriptedPeer peer([&](Stage& stage) {
    stage.read_head();
    stage.send(answer("200 OK", "", stage.read(5)));
    stage.stall();
  });
  auto end = start(peer, expecting);
  ASSERT_TRUE(eventually([&] { return peer.requests() == 1; }));
  clock_.advance(limits::continue_timeout - Milliseconds{1});
  cores_.on_each([this](net::Core& each) { each.deadlines().advance(clock_.steady_now()); });
  EXPECT_FALSE(client_.readable(Milliseconds{0}));
  clock_.advance(limits::deadline_tick);
  EXPECT_EQ(client_reads(continue_head.size()), continue_head);
  client_.send("hello");
  end.get();
  EXPECT_EQ(outcome_.body, "hello");
  EXPECT_TRUE(outcome_.pooled);
}

TEST_F(InterimTest, ALateContinueIsNotToldTwice) {
  ScriptedPeer peer([&](Stage& stage) {
    stage.read_head();
    const std::string body = stage.read(5);
    stage.send(continue_head);
    stage.send(answer("200 OK", "", body));
    stage.stall();
  });
  auto end = start(peer, expecting);
  ASSERT_TRUE(eventually([&] { return peer.requests() == 1; }));
  clock_.advance(limits::continue_timeout + Milliseconds{1});
  EXPECT_EQ(client_reads(continue_head.size()), continue_head);
  client_.send("hello");
  end.get();
  EXPECT_EQ(outcome_.body, "hello");
  EXPECT_EQ(client_reads_all(), "");
}

// RFC 9110 §15.2; those of the expectation are ours to answer.
TEST_F(InterimTest, InterimAnswersArePassedOnToThoseWhoKnowThem) {
  const std::string interim =
      "HTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\nConnection: X-Hop\r\nX-Hop: 1\r\n"
      "Ringside-Outcome: hit\r\n\r\n"
      "HTTP/1.1 102 Processing\r\n\r\n";
  struct Row {
    std::string_view start_line;
    std::string told;
  };
  for (const Row& row : {Row{"GET / HTTP/1.1\r\n",
                             "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                             "HTTP/1.1 102 Processing\r\n\r\n"},
                         Row{"GET / HTTP/1.0\r\n", ""}}) {
    ScriptedPeer peer([&](Stage& stage) {
      stage.read_head();
      stage.send(interim + answer("200 OK", "", "final"));
      stage.stall();
    });
    auto end = start(peer, "", row.start_line);
    end.get();
    EXPECT_EQ(outcome_.body, "final");
    EXPECT_TRUE(outcome_.pooled);
    EXPECT_EQ(client_reads_all(), row.told);
  }
}

TEST_F(InterimTest, TooManyInterimAnswersAreNoHttp) {
  const std::string_view interim = "HTTP/1.1 102 Processing\r\n\r\n";
  for (const unsigned count : {limits::interim_responses, limits::interim_responses + 1}) {
    ScriptedPeer peer([&](Stage& stage) {
      stage.read_head();
      for (unsigned sent = 0; sent < count; ++sent) stage.send(interim);
      stage.send(answer("200 OK", "", "final"));
      stage.stall();
    });
    auto end = start(peer, "", "GET / HTTP/1.1\r\n");
    end.get();
    EXPECT_EQ(outcome_.error.has_value(), count > limits::interim_responses);
    if (outcome_.error) {
      EXPECT_EQ(outcome_.error->kind, ErrorKind::malformed);
      EXPECT_EQ(outcome_.error->retry, Retry::no);
    }
    EXPECT_EQ(client_reads_all().size(), interim.size() * limits::interim_responses);
  }
}

TEST_F(InterimTest, AnInterimAnswerInTheMidstOfAnUploadDoesNotEndIt) {
  ScriptedPeer peer([&](Stage& stage) {
    stage.read_head();
    stage.read(2);
    stage.send("HTTP/1.1 102 Processing\r\n\r\n");
    stage.send(answer("200 OK", "", stage.read(3)));
    stage.stall();
  });
  auto end = start(peer, five_bytes);
  client_.send("he");
  EXPECT_EQ(client_reads(27), "HTTP/1.1 102 Processing\r\n\r\n");
  client_.send("llo");
  end.get();
  EXPECT_EQ(outcome_.body, "llo");
  EXPECT_TRUE(outcome_.pooled);
}

// It lay in our buffer, where nothing more could arrive that would have interrupted the upload.
TEST_F(InterimTest, AnAnswerThatCameTogetherWithAnInterimOneIsNotOverlooked) {
  for (const bool expects : {true, false}) {
    ScriptedPeer peer([&](Stage& stage) {
      stage.read_head();
      std::string both(expects ? continue_head : "HTTP/1.1 102 Processing\r\n\r\n");
      stage.send(both.append(refusal));
      stage.stall();
    });
    auto end = start(peer, expects ? expecting : five_bytes);
    end.get();
    EXPECT_EQ(outcome_.status, 413) << expects;
    EXPECT_FALSE(outcome_.pooled);
  }
}

// Nobody else is asked for a client that has gone.
TEST_F(InterimTest, AClientThatIsGoneWhenItIsToldToContinueIsNoReasonToAskElsewhere) {
  Gate gone;
  ScriptedPeer peer([&](Stage& stage) {
    stage.read_head();
    stage.wait(gone);
    stage.stall();
  });
  auto end = start(peer, expecting);
  ASSERT_TRUE(eventually([&] { return peer.requests() == 1; }));
  client_.reset();
  gone.open();
  clock_.advance(limits::continue_timeout + Milliseconds{1});
  end.get();
  ASSERT_TRUE(outcome_.error);
  EXPECT_EQ(outcome_.error->source, ErrorSource::client);
  EXPECT_EQ(outcome_.error->retry, Retry::no);
}

}  // namespace
}  // namespace ringside::http
