#include "cache/full_shards.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "cache/bucket_labels.h"
#include "shard/coarse_buckets.h"
#include "shard/schemes.h"
#include "shard/sharded.h"

namespace ringside::cache {
namespace {

// A key stands once for each response that is stored under it, as its scheme sees it.
std::vector<std::string> keys_of(shard::Bucket bucket, const shard::Topology& topology,
                                 Store& store) {
  std::vector<std::string> keys;
  for (const Store::Entry& entry : store.entries_of(bucket)) {
    const auto key = shard_key_in(entry.key.text);
    if (!key) continue;
    keys.insert(keys.end(), entry.variants.size(),
                std::string(shard::text_of({topology.own_key(*key)})));
  }
  return keys;
}

}  // namespace

std::optional<shard::Cut> FullShards::cut(const shard::Topology& topology,
                                          std::string_view own_name, const CutTerms& terms,
                                          Store& store) {
  const auto own = topology.find(own_name);
  if (!own || !topology.state().has_shards()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const std::size_t shards = topology.state().shards.size();
  if (std::exchange(shards_, shards) != shards) uncut_.clear();
  for (const shard::Placeable& part : shard::placeable(topology)) {
    if (!terms.places_keys) break;
    if (auto cut = unplaced(topology, *own, part, store)) return cut;
  }
  if (terms.responses_most == 0) return std::nullopt;
  while (const auto bucket = fullest(topology, *own, terms.responses_most, store)) {
    const std::size_t shard = *bucket - topology.first_shard();
    auto at = shard::where_to_cut(topology, shard, keys_of(*bucket, topology, store));
    if (at) {
      shard::Cut cut{shard, *std::move(at), {}, false};
      if (shard::cut_state(topology, cut)) return cut;
    }
    uncut_[*bucket] = store.count_of(*bucket);
  }
  return std::nullopt;
}

// Those of its own buckets of the fallback. A key that no state can name stays there.
std::optional<shard::Cut> FullShards::unplaced(const shard::Topology& topology,
                                               shard::MemberIndex own, const shard::Placeable& part,
                                               Store& store) {
  const std::size_t room = shard::bucket_count - topology.bucket_owners().size();
  const std::size_t most = std::min(room, limits::keys_placed_at_once);
  std::set<std::string> keys;
  const std::size_t end = part.first_bucket + shard::coarse_buckets;
  for (std::size_t i = part.first_bucket; i < end && keys.size() < most; ++i) {
    const auto bucket = static_cast<shard::Bucket>(i);
    const std::size_t count = store.count_of(bucket);
    if (topology.bucket_owners()[i] != own || count == 0) continue;
    const auto unplaced = uncut_.find(bucket);
    if (unplaced != uncut_.end() && count < 2 * unplaced->second) continue;
    const std::size_t before = keys.size();
    for (std::string& key : keys_of(bucket, topology, store)) {
      const shard::State alone{{{key, {}, {}}}, {}};
      const bool may_be_named = !key.empty() && shard::check_shards(alone, 1);
      if (may_be_named && keys.size() < most) keys.insert(std::move(key));
    }
    if (keys.size() == before) uncut_[bucket] = count;
  }
  if (keys.empty()) return std::nullopt;
  return shard::Cut{0, {keys.begin(), keys.end()}, {}, true, part.route};
}

std::optional<shard::Bucket> FullShards::fullest(const shard::Topology& topology,
                                                 shard::MemberIndex own, std::size_t responses_most,
                                                 const Store& store) const {
  std::optional<shard::Bucket> found;
  std::size_t most = responses_most;
  const auto& owners = topology.bucket_owners();
  for (std::size_t i = topology.first_shard(); i < owners.size(); ++i) {
    const auto bucket = static_cast<shard::Bucket>(i);
    const std::size_t count = store.count_of(bucket);
    if (owners[i] != own || count <= most) continue;
    const auto uncut = uncut_.find(bucket);
    if (uncut != uncut_.end() && count < 2 * uncut->second) continue;
    found = bucket;
    most = count;
  }
  return found;
}

}  // namespace ringside::cache
