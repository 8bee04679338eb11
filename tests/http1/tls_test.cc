#include "net/tls.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "http1/client_caller.h"
#include "http1/exchange.h"
#include "http1/head_parser.h"
#include "tests/http1/some_connection.h"
#include "tests/http1/some_exchange.h"
#include "tests/support/mmdb_writer.h"
#include "tests/support/tls_server.h"

namespace ringside::http {
namespace {

using support::answer;
using support::Certificate;
using support::eventually;
using support::ScriptedPeer;
using support::Stage;
using support::TemporaryFile;
using support::TlsServer;
using support::TlsStage;

constexpr Milliseconds far{60'000};

// The authority that our side believes.
const Certificate& authority() {
  static const Certificate made({.names = "", .authority = true}, nullptr);
  return made;
}

Certificate::Terms terms_of(std::string names) {
  Certificate::Terms terms;
  terms.names = std::move(names);
  return terms;
}

std::shared_ptr<const net::TlsContext> believing(const Certificate& certificate) {
  const TemporaryFile file(certificate.pem());
  return net::TlsContext::make(file.path()).value();
}

struct TlsOutcome {
  int status = 0;
  std::string body;
  std::optional<Error> error;
};

class TlsTest : public OneCore {
 protected:
  // What the program does for the whole process (see program/signals.h).
  TlsTest() { std::signal(SIGPIPE, SIG_IGN); }

  Task<void> ask(Pool& pool, const UpstreamAddress& address, std::string_view method,
                 TlsOutcome& outcome) {
    const hop::UpstreamRequest request = some_request(method);
    Exchange exchange(core(), pool);
    const hop::UpstreamLimits limits{Milliseconds{1'000}, far, clock_.steady_now() + far};
    const auto answered = co_await exchange.ask(address, request, limits);
    if (!answered) {
      outcome.error = answered.error();
      co_return;
    }
    outcome.status = exchange.head().status;
    const auto body = co_await whole_body(exchange);
    if (body) {
      outcome.body = *body;
    } else {
      outcome.error = body.error();
    }
  }
  std::future<void> start_asking(
      const UpstreamAddress& address, TlsOutcome& outcome,
      std::shared_ptr<const net::TlsContext> tls = believing(authority())) {
    return support::start_on(core(), [this, address, &outcome, tls]() -> Task<void> {
      Pool pool(core(), ErrorSource::origin);
      pool.set_tls(tls);
      co_await ask(pool, address, "GET", outcome);
    });
  }
  TlsOutcome asked(const UpstreamAddress& address) {
    TlsOutcome outcome;
    start_asking(address, outcome).get();
    return outcome;
  }
  static UpstreamAddress at(const Endpoint& address, std::string host = "127.0.0.1") {
    return {Endpoint{std::move(host), address.port}, true};
  }
};

TEST(TlsContext, SaysWhichFileItCantRead) {
  const TemporaryFile no_certificates("not PEM\n");
  for (const std::string& path : {std::string("/no/such/file.pem"), no_certificates.path()}) {
    const auto made = net::TlsContext::make(path);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind, ErrorKind::invalid_input);
    EXPECT_NE(made.error().message.find(path), std::string::npos) << made.error().message;
    EXPECT_NE(made.error().message.find("PEM"), std::string::npos) << made.error().message;
  }
  EXPECT_TRUE(net::TlsContext::make(""));
}

TEST_F(TlsTest, BelievesACertificateForTheNameAndTellsTheName) {
  const Certificate leaf(terms_of("DNS:localhost"), &authority());
  std::string name("nothing yet");
  TlsServer server(leaf, [&](TlsStage& stage) {
    name = stage.name();
    stage.read_head();
    stage.send(answer("200 OK", "", "hello"));
    stage.read_to_end();
  });
  const auto outcome = asked(at(server.address(), "localhost"));
  EXPECT_EQ(outcome.body, "hello") << (outcome.error ? outcome.error->message : "");
  EXPECT_EQ(name, "localhost");
}

// RFC 6066 §3: an address is no name.
TEST_F(TlsTest, BelievesACertificateForTheAddressAndTellsNoName) {
  const Certificate leaf(terms_of("IP:127.0.0.1"), &authority());
  std::string name("nothing yet");
  TlsServer server(leaf, [&](TlsStage& stage) {
    name = stage.name();
    stage.read_head();
    stage.send(answer("200 OK", "", "hello"));
    stage.read_to_end();
  });
  EXPECT_EQ(asked(at(server.address())).body, "hello");
  EXPECT_EQ(name, "");
}

TEST_F(TlsTest, BelievesNoOtherCertificate) {
  const Certificate stranger({.names = "", .authority = true}, nullptr);
  Certificate::Terms expired = terms_of("IP:127.0.0.1");
  expired.valid_until_s = -60;
  Certificate::Terms early = terms_of("IP:127.0.0.1");
  early.valid_from_s = 600;
  const std::vector<std::pair<const char*, std::shared_ptr<Certificate>>> rows{
      {"another address", std::make_shared<Certificate>(terms_of("IP:10.0.0.1"), &authority())},
      {"a name only", std::make_shared<Certificate>(terms_of("DNS:localhost"), &authority())},
      {"the address as a name",
       std::make_shared<Certificate>(terms_of("DNS:127.0.0.1"), &authority())},
      {"no name", std::make_shared<Certificate>(terms_of(""), &authority())},
      {"unknown authority", std::make_shared<Certificate>(terms_of("IP:127.0.0.1"), &stranger)},
      {"by itself", std::make_shared<Certificate>(terms_of("IP:127.0.0.1"), nullptr)},
      {"expired", std::make_shared<Certificate>(expired, &authority())},
      {"not yet valid", std::make_shared<Certificate>(early, &authority())},
  };
  for (const auto& [what, leaf] : rows) {
    bool heard = false;
    TlsServer server(*leaf, [&](TlsStage& stage) {
      stage.read_head();
      heard = true;
    });
    const auto outcome = asked(at(server.address()));
    ASSERT_TRUE(outcome.error) << what;
    EXPECT_EQ(outcome.error->kind, ErrorKind::untrusted) << what;
    EXPECT_EQ(outcome.error->source, ErrorSource::origin) << what;
    EXPECT_NE(outcome.error->message.find("TLS: "), std::string::npos) << outcome.error->message;
    EXPECT_FALSE(heard) << what;
  }
}

TEST_F(TlsTest, BelievesNoCertificateForAnotherName) {
  for (const auto* names : {"DNS:other.test", "DNS:localhost.other.test", "DNS:local*"}) {
    const Certificate leaf(terms_of(names), &authority());
    TlsServer server(leaf, support::always_under_tls(answer("200 OK", "", "")));
    const auto outcome = asked(at(server.address(), "localhost"));
    EXPECT_TRUE(outcome.error) << names;
    EXPECT_EQ(server.handshakes() * static_cast<std::size_t>(outcome.status), 0U);
  }
}

TEST_F(TlsTest, SpeaksNothingOlderThanTls12) {
  const Certificate leaf(terms_of("IP:127.0.0.1"), &authority());
  for (const int version : {TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsServer::Terms terms;
    terms.newest_version = version;
    TlsServer server(leaf, support::always_under_tls(answer("200 OK", "", "hello")), terms);
    const auto outcome = asked(at(server.address()));
    EXPECT_EQ(outcome.error.has_value(), version == TLS1_1_VERSION) << version;
    if (outcome.error) {
      EXPECT_NE(outcome.error->message.find("TLS: "), std::string::npos) << outcome.error->message;
    }
  }
}

TEST_F(TlsTest, AServerThatClosesOrTalksNonsenseInTheHandshakeIsAnErrorOfTheOrigin) {
  for (const auto* said : {"", "HTTP/1.1 400 Bad Request\r\n\r\n"}) {
    ScriptedPeer peer([&](Stage& stage) {
      stage.send(said);
      stage.close();
    });
    const auto outcome = asked(at(peer.address()));
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->source, ErrorSource::origin);
    EXPECT_EQ(outcome.error->retry, Retry::yes);  // the request was never sent
  }
}

TEST_F(TlsTest, AServerThatStallsInTheHandshakeHasTheTimeOfAConnect) {
  ScriptedPeer peer([](Stage& stage) { stage.stall(); });
  TlsOutcome outcome;
  auto end = start_asking(at(peer.address()), outcome);
  ASSERT_TRUE(eventually([&] { return peer.connections() == 1; }));
  EXPECT_TRUE(eventually([&] {
    clock_.advance(Milliseconds{200});
    return end.wait_for(Milliseconds{1}) == std::future_status::ready;
  }));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind, ErrorKind::timeout);
  EXPECT_EQ(outcome.error->source, ErrorSource::origin);
}

TEST_F(TlsTest, AStopEndsAHandshake) {
  ScriptedPeer peer([](Stage& stage) { stage.stall(); });
  TlsOutcome outcome;
  auto end = start_asking(at(peer.address()), outcome);
  ASSERT_TRUE(eventually([&] { return peer.connections() == 1; }));
  cores_.stop();
  end.get();
  EXPECT_TRUE(outcome.error);
}

// RFC 9112 §9.8: only close_notify tells a body's end from one that was cut by others.
TEST_F(TlsTest, ABodyUntilTheCloseIsWholeOnlyWithCloseNotify) {
  const Certificate leaf(terms_of("IP:127.0.0.1"), &authority());
  for (const bool notified : {true, false}) {
    TlsServer server(leaf, [notified](TlsStage& stage) {
      stage.read_head();
      stage.send("HTTP/1.1 200 OK\r\n\r\nabc");
      if (notified) stage.close();
      stage.break_off();
    });
    const auto outcome = asked(at(server.address()));
    EXPECT_EQ(outcome.error.has_value(), !notified);
    EXPECT_EQ(outcome.body, notified ? "abc" : "");
    if (outcome.error) {
      EXPECT_EQ(outcome.error->source, ErrorSource::origin);
      EXPECT_EQ(outcome.error->kind, ErrorKind::disconnected);
    }
  }
}

// The tickets that TLS 1.3 sends after its handshake are bytes on the socket, but none of HTTP's.
TEST_F(TlsTest, SessionTicketsDoNotMakeAPooledConnectionLookStale) {
  const Certificate leaf(terms_of("IP:127.0.0.1"), &authority());
  TlsServer server(leaf, support::always_under_tls(answer("200 OK", "", "hello")));
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::origin);
    pool.set_tls(believing(authority()));
    for (const auto* method : {"POST", "GET", "POST", "POST"}) {
      TlsOutcome outcome;
      co_await ask(pool, at(server.address()), method, outcome);
      EXPECT_EQ(outcome.body, "hello");
    }
  });
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(TlsTest, APooledConnectionThatWasClosedMeanwhileIsNotUsedForWhatCantBeRepeated) {
  const Certificate leaf(terms_of("IP:127.0.0.1"), &authority());
  TlsServer server(leaf, [](TlsStage& stage) {
    stage.read_head();
    stage.send(answer("200 OK", "", "hello"));
    stage.close();
  });
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::origin);
    pool.set_tls(believing(authority()));
    for (unsigned count = 0; count < 3; ++count) {
      TlsOutcome outcome;
      co_await ask(pool, at(server.address()), "POST", outcome);
      EXPECT_EQ(outcome.body, "hello");
      auto idle = pool.take_idle(at(server.address()), false);
      EXPECT_TRUE(idle);
      EXPECT_TRUE(eventually([&] { return idle->connection->is_stale(); }));
      EXPECT_TRUE(idle->connection->is_stale());
      pool.give_back(at(server.address()), std::move(*idle));
    }
  });
  EXPECT_EQ(server.connections(), 3U);
}

