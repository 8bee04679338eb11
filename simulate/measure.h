#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/key_set.h"
#include "simulate/next_state.h"

namespace ringside::simulate {

// What a topology costs whoever has it. Times are those of this thread on its core, so that it does
// not matter who else runs on the machine.
struct Cost {
  std::size_t memory_bytes = 0;  // of the heap, by the allocator's own account; 0: not known
  double build_ms = 0;
  double look_up_ns = 0;
};

struct Built {
  TopologyPointer topology;
  Cost cost;  // without the look-up
};

// Builds it several times, where that does not take long, and tells the least time, for
// disturbances only ever add; and the mean of the memory, for the allocator keeps what was freed
// for the next who asks.
[[nodiscard]] Result<Built> build(const TopologyPointer& before,
                                  const std::vector<shard::Member>& members,
                                  std::string_view scheme, const KeySet& keys);

// Keys, evenly from the whole set, by which look-ups are timed.
class Sample {
 public:
  explicit Sample(const KeySet& keys);
  // The time of one `owner(key)` with the key hashed, of which there is one at least.
  [[nodiscard]] double look_up_ns(const shard::Topology& topology) const;

 private:
  std::vector<std::string> texts_;
  std::vector<shard::ShardKey> keys_;
};

}  // namespace ringside::simulate
