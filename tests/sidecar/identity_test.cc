// What a sidecar is called by others, and how it knows itself.
#include <gtest/gtest.h>

#include <string>

#include "tests/sidecar/some_sidecar.h"

namespace ringside::sidecar {
namespace {

using support::always;
using support::ScriptedPeer;

// `ringside (5d1f09ab)` of the Via in the head that a replica got last.
std::string via_in(const ScriptedPeer& replica) {
  const std::string head = replica.heads().back();
  const std::string_view start = "\r\nVia: 1.1 ";
  const auto from = head.find(start) + start.size();
  return head.substr(from, head.find("\r\n", from) - from);
}

// The mark was the process's: the second one took the request for one that went round in circles.
TEST(Identity, TwoSidecarsOfOneProcessAreTwoHops) {
  const ScriptedPeer replica(always(hit_of("cache-0")));
  SomeSidecar second({replica.address()});
  SomeSidecar first({second->address()});
  const auto reply = first.get("/a");
  EXPECT_EQ(reply.status, 200) << reply.head;
  EXPECT_EQ(reply.field("cache-status"), "cache-0; hit");
}

TEST(Identity, ASidecarKnowsItself) {
  const ScriptedPeer replica(always(hit_of("cache-0")));
  SomeSidecar sidecar({replica.address()});
  EXPECT_EQ(sidecar.get("/a").status, 200);
  EXPECT_EQ(sidecar.get("/a", "Via: 1.1 " + via_in(replica) + "\r\n").status, 508);
}

TEST(Identity, ItsNameIsReloadedAndItsMarkStays) {
  const ScriptedPeer replica(always(hit_of("cache-0")));
  SomeSidecar sidecar({replica.address()});
  EXPECT_EQ(sidecar.get("/a").status, 200);
  const std::string before = via_in(replica);
  ASSERT_TRUE(before.starts_with("ringside (")) << before;
  sidecar->apply(settings_for({replica.address()}, [](auto& settings) { settings.name = "edge"; }));
  const auto reply = sidecar.get("/a");
  EXPECT_EQ(via_in(replica), "edge" + before.substr(before.find(' ')));
  EXPECT_EQ(reply.field("cache-status"), "cache-0; hit");
  EXPECT_EQ(reply.field("via"), "1.1 edge");
}

}  // namespace
}  // namespace ringside::sidecar
