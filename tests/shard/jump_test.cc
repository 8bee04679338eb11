#include "shard/jump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

using testing::HasSubstr;

// From the rule of the paper by hand, and what other programs that follow it are tested with.
TEST(Jump, GivesThePositionsOfThePaper) {
  struct Case {
    std::uint64_t key;
    std::size_t positions;
    std::size_t position;
  };
  for (const Case& c : {Case{1, 1, 0}, Case{42, 57, 43}, Case{0xdead10cc, 1, 0},
                        Case{0xdead10cc, 666, 361}, Case{256, 1024, 520}, Case{0, 60, 0}}) {
    EXPECT_EQ(jump_position(c.key, c.positions), c.position) << c.key << " of " << c.positions;
  }
}

TEST(Jump, JumpsOnlyToNewPositions) {
  for (std::uint64_t key = 0; key < 1'000; ++key) {
    for (std::size_t positions = 1; positions < 50; ++positions) {
      const std::size_t before = jump_position(key * 0x9e3779b97f4a7c15, positions);
      const std::size_t after = jump_position(key * 0x9e3779b97f4a7c15, positions + 1);
      ASSERT_TRUE(after == before || after == positions) << key << " of " << positions;
    }
  }
}

TEST(Jump, TakesNumberedMembersAlone) {
  struct Case {
    std::vector<std::string> names;
    std::string refusal;  // empty: taken
  };
  const Case cases[] = {
      {{"cache-2", "cache-0", "cache-1"}, ""},
      {{"0", "1"}, ""},
      {{"shop-7-cache-0", "shop-7-cache-1"}, ""},
      {{"a"}, "member \"a\" stands where \"a0\" should"},
      {{"cache-1", "cache-2"}, "member \"cache-1\" stands where \"cache-0\" should"},
      {{"cache-0", "cache-2"}, "member \"cache-2\" stands where \"cache-1\" should"},
      {{"cache-0", "cache-1", "web-2"}, "member \"web-2\" stands where \"cache-2\" should"},
      {{"cache-0", "cache-01"}, "member \"cache-01\" stands where \"cache-1\" should"},
      {{"cache-0", "cache-1.b"}, "choose the scheme \"rendezvous\""},
  };
  for (const Case& c : cases) {
    std::vector<Member> members;
    for (const std::string& name : c.names) members.push_back({name, 1, ""});
    const auto made = Topology::make(std::move(members), "jump", 1);
    EXPECT_EQ(made.has_value(), c.refusal.empty()) << c.names.back();
    if (!made) {
      EXPECT_THAT(made.error().message, HasSubstr(c.refusal));
    }
  }
}

}  // namespace
}  // namespace ringside::shard
