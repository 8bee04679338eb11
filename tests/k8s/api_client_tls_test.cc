#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <thread>

#include "k8s/api_client.h"
#include "tests/support/fake_api_server.h"
#include "tests/support/scripted_peer.h"
#include "tests/support/tls_server.h"

namespace ringside::k8s {
namespace {

using support::always_under_tls;
using support::answer;
using support::Certificate;
using support::FakeApiServer;
using support::ScriptedPeer;
using support::Stage;
using support::TlsServer;
using support::TlsStage;
using testing::HasSubstr;

const Question question{"list", "statefulsets.apps", "shop"};

Access access_to(const Endpoint& server) {
  Access access;
  access.server = server;
  access.origin = "the test";
  return access;
}

class ApiClientTlsTest : public testing::Test {
 protected:
  ApiClientTlsTest() { std::signal(SIGPIPE, SIG_IGN); }

  Access access(const TlsServer& server) const {
    Access made = access_to(server.address());
    made.ca_pem = authority.pem();
    return made;
  }
  // Asks a server with a certificate of the authority's for those names.
  Outcome<std::string> ask(
      const Certificate::Terms& terms, const std::string& server_name,
      const std::function<void(Access&)>& change = [](Access&) {}) {
    const Certificate certificate(terms, &authority);
    TlsServer server(certificate, [this](TlsStage& stage) {
      stage.read_head();
      sent_name = stage.name();
      stage.send(answer("200 OK", "", "in"));
      stage.read_to_end();
    });
    Access made = access(server);
    made.server_name = server_name;
    change(made);
    ApiClient client(made, pace);
    return client.get("/", question);
  }
  Failure failure_of_get(const Access& made) {
    ApiClient client(made, pace);
    const auto got = client.get("/", question);
    EXPECT_FALSE(got) << *got;
    return got ? Failure() : got.error();
  }
  std::string doubt(const Certificate::Terms& terms, const std::string& server_name = "") {
    const auto got = ask(terms, server_name);
    EXPECT_FALSE(got);
    if (got) return {};
    EXPECT_EQ(got.error().reason, FailureReason::other);
    EXPECT_THAT(got.error().message, HasSubstr("is not believed"));
    return got.error().message;
  }

  Pace pace;
  Certificate authority{{"", -3'600, 3'600, true}, nullptr};
  std::string sent_name;
};

TEST_F(ApiClientTlsTest, BelievesTheAddressThatItConnectsTo) {
  const auto got = ask({"DNS:kubernetes,IP:10.0.0.1,IP:127.0.0.1"}, "");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, "in");
  EXPECT_EQ(sent_name, "");  // an address is no server name
}

TEST_F(ApiClientTlsTest, BelievesTheNameThatItIsTold) {
  const auto got = ask({"DNS:kubernetes.default.svc"}, "kubernetes.default.svc");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(sent_name, "kubernetes.default.svc");
}

TEST_F(ApiClientTlsTest, DoubtsEverythingElse) {
  EXPECT_THAT(doubt({"DNS:other.test,IP:10.0.0.1"}),
              HasSubstr("is for DNS:other.test, IP Address:10.0.0.1, not for 127.0.0.1"));
  EXPECT_THAT(doubt({"DNS:127.0.0.1"}), HasSubstr("not for 127.0.0.1"));
  EXPECT_THAT(doubt({""}), HasSubstr("not for 127.0.0.1"));
  EXPECT_THAT(doubt({"IP:127.0.0.1"}, "api.test"), HasSubstr("not for api.test"));
  EXPECT_THAT(doubt({"IP:127.0.0.1", -7'200, -3'600}), HasSubstr("expired"));
  EXPECT_THAT(doubt({"IP:127.0.0.1", 3'600, 7'200}), HasSubstr("not yet valid"));
}

TEST_F(ApiClientTlsTest, DoubtsWhomItsAuthorityDidNotSign) {
  const Certificate stranger({"", -3'600, 3'600, true}, nullptr);
  const auto got = ask({"IP:127.0.0.1"}, "", [&](Access& made) { made.ca_pem = stranger.pem(); });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, FailureReason::other);
  EXPECT_THAT(got.error().message, HasSubstr("does not vouch for"));
  EXPECT_THAT(got.error().message, HasSubstr("the CA of the test"));
}

