#include "program/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/tier.h"
#include "program/values.h"

namespace ringside::program {
namespace {

using testing::HasSubstr;

std::shared_ptr<const shard::Topology> topology_of(std::size_t replicas, std::uint64_t version,
                                                   const char* scheme = "ring") {
  std::vector<shard::Member> members;
  for (std::size_t i = 0; i < replicas; ++i)
    members.push_back({"cache-" + std::to_string(i), 1, ""});
  return *shard::Topology::make(members, scheme, version);
}

MembershipPointer membership_with(const std::shared_ptr<const shard::Topology>& topology) {
  const std::size_t members = topology->members().size();
  return std::make_shared<const Membership>(topology, std::vector<Endpoint>(members));
}

TEST(Scale, GrowingMovesBucketsOnlyToTheNewReplica) {
  const auto before = topology_of(10, 1);
  const auto after = topology_of(11, 2);
  const ScaleReport report = compare(*before, *after);
  ASSERT_TRUE(report.moved_buckets);
  EXPECT_GT(*report.moved_buckets, 0U);
  std::size_t lost = 0;
  for (const auto& move : report.moves) {
    lost += move.lost_buckets;
    EXPECT_EQ(move.gained_buckets, move.member == "cache-10" ? *report.moved_buckets : 0U);
  }
  EXPECT_EQ(lost, *report.moved_buckets);
}

TEST(Scale, SummaryIsForPeople) {
  const auto after = topology_of(11, 2);
  const ScaleReport report = compare(*topology_of(10, 1), *after);
  const auto membership = membership_with(after);
  Tier::State state{membership, {{"sidecar", membership}}, {}};
  const auto summary = scale_summary(to_json(state, report));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_THAT(*summary, HasSubstr("replicas   10 -> 11\n"));
  EXPECT_THAT(*summary, HasSubstr("version 1 -> 2, id " + after->id().hex()));
  EXPECT_THAT(*summary, HasSubstr("of 16,384 have another owner ("));
  EXPECT_THAT(*summary, HasSubstr("cache-10"));
}

TEST(Scale, SchemesThatMoveSingleKeysHaveNoBucketsToTell) {
  const auto after = topology_of(104, 2, "jedis-ring");
  const ScaleReport report = compare(*topology_of(103, 1, "jedis-ring"), *after);
  EXPECT_FALSE(report.moved_buckets);
  const auto summary = scale_summary(to_json(Tier::State{membership_with(after), {}, {}}, report));
  ASSERT_TRUE(summary);
  EXPECT_THAT(*summary, HasSubstr("not told by this scheme"));
}

TEST(Scale, AwaitsEveryComponentAndThoseThatLeave) {
  const auto present = membership_with(topology_of(3, 1));
  const auto next = membership_with(topology_of(2, 2));
  Tier::State state{next, {{"sidecar", present}, {"cache-0", next}}, {"cache-2"}};
  EXPECT_THAT(*scale_awaits(to_json(state)), HasSubstr("the topology of sidecar"));
  state.components[0].second = next;
  EXPECT_THAT(*scale_awaits(to_json(state)), HasSubstr("cache-2"));
  state.retiring.clear();
  EXPECT_EQ(*scale_awaits(to_json(state)), "");
}

TEST(Scale, TellsHowFarWhatIsStoredHasMoved) {
  Tier::State state{membership_with(topology_of(2, 1)), {}, {}, 30, 0,
                    {500, 2 * limits::kMiB, 12, 3}};
  const auto now = move_progress(to_json(state));
  ASSERT_TRUE(now) << now.error().message;
  EXPECT_EQ(*now, (MoveProgress{30, 500, 2 * limits::kMiB, 0, 12, 3}));
  EXPECT_EQ(
      move_text({1'030, 100, limits::kMiB}, *now, Milliseconds{2'000}),
      "moving     30 buckets away; 400 responses, 1.0 MiB moved in 2.0 s, 0.5 MiB a second; 12 "
      "fills, 3 refusals; about 0.1 s left");
  EXPECT_EQ(move_text({1'030, 900, 9 * limits::kMiB}, {0, 500, 0}, Milliseconds{100}),
            "moving     0 buckets away; 0 responses, 0.0 MiB moved in 0.1 s, 0.0 MiB a second; 0 "
            "fills, 0 refusals")
      << "another process counts from 0";
  state.moves_waiting = 2;
  EXPECT_THAT(
      move_text({1'030, 100, limits::kMiB}, *move_progress(to_json(state)), Milliseconds{2'000}),
      HasSubstr("s left; waits for room in a full store"));
}

TEST(Scale, AnswersOfSomebodyElseAreErrors) {
  for (const char* const answer : {"", "[]", "{}", "{\"change\": 1}", "{\"components\": [1]}"}) {
    EXPECT_FALSE(scale_summary(answer)) << answer;
    EXPECT_FALSE(scale_awaits(answer)) << answer;
    EXPECT_FALSE(move_progress(answer)) << answer;
  }
}

}  // namespace
}  // namespace ringside::program
