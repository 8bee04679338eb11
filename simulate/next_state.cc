#include "simulate/next_state.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ringside::simulate {
namespace {

// What its operators would have cut by then: so many ranges for each member of the first step.
constexpr std::size_t ranges_per_member = 16;
// The keys among which ranges are cut; each stands for those behind it in the set.
constexpr std::size_t keys_looked_at = 100'000;

enum class Alike { requests, keys };  // what all ranges have the same number of

struct Start {
  std::string key;
  double share = 0;
};

std::vector<Start> starts_in_order(const KeySet& keys, Alike alike) {
  const std::size_t stride = std::max<std::size_t>(1, keys.size() / keys_looked_at);
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

}  // namespace

shard::State next_state(const TopologyPointer& before, const std::vector<shard::Member>& members,
                        std::string_view scheme, const KeySet& keys) {
  if (before) return before->state_to_keep();
  const std::size_t count = std::min(members.size() * ranges_per_member, shard::bucket_count);
  if (scheme == "range") return ranges_of(keys, count, Alike::requests);
  // The next shard opens where the newest one has as many keys as it may have.
  if (scheme == "ascending") return ranges_of(keys, count, Alike::keys);
  return {};
}

}  // namespace ringside::simulate