// Plain and under TLS are not mixed up.
TEST_F(TlsTest, TheSameEndpointWithAndWithoutTlsAreTwo) {
  const Certificate leaf(terms_of("IP:127.0.0.1"), &authority());
  TlsServer server(leaf, support::always_under_tls(answer("200 OK", "", "hello")));
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::origin);
    pool.set_tls(believing(authority()));
    TlsOutcome outcome;
    co_await ask(pool, at(server.address()), "GET", outcome);
    EXPECT_EQ(outcome.status, 200);
    EXPECT_FALSE(pool.take_idle(server.address(), false));
    EXPECT_TRUE(pool.take_idle(at(server.address()), true));
  });
}

std::string many_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size; ++at) bytes[at] = static_cast<char>(at % 251);
  return bytes;
}

// The upstream takes and gives little at a time: every write is one in parts, every record is cut.
TEST_F(TlsTest, LargeBodiesPassBothWays) {
  const std::string body = many_bytes(4'000'000);
  const Certificate leaf(terms_of("IP:127.0.0.1"), &authority());
  TlsServer::Terms terms;
  terms.reads_little = true;
  TlsServer server(
      leaf,
      [&](TlsStage& stage) {
        stage.read_head();
        const std::string got = stage.read(body.size());
        stage.send(answer("200 OK", "", got));
        stage.read_to_end();
      },
      terms);
  TlsOutcome outcome;
  support::RawSocket client;
  auto end = start_with(
      ErrorSource::client, client, [&](Connection& from, support::RawSocket&) -> Task<void> {
        RequestHead request;
        const auto read = co_await from.read_request(HeadLimits::defaults(), request);
        EXPECT_TRUE(read);
        ClientCaller caller(from);
        hop::UpstreamRequest out = some_request("PUT");
        out.framing = {Framing::Kind::length, body.size()};
        out.body = &caller;
        Pool pool(core(), ErrorSource::origin);
        pool.set_tls(believing(authority()));
        {
          Exchange exchange(core(), pool);
          const hop::UpstreamLimits limits{far, far, clock_.steady_now() + far};
          const auto answered = co_await exchange.ask(at(server.address()), out, limits);
          EXPECT_TRUE(answered) << answered.error().message;
          if (!answered) co_return;
          const auto got = co_await whole_body(exchange);
          EXPECT_TRUE(got);
          if (got) outcome.body = *got;
        }
        EXPECT_TRUE(pool.take_idle(at(server.address()), true));
      });
  client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n");
  client.send(body);
  end.get();
  EXPECT_TRUE(outcome.body == body);
}

