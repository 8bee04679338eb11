#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cache/missed_purges.h"
#include "tests/cache/some_origin.h"
#include "tests/support/on_core.h"

// What a replica does about what it has missed, as a sidecar tells it.

namespace ringside::cache {
namespace {

using support::answer;
using support::eventually;
using support::Gate;
using support::ScriptedPeer;
using support::Stage;

const std::string page = answer("200 OK", lives, "page");

std::string of_sidecar(const std::string& news) {
  return "Ringside-Topology: t\r\nRingside-Missed: " + news + "\r\n";
}

void fill(SomeReplica& replica) {
  for (const auto* const target : {"/a", "/b"}) {
    EXPECT_EQ(replica.get(target, "Ringside-Topology: t\r\n").body, "page");
  }
  replica.settle();
  EXPECT_EQ(replica.store().entries, 2U);
}

TEST(ReplicaMissed, NewsEmptyTheStoreBeforeAnythingIsAnswered) {
  const ScriptedPeer origin(support::always(page));
  SomeReplica replica(origin.address());
  struct Row {
    std::string news;
    bool empties;
  };
  for (const Row& row : std::vector<Row>{{"s1 3", true},
                                         {"s1 3", false},
                                         {"s1 2", false},
                                         {"s1 4", true},
                                         {"s2 1", true},
                                         {"s2 1", false},
                                         {"s1 4", false},
                                         {"s3", false},
                                         {"s3 ", false},
                                         {" 7", false},
                                         {"s3 7x", false},
                                         {"s3 -7", false},
                                         {"s3 99999999999999999999999", false},
                                         {"", false}}) {
    fill(replica);
    const auto lines = of_sidecar(row.news) + "Cache-Control: only-if-cached\r\n";
    EXPECT_EQ(replica.get("/a", lines).status, row.empties ? 504 : 200) << row.news;
    EXPECT_EQ(replica.store().entries, row.empties ? 0U : 2U) << row.news;
  }
}

TEST(ReplicaMissed, AProbeBringsThemToo) {
  const ScriptedPeer origin(support::always(page));
  SomeReplica replica(origin.address());
  fill(replica);
  const auto probe = "OPTIONS * HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: 0\r\n";
  const auto heard = replica.client().ask(probe + of_sidecar("s1 1") + "\r\n");
  EXPECT_EQ(heard.status, 200);
  EXPECT_EQ(heard.field("ringside-heeded"), "1");
  EXPECT_EQ(replica.store().entries, 0U);
}

TEST(ReplicaMissed, ClientsHaveNoNews) {
  const ScriptedPeer origin(support::always(page));
  SomeReplica replica(origin.address());
  fill(replica);
  EXPECT_EQ(replica.get("/a", "Ringside-Missed: s1 1\r\n").status, 200);
  EXPECT_EQ(replica.store().entries, 2U);
}

TEST(ReplicaMissed, WhatIsBeingFetchedIsNotStoredNorShared) {
  Gate go_on;
  std::atomic<int> requests{0};
  const ScriptedPeer origin([&](Stage& stage) {
    while (true) {
      stage.read_request();
      const int number = ++requests;
      if (number == 1) stage.wait(go_on);
      stage.send(answer("200 OK", lives, std::to_string(number)));
    }
  });
  SomeReplica replica(origin.address());
  auto early = replica.client();
  early.send(support::get_request("/a", "Ringside-Topology: t\r\n"));
  ASSERT_TRUE(eventually([&] { return requests == 1; }));
  EXPECT_EQ(replica.get("/a", of_sidecar("s1 1")).body, "2");
  go_on.open();
  EXPECT_EQ(early.read().body, "1");
  replica.settle();
  EXPECT_EQ(replica.get("/a", of_sidecar("s1 1")).body, "2");
}

// On all cores at once: one empties the store, nobody is answered before.
TEST(ReplicaMissed, ManyBringThemAtOnce) {
  const ScriptedPeer origin(support::always(page));
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 4);
  for (int round = 1; round <= 5; ++round) {
    fill(replica);
    std::vector<support::TestClient> clients;
    for (int i = 0; i < 16; ++i) clients.push_back(replica.client());
    const auto lines =
        of_sidecar("s1 " + std::to_string(round)) + "Cache-Control: only-if-cached\r\n";
    for (auto& client : clients) client.send(support::get_request("/a", lines));
    for (auto& client : clients) EXPECT_EQ(client.read().status, 504);
    EXPECT_EQ(replica.store().entries, 0U);
  }
}

TEST(MissedPurges, OneEmptiesAndTheOthersWaitForIt) {
  using Next = MissedPurges::Next;
  using News = MissedPurges::News;
  support::FakeClock clock;
  net::CoreGroup cores("test", 1, clock);
  net::Waiter waiter(cores[0]);
  MissedPurges missed;
  const auto next = [&](const News& news) { return missed.next(news, waiter.bell()); };
  EXPECT_EQ(next({"a", 2}), Next::empty);
  EXPECT_EQ(next({"a", 2}), Next::wait);
  EXPECT_EQ(next({"b", 1}), Next::wait);
  missed.emptied({"a", 2});
  EXPECT_EQ(next({"a", 2}), Next::none);
  EXPECT_EQ(next({"a", 1}), Next::none);
  // It was missed when the store was being emptied already.
  EXPECT_EQ(next({"b", 1}), Next::empty);
  missed.emptied({"b", 1});
  EXPECT_EQ(next({"b", 1}), Next::none);
  EXPECT_EQ(next({"a", 3}), Next::empty);
}

TEST(MissedPurges, OfVeryManySidecarsTheEarlierAreForgotten) {
  using Next = MissedPurges::Next;
  MissedPurges missed;
  for (std::size_t i = 0; i <= limits::sidecars_heeded; ++i) {
    const MissedPurges::News news{std::to_string(i), 1};
    EXPECT_EQ(missed.next(news, nullptr), Next::empty);
    missed.emptied(news);
  }
  EXPECT_EQ(missed.next({std::to_string(limits::sidecars_heeded), 1}, nullptr), Next::none);
  EXPECT_EQ(missed.next({"0", 1}, nullptr), Next::empty);
}

}  // namespace
}  // namespace ringside::cache
