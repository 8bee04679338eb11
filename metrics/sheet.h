#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/core_sheet.h"
#include "metrics/exposition.h"
#include "metrics/outcome.h"
#include "metrics/totals.h"

namespace ringside::metrics {

// All that one component (a sidecar, or one replica) counts. Thread-safe, except for its cores:
// each is its own thread's.
//
// New names appear while cores count and others scrape:
//   1. The control thread asks shard("cache-10"). Under the mutex the name gets the next index i.
//   2. Where i begins a block of 64, a zeroed block is made for every core and its address stored
//      in that core's blocks_, with release order.
//   3. Still under the mutex the name is appended to names_.
//   4. The control thread hands i to the cores, within a new topology snapshot: what posts the
//      snapshot to a core orders 2 before 5.
//   5. A core counts under i: it loads the address (acquire) and finds the block of 2, zeroed.
//   6. A scrape copies names_ under the mutex and then reads the cores without it: a name that it
//      saw was appended after its block's address was stored (2 before 3), so the block is there.
// A block is never moved nor freed before the sheet, and an index never changes its name; so
// neither 5 nor 6 waits for anybody, and nothing counted is lost when a replica leaves.
class Sheet {
 public:
  // `name` is the replica's name; the sidecar's is empty.
  Sheet(Role role, std::string name, std::size_t cores);
  [[nodiscard]] CoreSheet& core(std::size_t index) noexcept;

  // The index under which a replica's requests are counted; the same name keeps its index, and the
  // sheet's own is 0. Past `shard_names` names everything further shares one index, "other". May be
  // called while cores count.
  [[nodiscard]] ShardIndex shard(std::string_view replica_name);

  void set_topology(std::uint64_t version, std::size_t replicas, std::string id);
  void set_store(const StoreFigures& figures);
  void set_origins(const OriginFigures& figures);

  // Everything counted so far. May be called while cores count.
  [[nodiscard]] Totals totals() const;

 private:
  static constexpr ShardIndex other = static_cast<ShardIndex>(shard_names);
  void make_block(std::size_t block_index);

  const Role role_;
  const std::string name_;
  std::vector<std::unique_ptr<CoreSheet>> cores_;

  mutable std::mutex mutex_;  // of all below
  std::vector<std::unique_ptr<CoreSheet::ShardBlock>> blocks_;
  std::vector<std::string> names_;  // by index
  std::map<std::string, ShardIndex, std::less<>> indices_;
  bool other_is_used_ = false;
  std::optional<TopologyFigures> topology_;
  std::optional<StoreFigures> store_;
  std::optional<OriginFigures> origins_;
};

}  // namespace ringside::metrics
