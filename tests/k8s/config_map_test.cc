#include "k8s/config_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/fake_api_server.h"
#include "tests/support/scripted_peer.h"

namespace ringside::k8s {
namespace {

using support::answer;
using support::FakeApiServer;
using support::field;
using support::ScriptedPeer;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class ConfigMapTest : public testing::Test {
 protected:
  ConfigMapTest() { std::signal(SIGPIPE, SIG_IGN); }

  static ConfigMap of(const ScriptedPeer& server) {
    Access access;
    access.server = server.address();
    access.tls = false;
    access.origin = "the test";
    return {{"shop", "shards"}, access, Pace()};
  }
  static Failure failure_of_read(const std::string& status, const std::string& body) {
    ScriptedPeer server(support::always(answer(status, "", body)));
    const auto read = of(server).read();
    EXPECT_FALSE(read);
    return read ? Failure() : read.error();
  }
};

TEST_F(ConfigMapTest, ReadsItsKey) {
  ScriptedPeer server(support::always(answer(
      "200 OK", "",
      R"({"metadata": {"resourceVersion": "7"}, "data": {"state.json": "x", "other": "y"}})")));
  const auto read = of(server).read();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->text, "x");
  EXPECT_EQ(read->resource_version, "7");
  EXPECT_THAT(server.heads().at(0),
              StartsWith("GET /api/v1/namespaces/shop/configmaps/shards HTTP/1.1\r\n"));
}

TEST_F(ConfigMapTest, AKeyThatNobodyHasWrittenIsEmpty) {
  for (const char* const body : {R"({"metadata": {"resourceVersion": "7"}})",
                                 R"({"metadata": {"resourceVersion": "7"}, "data": null})"}) {
    ScriptedPeer server(support::always(answer("200 OK", "", body)));
    const auto read = of(server).read();
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->text, "");
  }
}

TEST_F(ConfigMapTest, WritesOnlyWhatIsMadeOfThePresentVersion) {
  std::string asked;
  {
    ScriptedPeer server([&asked](support::Stage& stage) {
      asked = stage.read_request();
      stage.send(
          answer("200 OK", "",
                 R"({"metadata": {"resourceVersion": "8"}, "data": {"state.json": "new"}})"));
    });
    const auto written = of(server).write("new", "7");
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(written->resource_version, "8");
  }
  EXPECT_THAT(asked, StartsWith("PATCH /api/v1/namespaces/shop/configmaps/shards HTTP/1.1\r\n"));
  EXPECT_EQ(field(asked, "Content-Type"), "application/merge-patch+json");
  EXPECT_THAT(asked,
              EndsWith("\r\n\r\n"
                       R"({"data":{"state.json":"new"},"metadata":{"resourceVersion":"7"}})"));
}

TEST_F(ConfigMapTest, WhoComesSecondIsToldSo) {
  ScriptedPeer server(
      support::always(answer("409 Conflict", "", FakeApiServer::status_body(409, "Conflict"))));
  const auto written = of(server).write("new", "7");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().status, 409);
}

TEST_F(ConfigMapTest, WhatIsMissingIsToldWithTheRemedy) {
  EXPECT_THAT(failure_of_read("404 Not Found", FakeApiServer::status_body(404, "NotFound")).message,
              HasSubstr("make it: kubectl create configmap shards --namespace shop"));
  EXPECT_THAT(
      failure_of_read("403 Forbidden", FakeApiServer::status_body(403, "Forbidden")).message,
      HasSubstr("the verbs get and patch on it"));
}

TEST_F(ConfigMapTest, AnAnswerThatMakesNoSenseIsMalformed) {
  for (const char* const body :
       {"", "[]", "{}", R"({"metadata": {"resourceVersion": 7}})",
        R"({"metadata": {"resourceVersion": "7"}, "data": {"state.json": 1}})"}) {
    EXPECT_EQ(failure_of_read("200 OK", body).reason, FailureReason::malformed) << body;
  }
}

}  // namespace
}  // namespace ringside::k8s