TEST_F(ApiClientTlsTest, AuthoritiesThatAreNoneAreTold) {
  const auto got = ask({"IP:127.0.0.1"}, "", [](Access& made) {
    made.ca_pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  });
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("the CA of the test"));
}

TEST_F(ApiClientTlsTest, TheSubjectOfACertificateIsNoName) {
  // httplib alone would take it for one.
  const Certificate nameless({""}, &authority);
  TlsServer server(nameless, always_under_tls(answer("200 OK", "", "in")));
  std::array<char, 64> subject{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(nameless.certificate()), NID_commonName,
                            subject.data(), static_cast<int>(subject.size()));
  Access made = access(server);
  made.server_name = subject.data();
  EXPECT_THAT(failure_of_get(made).message, HasSubstr("not for " + made.server_name));
}

TEST_F(ApiClientTlsTest, WithoutVerificationItBelievesAnybody) {
  const auto got = ask({"DNS:other.test"}, "", [](Access& made) { made.insecure = true; });
  EXPECT_TRUE(got) << got.error().message;
}

TEST_F(ApiClientTlsTest, AFileOfAuthoritiesIsReadWithEachConnection) {
  const std::string path = testing::TempDir() + "ringside-ca-" + std::to_string(::getpid());
  const Certificate certificate({"IP:127.0.0.1"}, &authority);
  TlsServer server(certificate, always_under_tls(answer("200 OK", "", "in")));
  Access made = access(server);
  made.ca_file = path;
  ApiClient client(made, pace);
  EXPECT_THAT(client.get("/", question).error().message, HasSubstr(path));
  std::ofstream(path) << "no certificate";
  EXPECT_THAT(client.get("/", question).error().message, HasSubstr(path));
  std::ofstream(path) << Certificate({"", -9, 9, true}, nullptr).pem();
  EXPECT_THAT(client.get("/", question).error().message, HasSubstr("not believed"));
  std::ofstream(path) << Certificate({"", -9, 9, true}, nullptr).pem() << authority.pem();
  EXPECT_TRUE(client.get("/", question));
  std::remove(path.c_str());
}

TEST_F(ApiClientTlsTest, OldTlsIsRefused) {
  const Certificate certificate({"IP:127.0.0.1"}, &authority);
  TlsServer server(certificate, always_under_tls(answer("200 OK", "", "in")),
                   {TLS1_1_VERSION, false});
  EXPECT_EQ(failure_of_get(access(server)).reason, FailureReason::unreachable);
}

TEST_F(ApiClientTlsTest, PlainHttpWhereTlsIsExpectedIsTold) {
  ScriptedPeer server([](Stage& stage) {
    stage.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    stage.stall();
  });
  const Failure failure = failure_of_get(access_to(server.address()));
  EXPECT_EQ(failure.reason, FailureReason::unreachable);
  EXPECT_THAT(failure.message, HasSubstr("TLS"));
}

TEST_F(ApiClientTlsTest, AWatchUnderTlsIsToldAndStopped) {
  const Certificate certificate({"IP:127.0.0.1"}, &authority);
  TlsServer server(certificate, [](TlsStage& stage) {
    stage.read_head();
    stage.send(FakeApiServer::watch_head() + FakeApiServer::chunk("one"));
    stage.read_to_end();
  });
  ApiClient client(access(server), pace);
  support::Gate told;
  std::thread watches([&] {
    EXPECT_FALSE(client.watch("/", question, [&](std::string_view piece) {
      if (piece == "one") told.open();
      return true;
    }));
  });
  EXPECT_TRUE(told.wait());
  client.stop();
  watches.join();
}

}  // namespace
}  // namespace ringside::k8s
