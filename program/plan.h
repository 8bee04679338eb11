#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "shard/topology.h"

// What a change of the members or of the scheme will do, reckoned before it is done. Values in,
// values out.
namespace ringside::program {

using TopologyPointer = std::shared_ptr<const shard::Topology>;

// What a replica's metrics tell of it.
struct StoreTold {
  double responses = 0;
  double bytes = 0;
  double requests = 0;  // since it started
};

struct PlanBasis {
  TopologyPointer before;
  TopologyPointer after;
  std::map<std::string, StoreTold> stores{};  // by the replicas' names, of those that are known
  // Likewise, of schemes that have shards: stored responses of each shard of `after`, where that
  // cuts shards, and else of `before`, which has the same.
  std::map<std::string, std::vector<std::size_t>> stored_shards{};
  std::size_t move_rate_mib_s = limits::move_rate_mib_s;  // into a replica; 0: nothing moves
};

struct PlannedMove {
  std::string from;  // empty: nobody, since there were no members
  std::string to;
  std::size_t units = 0;
  std::vector<shard::Bucket> buckets;  // where the units are buckets: which, in ascending order
  std::optional<StoreTold> told;       // the moved share of what the giver has, where that is known
};

// A reshard of `modulo` as the literature has it: each of the shards is split into as many as there
// are to be, and of these small ones, taken modulo the new count, the new shards are merged.
struct Reshard {
  struct Small {
    std::size_t from = 0;  // shard, of `before`
    std::size_t to = 0;    // shard, of `after`
    std::size_t buckets = 0;
  };
  std::vector<std::string> before;  // whose each shard is: as many as there is weight
  std::vector<std::string> after;
  std::vector<Small> small;  // by number; none where they are more than limits::plan_shards
};

struct Plan {
  TopologyPointer before;
  TopologyPointer after;
  // Buckets, and shards are buckets too. Where one of the two schemes is not by bucket, or numbers
  // them otherwise, keys that stand for all. Then there is no handoff, and the origin is asked
  // again for what moves.
  bool by_bucket = true;
  std::size_t units = 0;
  std::size_t moved = 0;
  std::vector<PlannedMove> moves;   // the most units first
  std::vector<std::string> untold;  // who gives, and of whose store nothing is known
  // Whether units count by what is stored of them: there are shards, of which every member
  // has told.
  bool is_weighed = false;
  std::optional<double> stored_share;  // what moves, of all responses, where they are weighed

  std::size_t move_rate_mib_s = 0;
  std::optional<double> stored_bytes;  // of all whose store is known; absent: of nobody
  std::optional<StoreTold> told;       // of all that moves, as far as it is known
  std::optional<double> seconds;  // until the replica that takes the most has it, where it moves
  std::optional<double> request_share;  // of the tier's, that are for what moves
  std::optional<Reshard> reshard;

  // Of the keys, as far as it is known: stored_share, else that of the units.
  [[nodiscard]] double moved_share() const noexcept;
};

// Requires that `after` has members.
[[nodiscard]] Plan make_plan(const PlanBasis& basis);

}  // namespace ringside::program
