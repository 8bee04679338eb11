#include "link/tickets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/link/some_server.h"

namespace ringside::link {
namespace {

using support::eventually;
using support::TestClient;

class TicketsTest : public LinkServer {
 protected:
  using LinkServer::LinkServer;
  // What is said of the ticket that the answer to that request is.
  std::string ticket_for(const std::string& target, Stream stream = 0) {
    link_.send(request_frame(stream, target));
    const auto frame = link_.next();
    if (!frame || frame->type != FrameType::ticket || frame->stream != stream) {
      ADD_FAILURE() << "no ticket";
      return {};
    }
    const auto number = read_ticket(frame->payload);
    EXPECT_TRUE(number && *number != 0);
    return number ? fmt::format("Ringside-Ticket: {:x}\r\n", *number) : "";
  }
  LinkClient link_{address()};
};

TEST_F(TicketsTest, AnAnswerThatIsTooLargeIsFetchedOnce) {
  const std::string ticket = ticket_for("/large");
  TestClient client(address());
  EXPECT_EQ(client.get("/large", ticket).body, large_body);
  EXPECT_EQ(ledger_.times_asked("/large"), 1U);
  EXPECT_TRUE(eventually([&] { return ledger_.all_sent("/large").size() == 1; }));
  const hop::Sent sent = ledger_.all_sent("/large").front();
  EXPECT_EQ(sent.status, 200);
  EXPECT_EQ(sent.body_bytes, large_body.size());
  EXPECT_FALSE(sent.failure);
  // The same again is a request like any other, on the same connection.
  EXPECT_EQ(client.get("/large", ticket).body, large_body);
  EXPECT_EQ(ledger_.times_asked("/large"), 2U);
  EXPECT_EQ(link_.get("/small"), "of /small");
}

// What a source has said to be its last piece is not there a second time.
TEST_F(TicketsTest, TheLastPieceOfALargeAnswerIsNotAskedForTwice) {
  for (const std::string target : {"/source/large", "/source/large/unknown"}) {
    EXPECT_EQ(get(target, ticket_for(target)).body, large_body);
    EXPECT_EQ(ledger_.times_asked(target), 1U);
  }
}

TEST_F(TicketsTest, ASmallAnswerOfASourceNeedsNone) {
  for (const std::string target : {"/source", "/source/unknown"}) {
    EXPECT_EQ(link_.get(target), "of " + target);
    EXPECT_EQ(ledger_.times_asked(target), 1U);
  }
}

TEST_F(TicketsTest, AnAnswerThatIsSoonThereNeedsNone) {
  link_.send(request_frame(0, "/slow"));
  EXPECT_TRUE(eventually([&] { return ledger_.held() == 1; }));
  ledger_.release(core());
  EXPECT_EQ(content_of(link_.next()), "of /slow");
}

TEST_F(TicketsTest, AnAnswerThatIsSlowInComingIsFetched) {
  for (const std::string target :
       {"/slow", "/slow/unknown", "/slow/large", "/slow/large/unknown"}) {
    SCOPED_TRACE(target);
    link_.send(request_frame(0, target));
    EXPECT_TRUE(eventually([&] { return ledger_.times_asked(target) == 1; }));
    EXPECT_TRUE(eventually([&] {
      advance(limits::link_patience);
      return link_.has_something();
    }));
    const auto frame = link_.next();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->type, FrameType::ticket);
    TestClient client(address());
    client.send(support::get_request(
        target, fmt::format("Ringside-Ticket: {:x}\r\n", *read_ticket(frame->payload))));
    EXPECT_TRUE(eventually([&] { return ledger_.held() == 1; }));
    ledger_.release(core());
    EXPECT_EQ(client.read().body,
              target.find("large") == target.npos ? "of " + target : large_body);
    EXPECT_EQ(ledger_.times_asked(target), 1U);
    EXPECT_TRUE(eventually([&] { return ledger_.all_sent(target).size() == 1; }));
  }
}

// It was lost: what had come was taken for all that had come before the ticket, which was nothing.
TEST_F(TicketsTest, AnAnswerThatCameBeforeItWasFetchedIsNotLost) {
  for (const std::string target : {"/slow", "/slow/large/unknown"}) {
    SCOPED_TRACE(target);
    link_.send(request_frame(0, target));
    EXPECT_TRUE(eventually([&] { return ledger_.held() == 1; }));
    EXPECT_TRUE(eventually([&] {
      advance(limits::link_patience);
      return link_.has_something();
    }));
    const auto frame = link_.next();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->type, FrameType::ticket);
    ledger_.release(core());
    EXPECT_TRUE(eventually([&] { return ledger_.held() == 0; }));
    const std::string line =
        fmt::format("Ringside-Ticket: {:016x}\r\n", *read_ticket(frame->payload));
    EXPECT_EQ(get(target, line).body, target == "/slow" ? "of /slow" : large_body);
    EXPECT_EQ(ledger_.times_asked(target), 1U);
  }
}

