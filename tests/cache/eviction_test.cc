#include "cache/eviction.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace ringside::cache {
namespace {

struct Key : Evictable {
  char name = 0;
};

// Steps such as "+a" (added), ".a" (used), "-a" (removed); the keys that then go, in turn.
std::string what_goes(const std::vector<std::string>& steps) {
  std::array<Key, 26> keys;
  LeastRecentlyUsed order;
  for (const std::string& step : steps) {
    Key& key = keys[static_cast<std::size_t>(step[1] - 'a')];
    key.name = step[1];
    if (step[0] == '+') order.add(key);
    if (step[0] == '.') order.use(key);
    if (step[0] == '-') order.remove(key);
  }
  std::string gone;
  while (auto* const next = order.first_to_go()) {
    gone += static_cast<Key*>(next)->name;
    order.remove(*next);
  }
  return gone;
}

TEST(LeastRecentlyUsed, TellsWhatGoesFirst) {
  struct Row {
    std::vector<std::string> steps;
    std::string gone;
  };
  for (const Row& row : std::vector<Row>{{{}, ""},
                                         {{"+a"}, "a"},
                                         {{"+a", "+b", "+c"}, "abc"},
                                         {{"+a", "+b", "+c", ".a"}, "bca"},
                                         {{"+a", "+b", "+c", ".a", ".b"}, "cab"},
                                         {{"+a", "+b", "+c", ".c"}, "abc"},
                                         {{"+a", "+b", "+c", "-b"}, "ac"},
                                         {{"+a", "+b", "-a", "+a"}, "ba"},
                                         {{"+a", "-a"}, ""}}) {
    EXPECT_EQ(what_goes(row.steps), row.gone);
  }
}

TEST(LeastRecentlyUsed, MayEndBeforeWhatItOrders) {
  Key key;
  {
    LeastRecentlyUsed order;
    order.add(key);
  }
  EXPECT_FALSE(key.is_linked());
}

}  // namespace
}  // namespace ringside::cache
