#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/k8s/discovery_fixture.h"
#include "tests/support/fake_clock.h"

namespace ringside::k8s {
namespace {

using support::Stage;
using testing::HasSubstr;

TEST_F(KubernetesDiscoveryTest, TellsWhatIsThereAndWhatChanges) {
  start_with_two();
  ASSERT_EQ(last().replicas.size(), 2U);
  EXPECT_EQ(last().replicas[0].name, "cache-0");
  EXPECT_EQ(last().replicas[0].address.text(), "10.0.0.10:8080");
  EXPECT_TRUE(last().replicas[0].ready);
  EXPECT_TRUE(says("StatefulSet shop/cache, generation 1, 2 replicas, 2 ready, service cache"));
  EXPECT_TRUE(discovery->figures().last_answer.has_value());
  EXPECT_EQ(discovery->source(), "kubernetes");

  server.apply(moved("10.0.0.12"));
  EXPECT_TRUE(reaches("cache-1", "10.0.0.12"));
  server.apply(FakeSet{"cache", "cache", 3, ""});
  EXPECT_TRUE(eventually([this] { return last().replicas.size() == 3; }));
}

TEST_F(KubernetesDiscoveryTest, TheQueriesAskForOneSetAndItsSlices) {
  start_with_two();
  EXPECT_THAT(server.heads(Kind::list_sets).at(0),
              HasSubstr("GET /apis/apps/v1/namespaces/shop/statefulsets?"
                        "fieldSelector=metadata.name%3Dcache HTTP/1.1\r\n"));
  EXPECT_THAT(server.heads(Kind::list_slices).at(0),
              HasSubstr("?labelSelector=kubernetes.io%2Fservice-name%3Dcache HTTP/1.1\r\n"));
  EXPECT_THAT(server.heads(Kind::watch_slices).at(0),
              HasSubstr("&watch=1&allowWatchBookmarks=true&resourceVersion=102&timeoutSeconds="));
}

TEST_F(KubernetesDiscoveryTest, NothingIsToldBeforeBothAreKnown) {
  server.apply(first_slice);
  start();
  EXPECT_TRUE(says("no StatefulSet"));
  EXPECT_TRUE(eventually([this] { return failures(FailureReason::not_found) > 3; }));
  EXPECT_FALSE(discovery->figures().in_touch);
  EXPECT_FALSE(discovery->figures().last_answer.has_value());
  EXPECT_EQ(told(), 0U);
  EXPECT_EQ(server.requests(Kind::list_slices), 0U);  // of which service?

  server.apply(FakeSet{});
  EXPECT_TRUE(reaches("cache-1", "10.0.0.11"));
  EXPECT_TRUE(eventually([this] { return discovery->figures().in_touch; }));
}

TEST_F(KubernetesDiscoveryTest, AnotherServiceIsFollowedFromTheStart) {
  start_with_two();
  server.apply(FakeSlice{"other-abc", "other", {{"cache-0", "10.0.9.10"}}});
  server.apply(FakeSet{"cache", "other", 2, ""});
  EXPECT_TRUE(reaches("cache-0", "10.0.9.10"));
  EXPECT_TRUE(reaches("cache-1", ""));
  server.apply(moved("10.0.0.99"));  // of the old service
  server.apply(FakeSlice{"other-abc", "other", {{"cache-0", "10.0.9.11"}}});
  EXPECT_TRUE(reaches("cache-0", "10.0.9.11"));
  EXPECT_TRUE(reaches("cache-1", ""));
  EXPECT_TRUE(says("service other"));
}

TEST_F(KubernetesDiscoveryTest, ADeletedSetKeepsItsRosterUntilThereIsOneAgain) {
  start_with_two();
  server.delete_set();
  EXPECT_TRUE(says("no StatefulSet"));
  EXPECT_FALSE(discovery->figures().in_touch);
  EXPECT_EQ(told(), 1U);
  server.apply(FakeSet{"cache", "cache", 5, ""});
  EXPECT_TRUE(eventually([this] { return last().replicas.size() == 5; }));
  EXPECT_TRUE(eventually([this] { return discovery->figures().in_touch; }));
}

TEST_F(KubernetesDiscoveryTest, WhileTheServerIsAwayTheLastRosterStays) {
  start_with_two();
  server.go_away();
  EXPECT_TRUE(eventually([this] { return failures(FailureReason::unreachable) > 6; }));
  EXPECT_FALSE(discovery->figures().in_touch);
  EXPECT_TRUE(says("2 replicas, 2 ready"));
  server.apply(moved("10.0.0.20"));
  EXPECT_EQ(told(), 1U);

  server.come_back();
  EXPECT_TRUE(reaches("cache-1", "10.0.0.20"));
  EXPECT_TRUE(eventually([this] { return discovery->figures().in_touch; }));
  EXPECT_EQ(told(), 2U);  // nothing in between
  // It went on where it was: nothing was listed again.
  EXPECT_EQ(server.requests(Kind::list_slices), 1U);
}

TEST_F(KubernetesDiscoveryTest, WhatIsGoneIsListedAgainWithoutAFlap) {
  start_with_two();
  server.go_away();
  EXPECT_TRUE(eventually([this] { return failures(FailureReason::unreachable) > 1; }));
  server.compact();
  server.apply(moved("10.0.0.20"));
  server.come_back();
  EXPECT_TRUE(reaches("cache-1", "10.0.0.20"));
  EXPECT_TRUE(eventually([this] { return failures(FailureReason::gone) >= 2; }));
  EXPECT_TRUE(eventually([this] { return server.requests(Kind::list_sets) >= 2; }));
  EXPECT_EQ(told(), 2U);
}

TEST_F(KubernetesDiscoveryTest, GoneAsAStatusIsListedAgainToo) {
  server.once(Kind::watch_slices, sends(refusal(410, "Expired")));
  start_with_two();
  EXPECT_TRUE(eventually([this] { return server.requests(Kind::list_slices) == 2; }));
  server.apply(moved("10.0.0.20"));
  EXPECT_TRUE(reaches("cache-1", "10.0.0.20"));
  EXPECT_EQ(failures(FailureReason::gone), 1U);
}

TEST_F(KubernetesDiscoveryTest, RightsMayBeGrantedLater) {
  server.always(Kind::list_slices, sends(refusal(403, "Forbidden")));
  server.apply(FakeSet{});
  server.apply(first_slice);
  start();
  EXPECT_TRUE(eventually([this] { return failures(FailureReason::forbidden) > 2; }));
  EXPECT_TRUE(says("endpointslices"));
  EXPECT_EQ(told(), 0U);
  server.always(Kind::list_slices, nullptr);
  EXPECT_TRUE(reaches("cache-1", "10.0.0.11"));
}

TEST_F(KubernetesDiscoveryTest, WhoMayNotWatchIsToldSoAndIsGivenWhatTheListSays) {
  server.always(Kind::watch_slices, sends(refusal(403, "Forbidden")));
  server.apply(FakeSet{});
  server.apply(first_slice);
  start();
  EXPECT_TRUE(reaches("cache-1", "10.0.0.11"));
  EXPECT_TRUE(eventually([this] { return failures(FailureReason::forbidden) > 3; }));
  EXPECT_FALSE(discovery->figures().in_touch);
  EXPECT_EQ(server.requests(Kind::list_slices), 1U);  // a list is no cure
}

TEST_F(KubernetesDiscoveryTest, WithoutTheRightToAskForVersionsItIsV1) {
  server.always(Kind::group, sends(refusal(403, "Forbidden")));
  start_with_two();
  EXPECT_EQ(failures(FailureReason::forbidden), 0U);
}

TEST_F(KubernetesDiscoveryTest, TheVersionIsAskedAgainAfterA404) {
  server.once(Kind::list_slices, sends(refusal(404, "NotFound")));
  start_with_two();
  EXPECT_EQ(server.requests(Kind::group), 2U);
  EXPECT_EQ(failures(FailureReason::not_found), 1U);
}

TEST_F(KubernetesDiscoveryTest, BrokenWeightsLeaveTheLastGoodRoster) {
  start_with_two();
  server.apply(FakeSet{"cache", "cache", 3, "heavy"});
  EXPECT_TRUE(says("ringside.dev/weight"));
  EXPECT_EQ(failures(FailureReason::malformed), 1U);
  EXPECT_EQ(told(), 1U);
  server.apply(FakeSet{"cache", "cache", 3, "cache-2=4"});
  EXPECT_TRUE(eventually([this] { return last().replicas.size() == 3; }));
  EXPECT_EQ(last().replicas[2].weight, 4U);
  EXPECT_EQ(discovery->figures().words.find("ringside.dev/weight"), std::string::npos);
}

TEST_F(KubernetesDiscoveryTest, ABurstOfEventsIsToldInOneRoster) {
  support::FakeClock stands_still;
  server.apply(FakeSet{});
  server.apply(first_slice);
  start(stands_still);
  for (int i = 0; i < 100; ++i) server.apply(moved("10.0.1." + std::to_string(i)));
  ASSERT_TRUE(has_read_all_slices());
  EXPECT_EQ(told(), 0U);
  stands_still.advance(pace.settle);
  EXPECT_TRUE(reaches("cache-1", "10.0.1.99"));
  EXPECT_EQ(told(), 1U);
  discovery.reset();
}

TEST_F(KubernetesDiscoveryTest, WhatSaysTheSameIsNotTold) {
  start_with_two();
  for (int i = 0; i < 20; ++i) {
    server.apply(FakeSlice{"x", "cache", {{"stranger", "10.0.0." + std::to_string(i)}}});
    ASSERT_TRUE(has_read_all_slices());
  }
  server.apply(FakeSet{"cache", "cache", 3, ""});  // something that is told after them
  EXPECT_TRUE(eventually([this] { return last().replicas.size() == 3; }));
  EXPECT_EQ(told(), 2U);
}

// Whatever it waits for, it ends; a test that hangs here is ended by ctest.
TEST_F(KubernetesDiscoveryTest, EndsWhileItWaits) {
  pace = Pace{};  // the real one, with long waits
  const FakeApiServer::Script silent = [](Stage& stage) { stage.stall(); };
  const std::vector<std::function<void()>> states = {
      [] {},                                                // a connection under way
      [&] { server.always(Kind::list_sets, silent); },      // for an answer
      [this] { server.always(Kind::list_sets, nullptr); },  // in a backoff: there is no set
      [this] { server.apply(FakeSet{}); },                  // a silent watch
      [&] { server.always(Kind::list_slices, silent); },
      [this] { server.go_away(); },
  };
  for (const auto& state : states) {
    state();
    const std::size_t before = server.requests(Kind::list_sets);
    start();
    if (&state != &states.front() && &state != &states.back()) {
      EXPECT_TRUE(eventually([&] { return server.requests(Kind::list_sets) > before; }));
    }
    const auto begun = std::chrono::steady_clock::now();
    discovery.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, support::patience);
  }
}

}  // namespace
}  // namespace ringside::k8s
