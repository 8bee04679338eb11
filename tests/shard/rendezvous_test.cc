#include "shard/rendezvous.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

constexpr double unit = 1ULL << 40;

TEST(Rendezvous, CostsTheLogarithm) {
  EXPECT_EQ(rendezvous_cost(std::numeric_limits<std::uint64_t>::max()), 0U);
  for (unsigned bits = 0; bits < 64; ++bits) {
    EXPECT_EQ(rendezvous_cost((std::uint64_t{1} << bits) - 1), std::uint64_t{64 - bits} << 40);
  }
  std::mt19937_64 dice(22);
  std::uint64_t draw = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t next = dice() >> dice() % 40;
    const double exact = 64 - std::log2(static_cast<double>(next) + 1);
    EXPECT_NEAR(static_cast<double>(rendezvous_cost(next)) / unit, exact, 1e-6);
    EXPECT_EQ(rendezvous_cost(next) < rendezvous_cost(draw), next > draw);
    draw = next;
  }
}

TEST(Rendezvous, MovesBucketsOnlyToAMemberThatGetsMoreWeight) {
  std::vector<Member> members = caches(8);
  members[3].weight = 4;
  auto before = topology_of(members, "rendezvous");
  for (const std::uint32_t weight : {1U, 2U, 3U, 7U, 1000U}) {
    members[5].weight = weight;
    const auto after = topology_of(members, "rendezvous");
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
      const MemberIndex owner = after->bucket_owners()[bucket];
      ASSERT_TRUE(owner == 5 || owner == before->bucket_owners()[bucket]) << bucket;
    }
    before = after;
  }
}

}  // namespace
}  // namespace ringside::shard
