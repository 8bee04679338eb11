#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "base/hash.h"
#include "shard/schemes.h"
#include "shard/split_tree.h"
#include "tests/shard/some_topology.h"

// Who has a key is asked for each request: the answer takes no memory. All of this program's `new`
// are counted for it.
namespace ringside::shard {
namespace {

thread_local std::size_t allocations = 0;

}  // namespace

// GCC takes what is inlined of them for another pair than `new` and `delete`.
[[gnu::noinline]] void* counted(std::size_t size_bytes) {
  ++allocations;
  void* const memory = std::malloc(size_bytes);  // NOLINT(cppcoreguidelines-no-malloc)
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void freed(void* memory) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}

}  // namespace ringside::shard

void* operator new(std::size_t size_bytes) { return ringside::shard::counted(size_bytes); }
void operator delete(void* memory) noexcept { ringside::shard::freed(memory); }
void operator delete(void* memory, std::size_t /*size_bytes*/) noexcept {
  ringside::shard::freed(memory);
}

namespace ringside::shard {
namespace {

TEST(Allocation, OfALookUpThereIsNoneInAnyScheme) {
  std::vector<std::string> keys;
  for (int i = 0; i < 1'000; ++i) keys.push_back("DE\n/page/" + std::to_string(i) + "\n");
  const State cut{{{"", "", std::nullopt}, {keys[300], "", std::nullopt}}, {}};
  const std::string placed = keys[300].substr(0, keys[300].size() - 1);
  const State directory{{{placed, "cache-1", std::nullopt}}, "ring"};
  for (const std::size_t members : {std::size_t{11}, std::size_t{1'000}}) {
    std::vector<TopologyPointer> topologies;
    for (const SchemeEntry& entry : all_schemes()) {
      topologies.push_back(topology_of(caches(members), entry.name));
    }
    topologies.push_back(topology_of(caches(members), "range", cut));
    topologies.push_back(topology_of(caches(members), "split-tree", tree_of(20)));
    topologies.push_back(topology_of(caches(members), "directory", directory));
    const State table = topology_of(caches(10), "vbucket")->state_to_keep();
    topologies.push_back(topology_of(caches(members), "vbucket", table));
    // Its arcs are too many for a route of more than 25 replicas.
    const char* const of_routes = members > 25 ? "ring,a=vbucket,b=range" : "ring,a=nginx,b=range";
    topologies.push_back(topology_of(caches(members), of_routes));
    for (const TopologyPointer& topology : topologies) {
      std::vector<ShardKey> hashed;
      for (const std::string& key : keys) hashed.push_back(key_of(key));
      const std::size_t before = allocations;
      std::size_t owned = 0;
      for (const ShardKey& key : hashed) owned += topology->owner(key) < members ? 1 : 0;
      EXPECT_EQ(allocations, before) << topology->scheme() << " of " << members;
      EXPECT_EQ(owned, keys.size());
    }
  }
  EXPECT_GT(allocations, 0U) << "they are counted";
}

}  // namespace
}  // namespace ringside::shard
