#include "shard/range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shard/ascending.h"
#include "shard/schemes.h"
#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

using testing::HasSubstr;

State ranges(std::vector<Shard> shards) { return {std::move(shards), {}}; }

std::string wrong(std::string_view scheme, State state) {
  const auto made = Topology::make(caches(3), scheme, 1, std::move(state));
  return made ? "" : made.error().message;
}

TEST(Range, FindsKeysAndNumbersInTheirOrder) {
  const State state = ranges({{"", "", {}}, {"100", "", {}}, {"9", "", {}}, {"m", "", {}}});
  const Ranges found(state);
  const std::pair<std::string_view, Bucket> cases[] = {
      {"", 0},    {"8", 0},    {"9", 2}, {"10", 2}, {"99", 2},
      {"100", 1}, {"5000", 1}, {"a", 1}, {"m", 3},  {"zz", 3}};
  for (const auto& [key, shard] : cases) EXPECT_EQ(found.of(key), shard) << key;
  EXPECT_EQ(*found.end_of(0), "9");
  EXPECT_EQ(found.end_of(3), nullptr);
}

TEST(Range, GivesAKeyToTheNamedOwnerOfItsRange) {
  const auto topology =
      topology_of(caches(3), "range", ranges({{"", "cache-2", {}}, {"DE\n/m", "cache-1", {}}}));
  EXPECT_EQ(owner_name(*topology, key_of("DE\n/a\n")), "cache-2");
  EXPECT_EQ(owner_name(*topology, key_of("DE\n/m\n")), "cache-1");
  EXPECT_EQ(owner_name(*topology, key_of("FR\n/a\n")), "cache-1");
}

TEST(Range, RefusesRangesThatOverlapOrLeaveKeysOut) {
  EXPECT_THAT(wrong("range", ranges({{"a", "", {}}})), HasSubstr("no range begins with the empty"));
  EXPECT_THAT(wrong("range", ranges({{"", "", {}}, {"7", "", {}}, {"7", "", {}}})),
              HasSubstr("shards[2].at: \"7\" overlaps shards[1]"));
  EXPECT_THAT(wrong("range", ranges({{"", "", {}}, {"a\x01", "", {}}})),
              HasSubstr("shards[1].at: "));
  EXPECT_THAT(wrong("range", ranges({{"", "", {}}, {"b", "", 1}})), HasSubstr("shards[1].parent"));
  EXPECT_THAT(wrong("range", ranges({{"", "no name", {}}})), HasSubstr("shards[0].owner"));
  EXPECT_THAT(wrong("ring", ranges({{"", "", {}}})), HasSubstr("the scheme ring has none"));
}

TEST(Range, IsCutInTwoOrThree) {
  const auto whole = topology_of(caches(3), "range", ranges({{"", "cache-0", {}}}));
  const auto cut = cut_state(*whole, {0, {"10", "20"}, {"cache-1"}});
  ASSERT_TRUE(cut);
  EXPECT_EQ(*cut, ranges({{"", "cache-0", {}}, {"10", "cache-1", 0}, {"20", "", 0}}));
  const auto after = topology_of(caches(3), "range", *cut);
  EXPECT_TRUE(after->extends(*whole));
  EXPECT_FALSE(whole->extends(*after));
  EXPECT_EQ(after->parent_of(1), Bucket{0});
  EXPECT_EQ(diff(*whole, *after).front().bucket, 1);
  for (const Cut& wrong : {Cut{0, {""}, {}}, Cut{1, {"9"}, {}}, Cut{1, {"20"}, {}}, Cut{0, {}, {}},
                           Cut{0, {"1", "2", "3"}, {}}, Cut{9, {"1"}, {}}}) {
    EXPECT_FALSE(cut_state(*after, wrong)) << wrong.shard;
  }
}

TEST(Range, OfOtherCutsIsNotExtended) {
  const auto one = topology_of(caches(3), "range", ranges({{"", "", {}}, {"m", "", 0}}));
  const auto other = topology_of(caches(3), "range", ranges({{"", "", {}}, {"f", "", 0}}));
  EXPECT_EQ(one->numbering(), other->numbering());
  EXPECT_FALSE(other->extends(*one));
  EXPECT_NE(one->id(), other->id());
}

TEST(Ascending, OpensTheNextShardBehindTheNewest) {
  const auto first = topology_of(caches(3), "ascending");
  const auto next = cut_state(*first, {0, {"1000"}, {"cache-1"}});
  ASSERT_TRUE(next);
  const auto second = topology_of(caches(3), "ascending", *next);
  EXPECT_EQ(owner_name(*second, key_of("1000\n")), "cache-1");
  EXPECT_EQ(second->bucket_for(key_of("999\n")), 0);
  EXPECT_EQ(second->bucket_for(key_of("99999\n")), 1);
  EXPECT_FALSE(cut_state(*second, {0, {"500"}, {}}));
  EXPECT_TRUE(cut_state(*second, {1, {"2000"}, {}}));
  EXPECT_THAT(wrong("ascending", ranges({{"", "", {}}, {"9", "", {}}, {"5", "", {}}})),
              HasSubstr("shards[2].at: \"5\" lies before \"9\""));
}

using Keys = std::vector<std::string>;

std::string where(std::string_view scheme, const State& state, std::size_t shard, Keys keys) {
  const auto topology = topology_of(caches(3), scheme, state);
  const auto at = where_to_cut(*topology, shard, std::move(keys));
  if (!at) return "nowhere";
  if (at->empty()) return "by itself";
  EXPECT_TRUE(cut_state(*topology, {shard, *at, {}}));
  return at->front();
}

TEST(WhereToCut, IsInTheMiddleOfARangesKeys) {
  const State state = ranges({{"", "", {}}, {"500", "", 0}});
  EXPECT_EQ(where("range", state, 0, {"9", "100", "10", "11"}), "11") << "as numbers";
  EXPECT_EQ(where("range", state, 1, {"500", "501"}), "501");
  EXPECT_EQ(where("range", state, 0, {"7", "7", "7", "8"}), "8") << "the first key keeps its own";
  EXPECT_EQ(where("range", state, 0, {"7", "8", "8", "8"}), "8");
  EXPECT_EQ(where("range", state, 0, {"7", "7"}), "nowhere");
  EXPECT_EQ(where("range", state, 0, {}), "nowhere");
}

TEST(WhereToCut, IsBehindTheGreatestKeyOfTheNewestShard) {
  const State state = ranges({{"", "", {}}, {"500", "", 0}});
  EXPECT_EQ(where("ascending", state, 0, {"1", "2"}), "nowhere") << "it is full for good";
  EXPECT_EQ(where("ascending", state, 1, {"501", "9", "1099"}), "1100");
  EXPECT_EQ(where("ascending", state, 1, {"999"}), "1000");
  EXPECT_EQ(where("ascending", state, 1, {"user-99"}), "user-100");
  EXPECT_EQ(where("ascending", state, 1, {"zebra"}), "zebra ");
  EXPECT_EQ(where("ascending", state, 1, {}), "nowhere");
}

TEST(WhereToCut, IsNowhereWithoutShards) {
  EXPECT_EQ(where("ring", {}, 0, {"a", "b"}), "nowhere");
  EXPECT_EQ(where("directory", {}, 0, {"a", "b"}), "nowhere") << "keys are placed, not cut";
  EXPECT_EQ(where("split-tree", {}, 5, {"a", "a"}), "nowhere") << "it would be split for nothing";
  EXPECT_EQ(where("split-tree", {}, 5, {"a", "a", "b"}), "by itself");
}

}  // namespace
}  // namespace ringside::shard
