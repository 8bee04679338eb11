#include "k8s/dns_membership.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"

namespace ringside::k8s {
namespace {

constexpr Milliseconds kept{60'000};
constexpr SteadyPoint start{Seconds{1'000'000}};

// One answer, and the roster after it: `name` ready, `(name)` not.
struct Change {
  int at_s = 0;
  std::vector<std::string> answer;  // empty: none, or one without a record
  std::string roster;
};

struct History {
  std::string what;
  std::vector<Change> steps;
};

DnsHost host(const std::string& name) { return {name, Endpoint{name + ".test", 8080}}; }

std::string text(const Roster& roster) {
  std::string out;
  for (const Replica& replica : roster.replicas) {
    EXPECT_EQ(replica.ready, !replica.address.host.empty());
    EXPECT_EQ(replica.serving, replica.ready);
    if (replica.ready) {
      EXPECT_EQ(replica.address, host(replica.name).address);
    }
    out += out.empty() ? "" : " ";
    out += replica.ready ? replica.name : "(" + replica.name + ")";
  }
  return out;
}

void follow(const History& history) {
  DnsKnown known;
  for (const Change& step : history.steps) {
    std::vector<DnsHost> hosts;
    for (const std::string& name : step.answer) hosts.push_back(host(name));
    if (hosts.empty()) {
      known = without_answer(known);
    } else {
      const auto next = with_answer(known, hosts, start + Seconds{step.at_s}, kept);
      ASSERT_TRUE(next) << history.what << " at " << step.at_s << ": " << next.error().message;
      known = *next;
    }
    EXPECT_EQ(text(roster_of(known)), step.roster) << history.what << " at " << step.at_s;
  }
}

TEST(DnsMembership, AReplicaThatIsMissingStaysForAWhile) {
  const std::vector<History> histories{
      {"the last one restarts",
       {{0, {"c-0", "c-1", "c-2"}, "c-0 c-1 c-2"},
        {5, {"c-0", "c-1"}, "c-0 c-1 (c-2)"},
        {55, {"c-0", "c-1"}, "c-0 c-1 (c-2)"},
        {56, {"c-0", "c-1", "c-2"}, "c-0 c-1 c-2"},
        {86, {"c-0", "c-1"}, "c-0 c-1 (c-2)"},
        {115, {"c-0", "c-1"}, "c-0 c-1 (c-2)"},
        {116, {"c-0", "c-1"}, "c-0 c-1"}}},
      {"two at the end go, one after the other",
       {{0, {"c-0", "c-1", "c-2"}, "c-0 c-1 c-2"},
        {30, {"c-0", "c-1"}, "c-0 c-1 (c-2)"},
        {50, {"c-0"}, "c-0 (c-1) (c-2)"},
        {70, {"c-0"}, "c-0 (c-1)"},
        {90, {"c-0"}, "c-0"}}},
      {"names that are no ordinals",
       {{0, {"10.0.0.1", "10.0.0.2"}, "10.0.0.1 10.0.0.2"},
        {30, {"10.0.0.1", "10.0.0.3"}, "10.0.0.1 (10.0.0.2) 10.0.0.3"},
        {60, {"10.0.0.1", "10.0.0.3"}, "10.0.0.1 10.0.0.3"}}},
      {"a process that was stopped does not believe the first answer",
       {{0, {"c-0", "c-1"}, "c-0 c-1"},
        {9000, {"c-0"}, "c-0 (c-1)"},
        {9001, {"c-0"}, "c-0 (c-1)"},
        {9030, {"c-0"}, "c-0"}}},
  };
  for (const History& history : histories) follow(history);
}

TEST(DnsMembership, OrdinalsBetweenTheFirstAndTheLastAreMembers) {
  const std::vector<History> histories{
      {"unseen", {{0, {"c-0", "c-3"}, "c-0 (c-1) (c-2) c-3"}}},
      {"in the middle, for ever",
       {{0, {"c-0", "c-1", "c-2"}, "c-0 c-1 c-2"},
        {40, {"c-0", "c-2"}, "c-0 (c-1) c-2"},
        {80, {"c-0", "c-2"}, "c-0 (c-1) c-2"},
        {4000, {"c-0", "c-2"}, "c-0 (c-1) c-2"}}},
      {"the first too: a StatefulSet shrinks at the end",
       {{0, {"c-0", "c-1"}, "c-0 c-1"},
        {40, {"c-1"}, "(c-0) c-1"},
        {80, {"c-1"}, "(c-0) c-1"},
        {4000, {"c-1"}, "(c-0) c-1"}}},
      {"not from 0", {{0, {"c-5", "c-7"}, "c-5 (c-6) c-7"}, {1, {"c-4"}, "c-4 (c-5) (c-6) (c-7)"}}},
      {"two StatefulSets, one that goes and comes again elsewhere",
       {{0, {"a-0", "b-2", "b-4"}, "a-0 b-2 (b-3) b-4"},
        {30, {"a-0"}, "a-0 (b-2) (b-3) (b-4)"},
        {60, {"a-0"}, "a-0"},
        {61, {"a-0", "b-7"}, "a-0 b-7"}}},
      {"CoreDNS names other pods by their addresses",
       {{0, {"10-0-0-1", "10-0-0-4", "fd00--1", "fd00--4"}, "10-0-0-1 10-0-0-4 fd00--1 fd00--4"}}},
      {"numbers that are too far apart are none that count",
       {{0, {"c-22222", "c-99999"}, "c-22222 c-99999"}}},
      {"grown", {{0, {"c-0"}, "c-0"}, {1, {"c-0", "c-1", "c-2"}, "c-0 c-1 c-2"}}},
  };
  for (const History& history : histories) follow(history);
}

TEST(DnsMembership, OnlyAnswersWithRecordsCount) {
  const std::vector<History> histories{
      {"nobody answers, or nothing is there",
       {{0, {"c-0", "c-1"}, "c-0 c-1"}, {100, {}, "c-0 c-1"}, {4000, {}, "c-0 c-1"}}},
      {"nothing at first", {{0, {}, ""}, {1, {"c-0"}, "c-0"}}},
      {"a name server that learns it all anew",
       {{0, {"c-0", "c-1", "c-2"}, "c-0 c-1 c-2"},
        {5, {}, "c-0 c-1 c-2"},
        {300, {"c-0"}, "c-0 (c-1) (c-2)"},
        {305, {"c-0", "c-2"}, "c-0 (c-1) c-2"},
        {310, {"c-0", "c-1", "c-2"}, "c-0 c-1 c-2"}}},
      {"time between two answers counts, time around a failure does not",
       {{0, {"c-0", "c-1"}, "c-0 c-1"},
        {30, {"c-0"}, "c-0 (c-1)"},
        {31, {}, "c-0 (c-1)"},
        {90, {"c-0"}, "c-0 (c-1)"},
        {119, {"c-0"}, "c-0 (c-1)"},
        {120, {"c-0"}, "c-0"}}},
  };
  for (const History& history : histories) follow(history);
}

TEST(DnsMembership, AReplicaMayBeNamedAndNowhere) {
  const auto known = with_answer({}, {{"c-0", {}}, host("c-1")}, start, kept);
  ASSERT_TRUE(known);
  EXPECT_EQ(text(roster_of(*known)), "(c-0) c-1");
  EXPECT_EQ(roster_of(*known).version, 0U);
}

TEST(DnsMembership, MoreMembersThanATierHasAreRefused) {
  std::vector<DnsHost> hosts;
  for (std::size_t i = 0; i < limits::members; ++i) hosts.push_back(host(fmt::format("c-{}", i)));
  const auto known = with_answer({}, hosts, start, kept);
  ASSERT_TRUE(known);
  EXPECT_EQ(roster_of(*known).replicas.size(), limits::members);
  EXPECT_TRUE(with_answer({}, {host("a-0"), host("a-1000"), host("b-0"), host("b-21"), host("x")},
                          start, kept));
  const auto more = with_answer(*known, {host("other")}, start, kept);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().reason, FailureReason::malformed);
  EXPECT_EQ(more.error().message, "1025 replicas; a tier has at most 1024");
  // Two StatefulSets, most of which nobody has seen.
  EXPECT_FALSE(with_answer(
      {}, {host("a-0"), host("a-1000"), host("b-0"), host("b-21"), host("x"), host("y")}, start,
      kept));
}

TEST(DnsMembership, APodsNameHasAnOrdinal) {
  struct Case {
    std::string name;
    std::optional<OrdinalName> expected;
  };
  const std::vector<Case> cases{
      {"cache-0", OrdinalName{"cache", 0}},
      {"ringside-cache-12", OrdinalName{"ringside-cache", 12}},
      {"a1-5", OrdinalName{"a1", 5}},
      {"cache-999999999", OrdinalName{"cache", 999'999'999}},
      {"cache-1000000000", {}},
      {"cache-01", {}},
      {"cache-", {}},
      {"cache", {}},
      {"cache-1x", {}},
      {"-1", {}},
      {"", {}},
      {"10.0.0.1", {}},
      {"10-0-0-1", {}},
      {"2001-db8-0-0-0-0-0-1", {}},
      {"2001-db8--1", {}},
      {"fd00--0", {}},
      {"10-0-0-0-1", OrdinalName{"10-0-0-0", 1}},
  };
  for (const Case& one : cases) EXPECT_EQ(ordinal_name(one.name), one.expected) << one.name;
}

}  // namespace
}  // namespace ringside::k8s