TEST_F(TicketsTest, AnAnswerWhoseContentFailsAtOnceIsAnswered) {
  link_.send(request_frame(0, "/slow/broken"));
  EXPECT_TRUE(eventually([&] { return ledger_.held() == 1; }));
  ledger_.release(core());
  const auto frame = link_.next();
  ASSERT_TRUE(frame);
  Answer answer;
  ASSERT_TRUE(read_answer(frame->payload, false, answer));
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_EQ(link_.get("/small"), "of /small");
}

TEST_F(TicketsTest, StaysWhereTheLinkHasEnded) {
  const std::string ticket = ticket_for("/large");
  link_.send("no frame at all");
  EXPECT_TRUE(link_.ends());
  EXPECT_EQ(get("/large", ticket).body, large_body);
  EXPECT_EQ(ledger_.times_asked("/large"), 1U);
}

TEST_F(TicketsTest, IsGivenToNoOtherRequest) {
  const std::string ticket = ticket_for("/large");
  EXPECT_EQ(get("/other", ticket).body, "of /other");
  EXPECT_EQ(get("/large?", ticket).body, large_body);
  EXPECT_EQ(ledger_.times_asked("/large?"), 1U);
  TestClient client(address());
  EXPECT_EQ(client.ask("GET /large HTTP/1.1\r\nHost: b.test\r\n" + ticket + "\r\n").body,
            large_body);
  EXPECT_EQ(ledger_.times_asked("/large"), 2U);
  EXPECT_EQ(client.ask("HEAD /large HTTP/1.1\r\nHost: a.test\r\n" + ticket + "\r\n").status, 200);
  EXPECT_EQ(ledger_.times_asked("/large"), 3U);
  EXPECT_EQ(get("/large", ticket).body, large_body);
  EXPECT_EQ(ledger_.times_asked("/large"), 3U);
}

TEST_F(TicketsTest, AreNotGivenToStrangers) {
  const std::string ticket = ticket_for("/large");
  trusts_ = false;
  EXPECT_EQ(get("/large", ticket).body, large_body);
  EXPECT_EQ(ledger_.times_asked("/large"), 2U);
}

TEST_F(TicketsTest, OnesThatAreNoneAreNothing) {
  for (const char* const value :
       {"", "0", "1", "-1", "0x1", "g", "1 ", "ffffffffffffffff", "10000000000000000", "1, 2"}) {
    EXPECT_EQ(get("/", fmt::format("Ringside-Ticket: {}\r\n", value)).body, "of /") << value;
  }
}

TEST_F(TicketsTest, OneThatNobodyTakesIsDropped) {
  const std::string ticket = ticket_for("/large");
  advance(limits::ticket_timeout - Milliseconds{100});
  const std::string younger = ticket_for("/large/younger", 1);
  EXPECT_TRUE(eventually([&] {
    advance(limits::deadline_tick);
    return ledger_.all_sent("/large").size() == 1;
  }));
  EXPECT_EQ(ledger_.all_sent("/large").front().status, 0);
  EXPECT_EQ(get("/large", ticket).body, large_body);
  EXPECT_EQ(ledger_.times_asked("/large"), 2U);
  EXPECT_TRUE(eventually([&] {
    advance(limits::ticket_timeout);
    return ledger_.all_sent("/large/younger").size() == 1;
  }));
  EXPECT_EQ(link_.get("/small"), "of /small");
}

// Beyond them the request begins anew.
TEST_F(TicketsTest, ThereAreNoMoreThanTheLimit) {
  for (std::size_t i = 0; i < limits::tickets; ++i) EXPECT_NE(ticket_for("/large"), "");
  link_.send(request_frame(1, "/large"));
  const auto frame = link_.next();
  ASSERT_TRUE(frame);
  ASSERT_EQ(frame->type, FrameType::ticket);
  EXPECT_EQ(*read_ticket(frame->payload), 0U);
  EXPECT_TRUE(eventually([&] { return ledger_.all_sent("/large").size() == 1; }));
  EXPECT_EQ(link_.get("/small"), "of /small");
}

// Connections come to any core; what is under a ticket stays on the one where it was begun.
class TicketsOfCoresTest : public TicketsTest {
 protected:
  TicketsOfCoresTest() : TicketsTest(3) {}
};

TEST_F(TicketsOfCoresTest, AreFoundByAConnectionToAnyCore) {
  constexpr unsigned count = 32;
  std::vector<TestClient> clients;
  for (unsigned i = 0; i < count; ++i) {
    const std::string ticket = ticket_for("/large");
    TestClient& client = clients.emplace_back(address());
    EXPECT_EQ(client.get("/before").body, "of /before");
    EXPECT_EQ(client.get("/large", ticket).body, large_body);
  }
  EXPECT_EQ(ledger_.times_asked("/large"), count);
  // They go on where they are.
  for (TestClient& client : clients) EXPECT_EQ(client.get("/after").body, "of /after");
  EXPECT_TRUE(eventually([&] { return ledger_.all_sent("/large").size() == count; }));
  // One that moves counts twice for a moment.
  EXPECT_TRUE(eventually([&] { return server_->open_connections() == count + 1; }));
}

}  // namespace
}  // namespace ringside::link
