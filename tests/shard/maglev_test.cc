#include "shard/maglev.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/shard/some_topology.h"

// What the paper says of the table (Eisenbud et al., NSDI 2016, sections 3.4 and 5.3).
namespace ringside::shard {
namespace {

std::vector<std::size_t> entries_of(const std::vector<Member>& members) {
  const Maglev scheme(members);
  std::vector<std::size_t> entries(members.size());
  for (const MemberIndex member : scheme.table()) ++entries[member];
  return entries;
}

TEST(Maglev, HasAPrimeNumberOfEntries) {
  for (std::size_t divisor = 2; divisor * divisor <= maglev_entries; ++divisor) {
    EXPECT_NE(maglev_entries % divisor, 0U);
  }
  EXPECT_GE(maglev_entries, bucket_count);
}

TEST(Maglev, GivesAllMembersAsManyEntriesButForOne) {
  for (const std::size_t count : {1U, 2U, 10U, 11U, 300U, 1024U}) {
    const auto entries = entries_of(caches(count));
    const auto [fewest, most] = std::minmax_element(entries.begin(), entries.end());
    EXPECT_LE(*most - *fewest, 1U) << count;
  }
}

TEST(Maglev, GivesEntriesInProportionToWeights) {
  std::vector<Member> members = caches(6);
  const std::uint32_t weights[] = {1, 2, 5, 0, 100, 7};
  double together = 0;
  for (std::size_t i = 0; i < members.size(); ++i) together += members[i].weight = weights[i];
  const auto entries = entries_of(members);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const double share = maglev_entries * (weights[i] / together);
    // One turn more or less, and the last round may end before the turns of all others.
    EXPECT_LE(std::abs(static_cast<double>(entries[i]) - share), 1.0 + 6.0) << i;
  }
}

TEST(Maglev, LeavesMostEntriesWhereTheyAreWhenAMemberGoes) {
  for (const std::size_t leaver : {0U, 4U, 10U}) {
    std::vector<Member> members = caches(11);
    const auto before = Maglev(members).table();
    members.erase(members.begin() + std::ptrdiff_t(leaver));
    const auto after = Maglev(members).table();
    std::size_t among_others = 0;
    for (std::size_t entry = 0; entry < maglev_entries; ++entry) {
      if (before[entry] == leaver) continue;
      const MemberIndex renumbered = before[entry] - (before[entry] > leaver ? 1 : 0);
      among_others += after[entry] != renumbered ? 1 : 0;
    }
    EXPECT_LE(among_others, maglev_entries / 200) << leaver;
  }
}

TEST(Maglev, NamesWhoHasNoEntryLast) {
  std::vector<Member> members = caches(18);
  for (std::size_t i = 0; i < 16; ++i) members[i].weight = 1'000;
  const Maglev scheme(members);
  std::vector<MemberIndex> owners;
  scheme.owners(key_in(7), 18, owners);
  EXPECT_EQ(owners.size(), 18U);
}

}  // namespace
}  // namespace ringside::shard