// RFC 9112 §9.5, with the session's tickets between: they are no answer.
TEST_F(TlsTest, AnEarlyAnswerIsHeardDuringASlowUpload) {
  const Certificate leaf(terms_of("IP:127.0.0.1"), &authority());
  TlsServer server(leaf, [&](TlsStage& stage) {
    stage.read_head();
    stage.read(2);
    stage.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
    stage.read_to_end();
  });
  int status = 0;
  support::RawSocket client;
  auto end = start_with(
      ErrorSource::client, client, [&](Connection& from, support::RawSocket&) -> Task<void> {
        RequestHead request;
        const auto read = co_await from.read_request(HeadLimits::defaults(), request);
        EXPECT_TRUE(read);
        ClientCaller caller(from);
        hop::UpstreamRequest out = some_request("PUT");
        out.framing = {Framing::Kind::length, 5};
        out.body = &caller;
        Pool pool(core(), ErrorSource::origin);
        pool.set_tls(believing(authority()));
        Exchange exchange(core(), pool);
        const hop::UpstreamLimits limits{far, far, clock_.steady_now() + far};
        const auto answered = co_await exchange.ask(at(server.address()), out, limits);
        EXPECT_TRUE(answered);
        if (answered) status = exchange.head().status;
      });
  client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe");
  end.get();
  EXPECT_EQ(status, 413);
}

}  // namespace
}  // namespace ringside::http
