#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cache/some_origin.h"

// What a replica makes of those who prove nothing, where it has no key and was not told to believe
// everybody.

namespace ringside::cache {
namespace {

using support::answer;
using support::ScriptedPeer;

void believe_nobody(SomeReplica& replica) {
  Settings settings = replica.settings();
  settings.insecure_peers = false;
  replica.apply(std::move(settings));
}

TEST(ReplicaStranger, AReplicaOfNoTierBelievedEverybody) {
  const ScriptedPeer origin(support::always(answer("200 OK", lives, "page")));
  SomeReplica replica(origin.address());
  const std::string claims = "Ringside-Topology: t\r\nRingside-Extra-Key: DE\r\n";
  EXPECT_EQ(replica.get("/", claims).field("ringside-outcome"), "miss");
  believe_nobody(replica);
  const auto strange = replica.get("/", claims + "Ringside-Missed: mallory 1\r\n");
  EXPECT_EQ(strange.body, "page");
  EXPECT_EQ(strange.field("ringside-outcome"), "");
  EXPECT_EQ(strange.field("ringside-unproven"), "1");
  replica.settle();
  EXPECT_EQ(replica.store().entries, 2U) << "each in a keyspace of its own";
  const auto told = replica.client().ask(
      "OPTIONS / HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: 0\r\nRingside-Invalidate: /\r\n" +
      claims + "\r\n");
  EXPECT_EQ(told.status, 403);
  EXPECT_EQ(replica.store().entries, 2U);
}

}  // namespace
}  // namespace ringside::cache
