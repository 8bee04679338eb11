#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <random>
#include <set>

#include "shard/schemes.h"
#include "shard/split_tree.h"
#include "tests/shard/some_topology.h"

// What every scheme promises, and what each of them promises besides.
namespace ringside::shard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Whose leaving moves no key of the others.
enum class Leaver { anybody, last, nobody };

struct Promise {
  std::string_view scheme;
  bool knows_weights;
  Leaver leaver;
  bool second_owner_takes;  // what such a leaver had
  bool drains_alone;        // weight 0 moves no key of the others
  double unevenness;     // a share's greatest distance from what its weight says, as part of that
  double moved_besides;  // 10 to 11: the greatest distance from 1/11
  double moved_among_others;
  State (*state)() = nullptr;  // where the first one does not tell the keys of these tests apart
};

// The name of a test, which would have the bytes of it else.
void PrintTo(const Promise& promise, std::ostream* out) { *out << promise.scheme; }

// A thousand ranges of the keys of some_keys().
State some_ranges() {
  State state{{{"", "", std::nullopt}}, {}};
  for (int page = 10; page < 10'000; page += 10) {
    state.shards.push_back({"DE\n/page/" + std::to_string(page), "", std::nullopt});
  }
  return state;
}
State some_leaves() { return tree_of(1'000); }
State some_state(const Promise& promise) { return promise.state ? promise.state() : State{}; }

// The points of a ring lie unevenly: 160 of them give shares with a deviation of 8 %. Where buckets
// lie by chance, 700 of them have a deviation of 4 %.
constexpr Promise promises[] = {
    {"ascending", true, Leaver::last, true, false, 0.05, 0.005, 0, some_ranges},
    {"directory", true, Leaver::anybody, true, true, 0.35, 0.005, 0},
    {"jedis-ring", true, Leaver::last, true, true, 0.35, 0.02, 0},
    {"jump", false, Leaver::last, true, false, 0.15, 0.005, 0},
    {"maglev", true, Leaver::nobody, false, false, 0.15, 0.01, 0.005},
    {"modulo", true, Leaver::nobody, false, false, 0.002, 1, 1},
    {"nginx", true, Leaver::anybody, true, true, 0.35, 0.02, 0},
    {"range", true, Leaver::last, true, false, 0.05, 0.005, 0, some_ranges},
    {"rendezvous", true, Leaver::anybody, true, true, 0.15, 0.005, 0},
    {"ring", true, Leaver::anybody, true, true, 0.35, 0.005, 0},
    {"simple-sha1", false, Leaver::nobody, false, false, 3, 1, 1},
    {"split-tree", true, Leaver::last, true, false, 0.15, 0.01, 0, some_leaves},
    {"vbucket", true, Leaver::last, true, true, 0.001, 0.005, 0},
};

class EveryScheme : public testing::TestWithParam<Promise> {};
INSTANTIATE_TEST_SUITE_P(Scheme, EveryScheme, testing::ValuesIn(promises), [](const auto& test) {
  std::string name(test.param.scheme);
  std::erase(name, '-');
  return name;
});

// One key for each bucket where that says it all, else many.
std::vector<std::string> some_keys(std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back("DE\n/page/" + std::to_string(i) + "\n");
  return keys;
}

using Names = std::vector<std::string>;

// The first n owners of each key, or of each bucket.
std::vector<Names> owners_of_all(const Topology& topology, std::size_t n) {
  std::vector<Names> all;
  if (topology.bucket_owners().empty() || topology.finds_buckets()) {
    for (const std::string& key : some_keys(10'000)) {
      all.push_back(owner_names(topology, key_of(key), n));
    }
    return all;
  }
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    all.push_back(owner_names(topology, key_in(bucket), n));
  }
  return all;
}

std::vector<Member> some_members(const Promise& promise) {
  std::vector<Member> members = caches(11);
  if (!promise.knows_weights) return members;
  members[2].weight = 3;
  members[5].weight = 2;
  members[7].weight = 0;
  return members;
}

TEST(Schemes, HaveAPromiseEach) {
  std::vector<std::string_view> promised;
  for (const Promise& promise : promises) promised.push_back(promise.scheme);
  EXPECT_EQ(scheme_names(), promised);
  EXPECT_TRUE(std::is_sorted(promised.begin(), promised.end()));
}

TEST_P(EveryScheme, IsTheSameWhateverTheOrderOfNames) {
  std::mt19937_64 dice(21);
  std::vector<Member> members = some_members(GetParam());
  const auto first = topology_of(members, GetParam().scheme, some_state(GetParam()));
  EXPECT_EQ(first->scheme(), GetParam().scheme);
  for (int round = 0; round < 3; ++round) {
    std::shuffle(members.begin(), members.end(), dice);
    const auto other = topology_of(members, GetParam().scheme, some_state(GetParam()));
    EXPECT_EQ(other->id(), first->id());
    EXPECT_EQ(other->bucket_owners(), first->bucket_owners());
    for (const std::string& key : some_keys(100)) {
      EXPECT_EQ(owner_names(*other, key_of(key), 11), owner_names(*first, key_of(key), 11));
    }
  }
}

TEST_P(EveryScheme, NamesDistinctMembersAndAShorterListBeginsALonger) {
  std::vector<std::vector<Member>> tiers{some_members(GetParam())};
  for (const std::size_t count : {1U, 2U, 3U, 11U}) tiers.push_back(caches(count));
  for (const auto& members : tiers) {
    const auto topology = topology_of(members, GetParam().scheme, some_state(GetParam()));
    const auto count = static_cast<std::size_t>(std::count_if(
        members.begin(), members.end(), [](const Member& member) { return member.weight > 0; }));
    for (const std::string& bytes : some_keys(200)) {
      const ShardKey key = key_of(bytes);
      std::vector<MemberIndex> longer;
      topology->owners(key, members.size() + 1, longer);
      ASSERT_EQ(longer.size(), count);
      EXPECT_EQ(std::set(longer.begin(), longer.end()).size(), count);
      for (const MemberIndex owner : longer) {
        ASSERT_LT(owner, members.size());
        EXPECT_GT(topology->members()[owner].weight, 0U);
      }
      EXPECT_EQ(longer.front(), topology->owner(key));
      for (std::size_t n = 0; n <= count; ++n) {
        std::vector<MemberIndex> shorter{99};  // what was there is replaced
        topology->owners(key, n, shorter);
        EXPECT_EQ(shorter, std::vector(longer.begin(), longer.begin() + std::ptrdiff_t(n)));
      }
    }
  }
}

TEST_P(EveryScheme, HasATableThatSaysWhatOwnersSay) {
  const auto topology =
      topology_of(some_members(GetParam()), GetParam().scheme, some_state(GetParam()));
  const std::size_t rows = topology->bucket_owners().size();
  ASSERT_GT(rows, 0U);
  ASSERT_TRUE(topology->finds_buckets() || rows == bucket_count);
  std::vector<MemberIndex> owners;
  for (std::size_t bucket = 0; bucket < rows; ++bucket) {
    topology->owners_of(static_cast<Bucket>(bucket), 1, owners);
    ASSERT_THAT(owners, ElementsAre(topology->bucket_owners()[bucket])) << bucket;
  }
}

TEST_P(EveryScheme, OfNobodyGivesNothingToNobody) {
  const auto nobody = topology_of({}, GetParam().scheme);
  EXPECT_TRUE(nobody->members().empty());
  EXPECT_TRUE(nobody->bucket_owners().empty());
  EXPECT_TRUE(owner_names(*nobody, key_of("a"), 3).empty());
}

TEST_P(EveryScheme, RespectsWeightsOrRefusesThem) {
  std::vector<Member> members = caches(11);
  for (const std::uint32_t weight : {0U, 2U}) {
    members[3].weight = weight;
    const auto made = Topology::make(members, GetParam().scheme, 1, some_state(GetParam()));
    EXPECT_EQ(made.has_value(), GetParam().knows_weights || weight == 0);
    if (!made) {
      EXPECT_THAT(made.error().message, HasSubstr("knows no weights but 0; leave it at 1"));
    }
  }
  members = some_members(GetParam());
  double weights = 0;
  for (const Member& member : members) weights += member.weight;
  const auto all =
      owners_of_all(*topology_of(members, GetParam().scheme, some_state(GetParam())), 1);
  for (const Member& member : members) {
    const auto had = std::count(all.begin(), all.end(), Names{member.name});
    const double share = static_cast<double>(had) / static_cast<double>(all.size());
    const double wanted = member.weight / weights;
    EXPECT_LE(std::abs(share - wanted), wanted * GetParam().unevenness) << member.name;
  }
}

// How many have another first owner, and in how many of these neither is `name`.
struct Moved {
  double all = 0;
  double among_others = 0;
};

Moved moved(const std::vector<Names>& before, const std::vector<Names>& after,
            const std::string& name) {
  Moved moved;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].front() == after[i].front()) continue;
    ++moved.all;
    if (before[i].front() != name && after[i].front() != name) ++moved.among_others;
  }
  moved.all /= static_cast<double>(before.size());
  moved.among_others /= static_cast<double>(before.size());
  return moved;
}

