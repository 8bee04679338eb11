#include "program/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "program/plan_report.h"
#include "program/plan_target.h"
#include "shard/schemes.h"

namespace ringside::program {
namespace {

using testing::HasSubstr;
using testing::Not;

TopologyPointer some_topology(std::size_t members, std::string_view scheme) {
  std::vector<shard::Member> all;
  for (std::size_t i = 0; i < members; ++i) all.push_back({"cache-" + std::to_string(i), 1, ""});
  return shard::Topology::make(std::move(all), scheme, 1).value();
}

Plan plan_of(std::size_t before, std::string_view scheme_before, std::size_t after,
             std::string_view scheme_after) {
  return make_plan({some_topology(before, scheme_before), some_topology(after, scheme_after), {}});
}

std::size_t units_of(const Plan& plan) {
  return std::accumulate(plan.moves.begin(), plan.moves.end(), std::size_t{0},
                         [](std::size_t sum, const PlannedMove& move) { return sum + move.units; });
}

TEST(Plan, CountsWhatMovesUnderEachScheme) {
  struct Row {
    std::size_t before;
    std::size_t after;
    std::string_view from;
    std::string_view to;
    bool by_bucket;
    double least;
    double most;
  };
  for (const Row& row : std::vector<Row>{
           {10, 11, "vbucket", "vbucket", true, 1489.0 / 16384, 1489.0 / 16384},
           {10, 11, "ring", "ring", true, 0.07, 0.11},
           {11, 10, "ring", "ring", true, 0.07, 0.11},
           {10, 11, "modulo", "modulo", true, 0.90, 0.92},
           {10, 11, "nginx", "nginx", true, 0.06, 0.12},
           {103, 104, "nginx", "nginx", false, 0.005, 0.02},
           {10, 10, "ring", "ring", true, 0, 0},
           {10, 10, "nginx", "nginx", true, 0, 0},
           {10, 10, "ring", "vbucket", true, 0.8, 0.95},
           {10, 10, "ring", "nginx", false, 1, 1},
           {0, 3, "ring", "ring", true, 1, 1},
           {0, 3, "ring", "nginx", true, 1, 1},
       }) {
    const Plan plan = plan_of(row.before, row.from, row.after, row.to);
    EXPECT_EQ(plan.by_bucket, row.by_bucket) << row.from << row.to;
    const std::size_t buckets = plan.after->bucket_owners().size();
    EXPECT_EQ(plan.units, row.by_bucket ? buckets : limits::plan_keys);
    EXPECT_EQ(units_of(plan), plan.moved);
    EXPECT_GE(plan.moved_share(), row.least) << row.from << " -> " << row.to;
    EXPECT_LE(plan.moved_share(), row.most) << row.from << " -> " << row.to;
    if (row.by_bucket) {
      EXPECT_EQ(plan.moved, shard::moved_buckets(*plan.before, *plan.after));
    }
  }
}

// It was ended by a signal for every scheme with a state: there are fewer shards than buckets.
TEST(Plan, CountsShardsWhereASchemeHasAState) {
  for (const std::string_view scheme : {"range", "ascending", "split-tree", "directory"}) {
    const Plan plan = plan_of(2, scheme, 3, scheme);
    EXPECT_TRUE(plan.by_bucket) << scheme;
    EXPECT_EQ(plan.units, plan.before->bucket_owners().size()) << scheme;
    EXPECT_LE(plan.moved, plan.units) << scheme;
    EXPECT_EQ(plan.moved, shard::moved_buckets(*plan.before, *plan.after)) << scheme;
    EXPECT_EQ(plan_of(0, scheme, 2, scheme).moved_share(), 1) << scheme;
    // Nothing that is stored is found by another numbering.
    for (const auto& [from, to] : {std::pair{scheme, std::string_view("ring")},
                                   std::pair{std::string_view("ring"), scheme}}) {
      const Plan cold = plan_of(3, from, 3, to);
      EXPECT_FALSE(cold.by_bucket) << from << " -> " << to;
      EXPECT_EQ(cold.moved_share(), 1) << from << " -> " << to;
    }
  }
}

TopologyPointer with_state(std::string_view scheme, shard::State state) {
  return shard::Topology::make({{"cache-0", 1, ""}, {"cache-1", 1, ""}}, scheme, 1,
                               std::move(state))
      .value();
}

// It said that all was moved without a handoff, since there were more shards than before.
TEST(Plan, FollowsWhatWasCutSince) {
  const shard::State halves{{{"", "cache-0", {}}, {"m", "cache-1", {}}}, {}};
  const TopologyPointer whole = with_state("range", halves);
  const TopologyPointer cut =
      with_state("range", shard::cut_state(*whole, {1, {"s", "w"}, {"cache-0", ""}}).value());
  const Plan plan = make_plan({whole, cut, {}});
  EXPECT_TRUE(plan.by_bucket);
  EXPECT_EQ(plan.units, 4U);
  EXPECT_EQ(plan.moved, shard::moved_buckets(*whole, *cut));
  ASSERT_FALSE(plan.moves.empty());
  EXPECT_EQ(plan.moves[0].from, "cache-1");
  EXPECT_EQ(plan.moves[0].to, "cache-0");
  EXPECT_EQ(plan.moves[0].buckets.front(), 2);
  EXPECT_THAT(to_text(plan), HasSubstr(R"(shards: "s")"));
  const auto page = nlohmann::json::parse(to_json(plan));
  EXPECT_EQ(page["moves"][0]["shards"][0]["at"], "s");
  EXPECT_EQ(page["has_handoff"], true);

  const Plan back = make_plan({cut, whole, {}});  // a shard is never put together again
  EXPECT_FALSE(back.by_bucket);
  EXPECT_EQ(back.moved_share(), 1);
}

TEST(Plan, FollowsWhatWasPlacedSince) {
  const TopologyPointer empty = with_state("directory", {});
  std::size_t moved = 0;
  for (const char* const owner : {"cache-0", "cache-1"}) {
    const TopologyPointer placed =
        with_state("directory", shard::cut_state(*empty, {0, {"key"}, {owner}}).value());
    const Plan plan = make_plan({empty, placed, {}});
    EXPECT_TRUE(plan.by_bucket);
    EXPECT_EQ(plan.units, empty->bucket_owners().size() + 1);
    moved += plan.moved;
  }
  EXPECT_EQ(moved, 1U);  // whoever had it by the fallback keeps it
}

TEST(Plan, KeepsTheShardsThatTheTierHas) {
  const shard::State state{{{"", "", {}}, {"m", "cache-1", 0}}, {}};
  const auto present =
      shard::Topology::make({{"cache-0", 1, ""}, {"cache-1", 1, ""}}, "range", 1, state);
  ASSERT_TRUE(present) << present.error().message;
  const auto wanted = target_topology(**present, {"3", ""});
  ASSERT_TRUE(wanted) << wanted.error().message;
  EXPECT_EQ((*wanted)->state(), state);
  EXPECT_EQ((*wanted)->bucket_owners().size(), (*present)->bucket_owners().size());
}

TEST(Plan, NamesWhoGivesAndWhoTakesTheMostFirst) {
  const Plan plan = plan_of(3, "vbucket", 4, "vbucket");
  ASSERT_EQ(plan.moves.size(), 3U);
  for (std::size_t i = 0; i < plan.moves.size(); ++i) {
    EXPECT_EQ(plan.moves[i].to, "cache-3");
    if (i > 0) {
      EXPECT_GE(plan.moves[i - 1].units, plan.moves[i].units);
    }
  }
  EXPECT_EQ(plan_of(0, "ring", 1, "ring").moves.at(0).from, "");
}

TEST(Plan, EstimatesBytesTimeAndWhatTheOriginWouldGet) {
  PlanBasis basis{some_topology(1, "vbucket"), some_topology(2, "vbucket"), {}};
  constexpr double mebibytes = 400 * 1024.0 * 1024;
  basis.stores["cache-0"] = {1000, mebibytes, 5000};
  basis.move_rate_mib_s = 50;
  const Plan plan = make_plan(basis);
  EXPECT_EQ(plan.moved, shard::bucket_count / 2);
  ASSERT_TRUE(plan.told);
  EXPECT_DOUBLE_EQ(plan.told->bytes, mebibytes / 2);
  EXPECT_DOUBLE_EQ(plan.told->responses, 500);
  EXPECT_DOUBLE_EQ(plan.seconds.value(), 4);
  EXPECT_DOUBLE_EQ(plan.request_share.value(), 0.5);
  const std::string text = to_text(plan);
  EXPECT_THAT(text, HasSubstr("about 200.0 MiB of 400.0 MiB stored (estimated"));
  EXPECT_THAT(text, HasSubstr("about 4.0 s, at 50 MiB a second"));
  EXPECT_THAT(text,
              HasSubstr("50.0 % of the keys again, 50.0 % of the requests, about 500 stored"));
}

// A shard that holds nearly all counted as one of three.
TEST(Plan, AShardCountsByWhatIsStoredOfIt) {
  const shard::State three{{{"", "cache-0", {}}, {"g", "cache-1", 0}, {"p", "cache-1", 1}}, {}};
  shard::State moved = three;
  moved.shards[1].owner = "cache-0";
  PlanBasis basis{with_state("range", three), with_state("range", moved), {}};
  EXPECT_THAT(to_text(make_plan(basis)), HasSubstr("1 of 3 get another owner (33.3 %, each cou"));
  basis.stores["cache-0"] = {100, 1000, 0};
  basis.stores["cache-1"] = {950, 9500, 0};
  basis.stored_shards["cache-1"] = {0, 900, 50};
  EXPECT_NEAR(make_plan(basis).moved_share(), 1.0 / 3, 1e-9) << "not of all";
  basis.stored_shards["cache-0"] = {50, 0, 0};
  const Plan plan = make_plan(basis);
  EXPECT_EQ(plan.moved, 1U);
  EXPECT_DOUBLE_EQ(plan.moved_share(), 0.9);
  EXPECT_DOUBLE_EQ(plan.told->responses, 900);
  EXPECT_DOUBLE_EQ(plan.told->bytes, 9000);
  EXPECT_THAT(to_text(plan), HasSubstr("1 of 3 get another owner (90.0 % of what is stored)"));
  EXPECT_EQ(nlohmann::json::parse(to_json(plan))["moved_share_of"], "stored responses");

  // In a handoff, what lies where it was still counts too.
  basis.stores["cache-1"] = {450, 4500, 0};
  basis.stored_shards = {{"cache-0", {50, 900, 0}}, {"cache-1", {0, 400, 50}}};
  const Plan amid = make_plan(basis);
  EXPECT_DOUBLE_EQ(amid.moved_share(), 0.9) << "nothing counts twice";
  EXPECT_DOUBLE_EQ(amid.told->responses, 400) << "which is what its owner has by now";
  basis.stored_shards = {{"cache-0", {0, 0, 0}}, {"cache-1", {0, 0, 0}}};
  EXPECT_EQ(make_plan(basis).told->bytes, 0) << "there is nothing";
  basis.after =
      with_state("range", shard::cut_state(*basis.before, {1, {"k"}, {"cache-0"}}).value());
  const Plan cut = make_plan(basis);
  EXPECT_FALSE(cut.is_weighed) << "nobody knows where the cut is";
  EXPECT_NEAR(cut.moved_share(), 1.0 / 4, 1e-9);
  EXPECT_EQ(nlohmann::json::parse(to_json(cut))["moved_share_of"], "units");
  // Asked for the topology that cuts, they tell how much is on either side.
  basis.stores["cache-1"] = {950, 9500, 0};
  basis.stored_shards = {{"cache-0", {50, 0, 0, 0}}, {"cache-1", {0, 200, 50, 700}}};
  const Plan told = make_plan(basis);
  EXPECT_DOUBLE_EQ(told.moved_share(), 0.7);
  EXPECT_DOUBLE_EQ(told.told->responses, 700);
  basis.after = some_topology(2, "ring");
  EXPECT_FALSE(make_plan(basis).is_weighed) << "these are sampled keys, or none of it is found";
}

// What is under no key of a directory lies in the buckets of its fallback.
TEST(Plan, WhatIsUnderNoShardIsSpreadOverTheOtherBuckets) {
  const TopologyPointer before = with_state("directory", {{{"key", "cache-0", {}}}, "ring"});
  const TopologyPointer after = with_state("directory", {{{"key", "cache-1", {}}}, "ring"});
  PlanBasis basis{before, after, {}};
  basis.stores = {{"cache-0", {100, 1000, 0}}, {"cache-1", {100, 1000, 0}}};
  basis.stored_shards = {{"cache-0", {40}}, {"cache-1", {0}}};
  const Plan plan = make_plan(basis);
  EXPECT_EQ(plan.moved, 1U);
  EXPECT_NEAR(plan.moved_share(), 0.2, 1e-9);
  EXPECT_NEAR(plan.told->responses, 40, 1e-9);
}

TEST(Plan, SaysWhatItDoesNotKnow) {
  const Plan unknown = plan_of(10, "ring", 11, "ring");
  EXPECT_FALSE(unknown.told);
  EXPECT_FALSE(unknown.seconds);
  EXPECT_THAT(to_text(unknown), HasSubstr("no replica was asked"));

  PlanBasis basis{some_topology(3, "ring"), some_topology(4, "ring"), {}};
  basis.stores["cache-1"] = {10, 1000, 10};
  const Plan partly = make_plan(basis);
  EXPECT_THAT(partly.untold, testing::ElementsAre("cache-0", "cache-2"));
  EXPECT_FALSE(partly.request_share);
  EXPECT_THAT(to_text(partly), HasSubstr("without what 2 of the givers have, as cache-0"));

  basis.move_rate_mib_s = 0;
  EXPECT_THAT(to_text(make_plan(basis)), HasSubstr("nothing moves by itself at --move-rate 0"));
  const std::string keys = to_text(plan_of(103, "nginx", 104, "nginx"));
  EXPECT_THAT(keys, HasSubstr("sampled keys"));
  EXPECT_THAT(keys, HasSubstr("(estimated: "));
  EXPECT_THAT(keys, HasSubstr("there is no handoff"));
}

// M -> M·N small -> N, and the small ones that change hands are what moves.
TEST(Plan, AReshardOfModuloIsASplitAndAMerge) {
  const Plan plan = plan_of(2, "modulo", 3, "modulo");
  ASSERT_TRUE(plan.reshard);
  const Reshard& reshard = *plan.reshard;
  ASSERT_EQ(reshard.small.size(), 6U);
  std::size_t buckets = 0;
  std::size_t moved = 0;
  for (std::size_t number = 0; number < reshard.small.size(); ++number) {
    const Reshard::Small& small = reshard.small[number];
    EXPECT_EQ(small.from, number % 2);
    EXPECT_EQ(small.to, number % 3);
    buckets += small.buckets;
    if (reshard.before[small.from] != reshard.after[small.to]) moved += small.buckets;
  }
  EXPECT_EQ(buckets, shard::bucket_count);
  EXPECT_EQ(moved, plan.moved);
  const std::string text = to_text(plan);
  EXPECT_THAT(text, HasSubstr("split: each of 2 by 3, which makes 6 small shards"));
  EXPECT_THAT(text, HasSubstr("cache-0 -> 0, 2, 4\n"));
  EXPECT_THAT(text, HasSubstr("merge: of the 6 small ones 2 make each of 3"));
  EXPECT_THAT(text, HasSubstr("cache-2 <- 2, 5\n"));
  EXPECT_FALSE(plan_of(2, "ring", 3, "ring").reshard);
  EXPECT_FALSE(plan_of(2, "modulo", 3, "ring").reshard);
  EXPECT_FALSE(plan_of(3, "modulo", 3, "modulo").reshard);
}

TEST(Plan, AReshardOfVeryManyIsOnlyCounted) {
  const Plan plan = plan_of(200, "modulo", 201, "modulo");
  ASSERT_TRUE(plan.reshard);
  EXPECT_TRUE(plan.reshard->small.empty());
  EXPECT_THAT(to_text(plan), HasSubstr("which makes 40,200 small shards"));
  EXPECT_THAT(to_text(plan), HasSubstr("moves more, of "));
}

TEST(Plan, TheJsonHasItAll) {
  PlanBasis basis{some_topology(10, "modulo"), some_topology(11, "modulo"), {}};
  basis.stores["cache-0"] = {10, 1000, 10};
  const Plan plan = make_plan(basis);
  const auto page = nlohmann::json::parse(to_json(plan));
  EXPECT_EQ(page["moves"].size(), plan.moves.size());
  EXPECT_EQ(page["moved"], plan.moved);
  EXPECT_EQ(page["units"], shard::bucket_count);
  EXPECT_EQ(page["after"]["members"], 11);
  EXPECT_EQ(page["before"]["id"], plan.before->id().hex());
  EXPECT_EQ(page["reshard"]["small"].size(), 110U);
  for (const auto& move : page["moves"]) {
    std::size_t buckets = 0;
    for (const auto& run : move["bucket_numbers"]) {
      for (std::size_t bucket = run[0]; bucket <= run[1]; ++bucket, ++buckets) {
        EXPECT_EQ(plan.before->members()[plan.before->bucket_owners()[bucket]].name, move["from"]);
        EXPECT_EQ(plan.after->members()[plan.after->bucket_owners()[bucket]].name, move["to"]);
      }
    }
    EXPECT_EQ(buckets, move["buckets"]);
    EXPECT_FALSE(move.contains("shards"));
  }
  EXPECT_TRUE(page["origin_without_handoff"]["share_of_requests"].is_null());
  EXPECT_TRUE(nlohmann::json::parse(to_json(plan_of(2, "ring", 3, "ring")))["reshard"].is_null());
}

TEST(PlanTarget, IsANumberAListOrATopology) {
  const auto present = shard::Topology::make({{"c-0", 2, "a"}, {"c-1", 1, ""}}, "ring", 7).value();
  struct Row {
    PlanTarget target;
    std::string_view scheme;
    std::vector<shard::Member> members;
  };
  for (const Row& row : std::vector<Row>{
           {{"3", ""}, "ring", {{"c-0", 2, "a"}, {"c-1", 1, ""}, {"c-2", 1, ""}}},
           {{"1", ""}, "ring", {{"c-0", 2, "a"}}},
           {{"2", "vbucket"}, "vbucket", {{"c-0", 2, "a"}, {"c-1", 1, ""}}},
           {{"", "maglev"}, "maglev", {{"c-0", 2, "a"}, {"c-1", 1, ""}}},
           {{"b;weight=3, a=h:1 ,d;zone=z", ""},
            "ring",
            {{"a", 1, ""}, {"b", 3, ""}, {"d", 1, "z"}}},
           {{"", "", R"({"scheme": "jump", "members": [{"name": "x-0"}]})"},
            "jump",
            {{"x-0", 1, ""}}},
           {{"", "ring", R"({"scheme": "jump", "members": [{"name": "x", "address": null}]})"},
            "ring",
            {{"x", 1, ""}}},
       }) {
    const auto made = target_topology(*present, row.target);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ((*made)->members(), row.members) << row.target.to;
    EXPECT_EQ((*made)->scheme(), row.scheme);
    EXPECT_EQ((*made)->version(), 8U);
  }
}

TEST(PlanTarget, RefusesWhatMakesNoTopology) {
  const auto numbered = some_topology(2, "ring");
  const auto named = shard::Topology::make({{"red", 1, ""}, {"blue", 1, ""}}, "ring", 1).value();
  struct Row {
    const shard::Topology& present;
    PlanTarget target;
    std::string_view words;
  };
  for (const Row& row : std::vector<Row>{
           {*numbered, {"0", ""}, "1 to 1024"},
           {*numbered, {"99999", ""}, "1 to 1024"},
           {*named, {"3", ""}, "a number tells no names"},
           {*numbered, {"a,a", ""}, "stands twice"},
           {*numbered, {"a;weight=x", ""}, "weight"},
           {*numbered, {"a;weight=0", ""}, "are all 0"},
           {*numbered, {";weight=2", ""}, "has no name"},
           {*numbered, {"a,,b", ""}, "has no name"},
           {*numbered, {"3", "rung"}, "choose one of"},
           {*numbered, {"a-1,a-3", "jump"}, "number"},
           {*numbered, {"", "", "{"}, "JSON"},
           {*numbered, {"", "", ""}, "JSON"},
           {*numbered, {"", "", R"({"scheme": "ring", "members": []})"}, "no replica is left"},
           {*numbered, {"", "", R"({"scheme": "ring", "members": [{"name": 1}]})"}, "members[0]"},
       }) {
    const auto made = target_topology(row.present, row.target);
    ASSERT_FALSE(made) << row.target.to << row.words;
    EXPECT_EQ(made.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(made.error().message, HasSubstr(row.words));
    EXPECT_THAT(made.error().message, Not(HasSubstr("0.0.0.0")));
  }
}

TEST(PlanTarget, AShareHasAPercentSign) {
  EXPECT_DOUBLE_EQ(parse_share("10%").value(), 0.1);
  EXPECT_DOUBLE_EQ(parse_share("0.5%").value(), 0.005);
  EXPECT_DOUBLE_EQ(parse_share("0%").value(), 0);
  EXPECT_DOUBLE_EQ(parse_share("100%").value(), 1);
  for (const auto* const text : {"", "%", "10", "-1%", "101%", "1e1%", "x%", "nan%", "10%%"}) {
    EXPECT_FALSE(parse_share(text)) << text;
  }
}

}  // namespace
}  // namespace ringside::program
