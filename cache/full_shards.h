#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "cache/store.h"
#include "shard/schemes.h"
#include "shard/state.h"
#include "shard/topology.h"

namespace ringside::cache {

// What a replica asks the writer of the state for by itself.
struct CutTerms {
  std::size_t responses_most = 0;  // stored of one shard, above which it is cut; 0: it never is
  bool places_keys = false;        // of a directory that it has stored something of
};

// The shards of a replica that have more than they may, and how they are cut; or the keys that its
// directory does not have yet. Thread-safe.
class FullShards {
 public:
  // How the fullest of the replica's own shards is cut that can be, where it has more than
  // `responses_most` stored responses and its scheme cuts shards by themselves; or which keys are
  // to be placed, limits::keys_placed_at_once at most. It names no owner of the new ones. Others
  // wait for no more than limits::bucket_step_rows of it.
  [[nodiscard]] std::optional<shard::Cut> cut(const shard::Topology& topology,
                                              std::string_view own_name, const CutTerms& terms,
                                              Store& store);

 private:
  [[nodiscard]] std::optional<shard::Cut> unplaced(const shard::Topology& topology,
                                                   shard::MemberIndex own,
                                                   const shard::Placeable& part, Store& store);
  [[nodiscard]] std::optional<shard::Bucket> fullest(const shard::Topology& topology,
                                                     shard::MemberIndex own,
                                                     std::size_t responses_most,
                                                     const Store& store) const;

  std::mutex mutex_;
  std::size_t shards_ = 0;  // that there were at the last look
  // With how many responses a shard could not be cut, since they are all under one key, or has no
  // key that can be placed. It is looked at again when it has twice as many, or when there are
  // other shards: to look is to read it all.
  std::map<shard::Bucket, std::size_t> uncut_;
};

}  // namespace ringside::cache
