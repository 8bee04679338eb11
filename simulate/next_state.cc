#include "simulate/next_state.h"

#include <algorithm>
#include <string>
#include <utility>

#include "shard/directory.h"
#include "shard/sharded.h"
#include "shard/split_tree.h"

namespace ringside::simulate {
namespace {

// What its operators would have cut by then: so many shards for each member of the first step, and
// in a tree at least so many.
constexpr std::size_t shards_per_member = 16;
// The keys among which shards are cut; each stands for those behind it in the set.
constexpr std::size_t keys_looked_at = 100'000;

std::size_t stride_of(const KeySet& keys) {
  return std::max<std::size_t>(1, keys.size() / keys_looked_at);
}

enum class Alike { requests, keys };  // what all ranges have the same number of

struct Start {
  std::string key;
  double share = 0;
};

std::vector<Start> starts_in_order(const KeySet& keys, Alike alike) {
  const std::size_t stride = stride_of(keys);
  std::vector<Start> starts;
  std::string room;
  for (std::size_t index = 0; index < keys.size(); ++index) {
    if (index % stride == 0) starts.push_back({std::string(keys.key(index, room).bytes)});
    starts.back().share += alike == Alike::requests ? keys.weight(index) : 1;
  }
  std::sort(starts.begin(), starts.end(), [](const Start& one, const Start& other) {
    return shard::natural_order(one.key, other.key) < 0;
  });
  return starts;
}

// `count` ranges or fewer: a single key can't be cut, however often it is asked for.
shard::State ranges_of(const KeySet& keys, std::size_t count, Alike alike) {
  const std::vector<Start> starts = starts_in_order(keys, alike);
  double all = 0;
  for (const Start& start : starts) all += start.share;
  shard::State state{{{"", "", std::nullopt}}, {}};
  double before = 0;
  std::size_t full = 1;  // ranges that all that stands before makes, and the one that it is in
  for (const Start& start : starts) {
    const auto due = static_cast<double>(full) * all / static_cast<double>(count);
    if (before >= due && state.shards.size() < count) {  // keys of no weight may be the last
      state.shards.push_back({start.key, "", std::nullopt});
      full = static_cast<std::size_t>(before * static_cast<double>(count) / all) + 1;
    }
    before += start.share;
  }
  return state;
}

// Split until no shard has more than a `count`th of the keys, as by --split-above.
shard::State tree_of(const KeySet& keys, const std::vector<shard::Member>& members,
                     std::size_t count) {
  shard::State state = shard::first_tree();
  std::vector<std::string> looked_at;
  std::string room;
  for (std::size_t index = 0; index < keys.size(); index += stride_of(keys)) {
    looked_at.emplace_back(keys.key(index, room).bytes);
  }
  const std::size_t most = std::max<std::size_t>(1, looked_at.size() / count);
  while (true) {
    const shard::SplitTree tree(members, state);
    std::vector<std::size_t> held(state.shards.size());
    for (const std::string& key : looked_at) ++held[tree.bucket_for({key, hash64(key)})];
    std::vector<std::size_t> full;
    for (std::size_t shard = 0; shard < held.size(); ++shard) {
      const bool has_room = state.shards.size() + full.size() < shard::bucket_count;
      const bool is_full = held[shard] > most;
      const bool may_split = shard::where_to_split(state, shard, {"one", "other"}).has_value();
      if (is_full && may_split && has_room) full.push_back(shard);
    }
    auto split = shard::split_leaves(state, full);
    if (full.empty() || !split) return state;
    state = *std::move(split);
  }
}

// The first keys of the set, as many as a directory may have, each placed at first sight, as by
// --place-keys.
shard::State directory_of(const KeySet& keys, const std::vector<shard::Member>& members) {
  shard::State state = shard::first_directory();
  const bool has_weight = std::any_of(members.begin(), members.end(),
                                      [](const shard::Member& one) { return one.weight > 0; });
  std::string room;
  for (std::size_t index = 0; has_weight && index < keys.size(); ++index) {
    if (state.shards.size() == shard::directory_keys) break;
    std::string key(shard::text_of(keys.key(index, room)));
    const auto owner = shard::place_at_first_sight(key, members);
    const shard::State alone{{{std::move(key), members[owner].name, std::nullopt}}, {}};
    // A key that no state can name stays with the fallback.
    if (!alone.shards[0].at.empty() && shard::check_shards(alone, 1)) {
      state.shards.push_back(alone.shards[0]);
    }
  }
  return state;
}

}  // namespace

shard::State next_state(const TopologyPointer& before, const std::vector<shard::Member>& members,
                        std::string_view scheme, const KeySet& keys) {
  if (before) return before->state_to_keep();
  const std::size_t count = std::min(members.size() * shards_per_member, shard::bucket_count);
  if (scheme == "range") return ranges_of(keys, count, Alike::requests);
  // The next shard opens where the newest one has as many keys as it may have.
  if (scheme == "ascending") return ranges_of(keys, count, Alike::keys);
  if (scheme == "split-tree") return tree_of(keys, members, count);
  if (scheme == "directory") return directory_of(keys, members);
  return {};
}

}  // namespace ringside::simulate
