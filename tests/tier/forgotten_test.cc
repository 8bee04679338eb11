#include <gtest/gtest.h>

#include "tests/tier/some_tier.h"
#include "tier/buckets.h"

// A former member that nobody knows any more.
namespace ringside::tier {
namespace {

using shard::Bucket;

Bucket some_bucket_of(const Membership& membership, std::string_view name) {
  return buckets_of(membership, name)->front();
}

// A fill that ended late stayed where nobody asked for it.
TEST(Forgotten, WhoIsNoMemberAndIsUnknownToAllIsForgotten) {
  Tier tier({"a", "b", "c"});
  tier.talk();
  Authority& c = tier.at("c");
  EXPECT_FALSE(c.is_forgotten());
  c.heard_of_us("a", false);
  c.heard_of_us("b", false);
  EXPECT_FALSE(c.is_forgotten()) << "it is a member";
  c.follow(membership_of({"a", "b"}));
  c.take(some_bucket_of(*membership_of({"a", "b"}), "a"), 1, "a");
  EXPECT_FALSE(c.is_forgotten()) << "nobody was told of it yet";
  Authority newcomer("d", 9);
  newcomer.follow(membership_of({"a", "b"}));
  for (const char* name : {"a", "b"}) {
    EXPECT_FALSE(newcomer.is_forgotten());
    newcomer.heard(name, {{1, 1}, {}}, newcomer.own().version, start);
    newcomer.heard_of_us(name, false);
  }
  EXPECT_TRUE(newcomer.is_forgotten());
  newcomer.failed("b", true, start);
  EXPECT_FALSE(newcomer.is_forgotten()) << "b may know it";
}

// A batch with 256 buckets came when all had forgotten who asked for it: it held them for ever, and
// the giver went on holding them too.
TEST(Forgotten, WhoIsGivenSomethingThenGivesItUp) {
  const auto others = membership_of({"a", "b"});
  Authority d("d", 9);
  d.follow(others);
  d.take(some_bucket_of(*others, "a"), 3, "a");
  for (const char* name : {"a", "b"}) {
    EXPECT_FALSE(d.is_forgotten());
    d.heard(name, {{1, 1}, {}}, d.own().version, start);
    d.heard_of_us(name, false);
  }
  ASSERT_TRUE(d.is_forgotten());
  EXPECT_TRUE(d.give_up());
  for (std::size_t i = 0; i < shard::bucket_count; ++i) {
    EXPECT_FALSE(d.own().has(static_cast<Bucket>(i)));
  }
  EXPECT_FALSE(d.is_forgotten()) << "all are to hear of that first";
  EXPECT_FALSE(d.give_up()) << "nothing changes, and nobody is woken for it";
}

}  // namespace
}  // namespace ringside::tier
