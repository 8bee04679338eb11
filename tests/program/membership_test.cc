#include "program/membership.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program/values.h"
#include "tier/membership_json.h"

namespace ringside::program {
namespace {

MembershipPointer membership_of(const std::string& members, std::uint64_t version) {
  return *tier::make_membership(*parse_members(members), "ring", version);
}

// The rule of the file and PUT /topology, as a table: what the file said, what it says, and what
// counts then, where PUT /topology had made the present version 5.
TEST(Membership, AReloadReplacesItOnlyWhereTheFileChanged) {
  const auto present = membership_of("put=h:9", 5);
  struct Case {
    std::string before;
    std::string after;
    std::uint64_t version_before;
    std::uint64_t version_after;
    std::uint64_t expected_version;  // 0: refused
  };
  const std::vector<Case> cases{
      {"a=h:1", "a=h:1", 0, 0, 5},  // nothing new in the file: PUT's stays
      {"a=h:1", "a=h:1", 3, 3, 5},
      {"a=h:1", "a=h:1,b=h:2", 0, 0, 6},  // the next
      {"a=h:1", "a=h:2", 0, 0, 6},        // an address alone
      {"a=h:1", "a=h:1,b=h:2", 3, 8, 8},
      {"a=h:1", "a=h:1", 3, 8, 8},  // said again with a higher number: the file's counts
      {"a=h:1", "a=h:1,b=h:2", 3, 3, 0},
      {"a=h:1", "a=h:1,b=h:2", 3, 5, 0},
      {"a=h:1", "a=h:1,b=h:2", 3, 0, 6},
  };
  for (const Case& one : cases) {
    Configuration running;
    running.topology_version = one.version_before;
    Configuration next;
    next.topology_version = one.version_after;
    const auto before = *parse_members(one.before);
    const auto after = *parse_members(one.after);
    const auto result = reloaded_membership(present, before, after, running, next);
    ASSERT_EQ(result.has_value(), one.expected_version != 0) << one.after << one.version_after;
    if (!result) continue;
    EXPECT_EQ((*result)->topology->version(), one.expected_version);
    const bool kept = one.expected_version == 5;
    EXPECT_EQ((*result)->topology->members()[0].name, kept ? "put" : "a");
  }
}

TEST(Membership, AnotherSchemeIsAnotherTopology) {
  Configuration next;
  next.scheme = "jedis-ring";
  const auto members = *parse_members("a=h:1");
  const auto result =
      reloaded_membership(membership_of("a=h:1", 5), members, members, Configuration{}, next);
  ASSERT_TRUE(result);
  EXPECT_EQ((*result)->topology->scheme(), "jedis-ring");
  EXPECT_EQ((*result)->topology->version(), 6U);
}

k8s::Roster roster_of(std::uint64_t version, std::size_t replicas) {
  k8s::Roster roster;
  roster.version = version;
  for (std::size_t i = 0; i < replicas; ++i) {
    k8s::Replica replica;
    replica.name = "cache-" + std::to_string(i);
    replica.address = {"10.0.0." + std::to_string(i + 1), 8080};
    replica.zone = "a";
    replica.ready = true;
    roster.replicas.push_back(replica);
  }
  return roster;
}

MembershipPointer nobody() {
  Configuration configuration;
  configuration.kubernetes = k8s::Target{"shop", "cache", ""};
  return *first_membership(configuration, {});
}

TEST(DiscoveredMembership, IsTheRostersNamesAndVersionWhereverTheyAre) {
  EXPECT_EQ(nobody()->topology->version(), 0U);
  k8s::Roster roster = roster_of(7, 12);
  roster.replicas[3].address = {};
  roster.replicas[3].ready = false;
  roster.replicas[4].terminating = true;
  const auto made = discovered_membership(*nobody(), roster, "ring");
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->topology->version(), 7U);
  ASSERT_EQ((*made)->topology->members().size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) {  // cache-10 stands behind cache-9 in both
    EXPECT_EQ((*made)->topology->members()[i].name, roster.replicas[i].name);
    EXPECT_EQ((*made)->addresses[i], roster.replicas[i].address);
    EXPECT_EQ((*made)->states[i].ready, roster.replicas[i].ready);
    EXPECT_EQ((*made)->states[i].terminating, roster.replicas[i].terminating);
  }
  const auto page = nlohmann::json::parse(tier::to_json(**made));
  EXPECT_TRUE(page["members"][3]["address"].is_null());
  EXPECT_EQ(page["members"][3]["ready"], false);
  EXPECT_EQ(page["members"][4]["terminating"], true);
  EXPECT_EQ(page["members"][5]["address"], "10.0.0.6:8080");
  EXPECT_EQ(page["members"][5]["placed_in"], "a");
}

// Membership is not health: only names and weights make another topology.
TEST(DiscoveredMembership, PlacesZonesAndReadinessDoNotMakeAnotherTopology) {
  const auto before = discovered_membership(*nobody(), roster_of(7, 10), "ring");
  struct Case {
    std::string what;
    std::function<void(k8s::Roster&)> change;
    bool other_topology;
  };
  const std::vector<Case> cases{
      {"nothing", [](k8s::Roster&) {}, false},
      {"another address", [](auto& r) { r.replicas[2].address.host = "10.9.9.9"; }, false},
      {"nowhere", [](auto& r) { r.replicas[2].address = {}; }, false},
      {"not ready", [](auto& r) { r.replicas[2].ready = false; }, false},
      {"terminating", [](auto& r) { r.replicas[2].terminating = true; }, false},
      {"another zone", [](auto& r) { r.replicas[2].zone = "b"; }, false},
      {"another version alone", [](auto& r) { r.version = 8; }, false},
      {"a weight", [](auto& r) { r.replicas[2].weight = 2; }, true},
      {"one more", [](auto& r) { r = roster_of(8, 11); }, true},
      {"one less", [](auto& r) { r = roster_of(8, 9); }, true},
  };
  for (const Case& one : cases) {
    k8s::Roster roster = roster_of(7, 10);
    one.change(roster);
    const auto after = discovered_membership(**before, roster, "ring");
    ASSERT_TRUE(after) << one.what;
    EXPECT_EQ((*after)->topology->id() != (*before)->topology->id(), one.other_topology)
        << one.what;
    EXPECT_EQ((*after)->topology->version(), roster.version) << one.what;
  }
}

TEST(DiscoveredMembership, IsNumberedHereWhereItsSourceHasNoVersion) {
  const auto first = discovered_membership(*nobody(), roster_of(0, 2), "ring");
  EXPECT_EQ((*first)->topology->version(), 1U);
  k8s::Roster moved = roster_of(0, 2);
  moved.replicas[0].address.port = 1;
  const auto second = discovered_membership(**first, moved, "ring");
  EXPECT_EQ((*second)->topology, (*first)->topology) << "not even built again";
  EXPECT_EQ((*second)->addresses[0].port, 1);
  EXPECT_EQ(discovered_membership(**second, roster_of(0, 3), "ring").value()->topology->version(),
            2U);
  EXPECT_EQ(
      discovered_membership(**second, roster_of(0, 2), "simple-sha1").value()->topology->version(),
      2U);
}

// DNS tells cache-10 before cache-2; with more than ten each flicker made another version.
TEST(DiscoveredMembership, OrderedOtherwiseIsTheSame) {
  k8s::Roster roster = roster_of(0, 12);
  std::sort(roster.replicas.begin(), roster.replicas.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  ASSERT_EQ(roster.replicas[2].name, "cache-10");
  const auto first = discovered_membership(*nobody(), roster, "ring");
  roster.replicas[2].ready = false;
  const auto second = discovered_membership(**first, roster, "ring");
  EXPECT_EQ((*second)->topology, (*first)->topology);
  EXPECT_FALSE((*second)->states[10].ready);
}

TEST(DiscoveredMembership, ThatMakesNoTopologyIsRefused) {
  k8s::Roster twice = roster_of(1, 2);
  twice.replicas[1].name = twice.replicas[0].name;
  EXPECT_FALSE(discovered_membership(*nobody(), twice, "ring"));
  k8s::Roster drained = roster_of(1, 2);
  for (auto& replica : drained.replicas) replica.weight = 0;
  EXPECT_FALSE(discovered_membership(*nobody(), drained, "ring"));
}

}  // namespace
}  // namespace ringside::program
