#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "k8s/kubernetes_discovery.h"
#include "tests/support/fake_api_server.h"

namespace ringside::k8s {

using support::answer;
using support::eventually;
using support::FakeApiServer;
using support::FakeSet;
using support::FakeSlice;
using Kind = FakeApiServer::Kind;

inline const FakeSlice first_slice{
    "cache-abc", "cache", {{"cache-0", "10.0.0.10"}, {"cache-1", "10.0.0.11"}}};

inline std::string refusal(int status, const std::string& reason, const std::string& lines = "") {
  return answer(std::to_string(status) + " No", lines, FakeApiServer::status_body(status, reason));
}

inline FakeApiServer::Script sends(std::string bytes) {
  return [bytes = std::move(bytes)](support::Stage& stage) { stage.send(bytes); };
}

// A discovery in a hurry and the API server that it watches, in namespace shop.
class KubernetesDiscoveryTest : public testing::Test {
 protected:
  KubernetesDiscoveryTest() {
    std::signal(SIGPIPE, SIG_IGN);
    pace.backoff = {Milliseconds{1}, Milliseconds{8}};
    pace.settle = Milliseconds{1};
    pace.delay_most = Milliseconds{5};
  }

  void start() { start(clock); }
  void start(const Clock& by) {
    Access access;
    access.server = server.address();
    access.tls = false;
    access.origin = "the test";
    discovery = watch_kubernetes(
        {"shop", "cache", ""}, access, by,
        [this](const Roster& roster) {
          const std::lock_guard lock(mutex);
          rosters.push_back(roster);
        },
        pace);
  }
  void start_with_two() {
    server.apply(FakeSet{});
    server.apply(first_slice);
    start();
    ASSERT_TRUE(eventually([this] {
      return told() == 1 && discovery->figures().in_touch &&
             server.requests(Kind::watch_sets) > 0 && server.requests(Kind::watch_slices) > 0;
    }));
  }
  std::size_t told() {
    const std::lock_guard lock(mutex);
    return rosters.size();
  }
  Roster last() {
    const std::lock_guard lock(mutex);
    return rosters.empty() ? Roster() : rosters.back();
  }
  // Who resumes a watch from the newest version has read all events before.
  bool has_read_all_slices() {
    const std::string newest = "resourceVersion=" + std::to_string(server.version()) + "&";
    return eventually([&] {
      const auto heads = server.heads(Kind::watch_slices);
      if (!heads.empty() && heads.back().find(newest) != std::string::npos) return true;
      server.cut(Kind::watch_slices);
      return false;
    });
  }
  bool reaches(const std::string& pod, const std::string& address) {
    return eventually([&] {
      for (const Replica& replica : last().replicas) {
        if (replica.name == pod && replica.address.host == address) return true;
      }
      return false;
    });
  }
  bool says(const std::string& words) {
    return eventually([&] { return discovery->figures().words.find(words) != std::string::npos; });
  }
  std::uint64_t failures(FailureReason reason) {
    return discovery->figures().failures[static_cast<std::size_t>(reason)];
  }
  FakeSlice moved(const std::string& address) {
    FakeSlice slice = first_slice;
    slice.pods[1].address = address;
    return slice;
  }

  Pace pace;
  SystemClock clock;
  FakeApiServer server;
  std::mutex mutex;
  std::vector<Roster> rosters;
  std::unique_ptr<Discovery> discovery;  // last: its follower uses all of the above
};

}  // namespace ringside::k8s