TEST_P(EveryScheme, MovesWhatItPromisesWhenTenBecomeEleven) {
  const auto before =
      owners_of_all(*topology_of(caches(10), GetParam().scheme, some_state(GetParam())), 1);
  const auto after =
      owners_of_all(*topology_of(caches(11), GetParam().scheme, some_state(GetParam())), 1);
  const Moved figures = moved(before, after, "cache-10");
  EXPECT_LE(std::abs(figures.all - 1.0 / 11), GetParam().moved_besides);
  EXPECT_LE(figures.among_others, GetParam().moved_among_others);
}

// The second owner of each key of `name`, and the first of all others.
std::vector<std::string> heirs(const std::vector<Names>& before, const std::string& name) {
  std::vector<std::string> heirs;
  for (const Names& owners : before) heirs.push_back(owners[owners.front() == name ? 1 : 0]);
  return heirs;
}

TEST_P(EveryScheme, MovesOnlyWhatALeaverHad) {
  if (GetParam().leaver == Leaver::nobody) return;
  const auto before =
      owners_of_all(*topology_of(caches(11), GetParam().scheme, some_state(GetParam())), 2);
  for (const std::size_t leaver : {10U, 0U, 4U}) {
    if (leaver != 10 && GetParam().leaver == Leaver::last) break;
    std::vector<Member> members = caches(11);
    members.erase(members.begin() + std::ptrdiff_t(leaver));
    const std::string name = "cache-" + std::to_string(leaver);
    const auto after =
        owners_of_all(*topology_of(members, GetParam().scheme, some_state(GetParam())), 1);
    EXPECT_EQ(moved(before, after, name).among_others, 0);
    const auto wanted = heirs(before, name);
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (!GetParam().second_owner_takes) break;
      ASSERT_EQ(after[i].front(), wanted[i]) << i;
    }
  }
}

TEST_P(EveryScheme, MovesOnlyWhatADrainedMemberHad) {
  if (!GetParam().drains_alone) return;
  const auto before =
      owners_of_all(*topology_of(caches(11), GetParam().scheme, some_state(GetParam())), 1);
  for (const std::size_t drained : {10U, 0U, 4U}) {
    std::vector<Member> members = caches(11);
    members[drained].weight = 0;
    const auto after =
        owners_of_all(*topology_of(members, GetParam().scheme, some_state(GetParam())), 1);
    EXPECT_EQ(moved(before, after, members[drained].name).among_others, 0) << drained;
  }
}

TEST_P(EveryScheme, MayBeAsLargeAsATopology) {
  const auto topology = topology_of(caches(1024), GetParam().scheme, some_state(GetParam()));
  for (const std::string& key : some_keys(20)) {
    EXPECT_EQ(owner_names(*topology, key_of(key), 5'000).size(), 1024U);
  }
}

}  // namespace
}  // namespace ringside::shard
