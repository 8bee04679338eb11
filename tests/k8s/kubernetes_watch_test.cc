#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/k8s/discovery_fixture.h"

namespace ringside::k8s {
namespace {

using support::Stage;
using testing::HasSubstr;

// What watches may tell, right and wrong.
using KubernetesWatchTest = KubernetesDiscoveryTest;

TEST_F(KubernetesWatchTest, AListThatMakesNoSenseIsAskedForAgain) {
  server.once(Kind::list_sets, sends(answer("200 OK", "", "{\"kind\":\"StatefulSetList\",")));
  server.once(Kind::list_sets, sends(answer("200 OK", "", "<html>")));
  server.once(Kind::list_sets, sends("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"kind\""));
  start_with_two();
  EXPECT_EQ(failures(FailureReason::malformed), 2U);
  EXPECT_EQ(failures(FailureReason::unreachable), 1U);
}

TEST_F(KubernetesWatchTest, AnEventThatMakesNoSenseIsFollowedByAList) {
  server.once(Kind::watch_slices, [](Stage& stage) {
    stage.send(FakeApiServer::watch_head() + FakeApiServer::chunk("{\"type\":\"NEWS\"}\n"));
    stage.stall();
  });
  start_with_two();
  server.apply(moved("10.0.0.20"));
  EXPECT_TRUE(reaches("cache-1", "10.0.0.20"));
  EXPECT_EQ(failures(FailureReason::malformed), 1U);
  EXPECT_EQ(server.requests(Kind::list_slices), 2U);
}

TEST_F(KubernetesWatchTest, EventsAreUnderstoodByteByByte) {
  start_with_two();
  server.once(Kind::watch_slices, [this](Stage& stage) {
    server.apply(moved("10.0.0.20"));
    stage.send(FakeApiServer::watch_head());
    for (const char each : server.event_of_slice("MODIFIED", "cache-abc")) {
      stage.send(FakeApiServer::chunk({&each, 1}));
    }
    stage.stall();
  });
  server.cut(Kind::watch_slices);
  EXPECT_TRUE(reaches("cache-1", "10.0.0.20"));
  EXPECT_EQ(server.requests(Kind::watch_slices), 2U);
}

TEST_F(KubernetesWatchTest, AnEventThatIsCutIsToldAgain) {
  start_with_two();
  for (const bool in_order : {true, false}) {
    server.once(Kind::watch_slices, [this, in_order](Stage& stage) {
      const std::string event = server.event_of_slice("MODIFIED", "cache-abc");
      const std::string half = event.substr(0, event.size() / 2);
      stage.send(FakeApiServer::watch_head());
      stage.send(in_order ? support::chunked(half, 10) : FakeApiServer::chunk(half) + "ff\r\n{");
    });
  }
  server.apply(moved("10.0.0.19"));
  server.cut(Kind::watch_slices);
  ASSERT_TRUE(eventually([this] { return server.requests(Kind::watch_slices) >= 4; }));
  server.apply(moved("10.0.0.20"));
  EXPECT_TRUE(reaches("cache-1", "10.0.0.20"));
  EXPECT_EQ(failures(FailureReason::malformed), 0U);
  EXPECT_EQ(failures(FailureReason::unreachable), 3U);  // the cut by the server is one
  EXPECT_EQ(server.requests(Kind::list_slices), 1U);
}

TEST_F(KubernetesWatchTest, EventsThatComeTwiceOrLateChangeNothing) {
  start_with_two();
  const std::string old_event = server.event_of_slice("MODIFIED", "cache-abc");
  server.once(Kind::watch_slices, [this, old_event](Stage& stage) {
    server.apply(moved("10.0.0.20"));
    const std::string event = server.event_of_slice("MODIFIED", "cache-abc");
    stage.send(FakeApiServer::watch_head() +
               FakeApiServer::chunk(event + old_event + event +
                                    FakeApiServer::bookmark("EndpointSlice", server.version())));
    stage.stall();
  });
  server.cut(Kind::watch_slices);
  EXPECT_TRUE(reaches("cache-1", "10.0.0.20"));
  server.apply(FakeSet{"cache", "cache", 3, ""});  // something that is told after all of them
  EXPECT_TRUE(eventually([this] { return last().replicas.size() == 3; }));
  EXPECT_TRUE(reaches("cache-1", "10.0.0.20"));
  EXPECT_EQ(told(), 3U);
}

TEST_F(KubernetesWatchTest, AWatchIsResumedFromItsLastBookmark) {
  const std::string bookmark = FakeApiServer::bookmark("EndpointSlice", 777);
  server.once(Kind::watch_slices, [bookmark](Stage& stage) {
    stage.send(FakeApiServer::watch_head() + support::chunked(bookmark, 1000));
  });
  start_with_two();
  ASSERT_TRUE(eventually([this] { return server.requests(Kind::watch_slices) >= 2; }));
  EXPECT_THAT(server.heads(Kind::watch_slices).at(1), HasSubstr("&resourceVersion=777&"));
  EXPECT_EQ(failures(FailureReason::unreachable), 0U);
}

// A connection may be dead without either side knowing.
TEST_F(KubernetesWatchTest, ReadAgainWatchesBeginAnewWhereTheyWere) {
  server.once(Kind::watch_slices, [](Stage& stage) {
    stage.send(FakeApiServer::watch_head());
    stage.stall();
  });
  start_with_two();
  server.apply(moved("10.0.0.20"));
  EXPECT_TRUE(eventually([this] {
    discovery->read_again();
    return server.requests(Kind::watch_slices) >= 2 && server.requests(Kind::watch_sets) >= 2;
  }));
  EXPECT_TRUE(reaches("cache-1", "10.0.0.20"));
  EXPECT_EQ(failures(FailureReason::unreachable), 0U);
  EXPECT_EQ(server.requests(Kind::list_slices), 1U);
  EXPECT_GE(discovery->figures().read_again, 1U);
}

TEST_F(KubernetesWatchTest, AnErrorEventIsAFailureThatIsGotOver) {
  server.once(Kind::watch_sets, [](Stage& stage) {
    stage.send(FakeApiServer::watch_head() +
               FakeApiServer::chunk(FakeApiServer::error_event(500, "InternalError")));
    stage.stall();
  });
  start_with_two();
  server.apply(FakeSet{"cache", "cache", 3, ""});
  EXPECT_TRUE(eventually([this] { return last().replicas.size() == 3; }));
  EXPECT_EQ(failures(FailureReason::other), 1U);
  EXPECT_EQ(server.requests(Kind::list_sets), 1U);
}

}  // namespace
}  // namespace ringside::k8s
