#include "program/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace ringside::program {
namespace {

using shard::Topology;

bool is_by_bucket(const Topology& topology) noexcept {
  return !topology.bucket_owners().empty() || topology.members().empty();
}

// Nothing is handed over where the numbers of buckets mean something else.
bool is_by_same_buckets(const Topology& before, const Topology& after) noexcept {
  if (!is_by_bucket(before) || !is_by_bucket(after)) return false;
  return before.members().empty() || after.extends(before);
}

// Whose a unit is; npos: nobody's, for there are no members.
constexpr std::size_t nobody = static_cast<std::size_t>(-1);
struct Owners {
  std::size_t before = nobody;
  std::size_t after = nobody;
};

std::size_t key_owner(const Topology& topology, const shard::ShardKey& key) {
  return topology.members().empty() ? nobody : topology.owner(key);
}

// By bucket of `after`. One that was cut since had the owner of what it was cut of.
std::vector<Owners> owners_of_buckets(const Topology& before, const Topology& after) {
  std::vector<Owners> owners;
  owners.reserve(after.bucket_owners().size());
  for (const shard::MemberIndex owner : after.bucket_owners()) {
    const auto same = before.find(after.members()[owner].name);
    owners.push_back({same ? *same : nobody, owner});
  }
  for (const shard::Move& move : shard::diff(before, after)) {
    owners[move.bucket].before = move.from ? *move.from : nobody;
  }
  return owners;
}

std::vector<Owners> owners_of_sampled_keys(const Topology& before, const Topology& after) {
  std::vector<Owners> owners;
  owners.reserve(limits::plan_keys);
  for (std::size_t number = 0; number < limits::plan_keys; ++number) {
    const std::string bytes = fmt::format("ZZ\n/{}\n", number);
    const shard::ShardKey key{bytes, hash64(bytes)};
    owners.push_back({key_owner(before, key), key_owner(after, key)});
  }
  return owners;
}

const std::string& name_of(const Topology& topology, std::size_t member) {
  static const std::string none;
  return member == nobody ? none : topology.members()[member].name;
}

StoreTold share_of(const StoreTold& told, double share) noexcept {
  return {told.responses * share, told.bytes * share, told.requests * share};
}

void add(StoreTold& sum, const StoreTold& more) noexcept {
  sum.responses += more.responses;
  sum.bytes += more.bytes;
  sum.requests += more.requests;
}

// Responses that a replica has stored under no shard, which lie in its buckets of a hash.
double unsharded_responses(const PlanBasis& basis, const std::string& replica) {
  const auto store = basis.stores.find(replica);
  if (store == basis.stores.end()) return 0;
  const auto& sharded = basis.stored_shards.at(replica);
  return std::max(store->second.responses - std::accumulate(sharded.begin(), sharded.end(), 0.0),
                  0.0);
}

// What units count for.
struct Weights {
  std::vector<double> in_tier;
  std::vector<double> at_owner;  // what its owner has of it, who may not have it all yet
};

// Where there are shards: each counts as the responses that are stored of it, and each other bucket
// as its share of what its owner has under no shard. Nullopt: that is not known of every member, or
// not of what is cut, or the units are sampled keys.
std::optional<Weights> weigh(const PlanBasis& basis, const Plan& plan,
                             const std::vector<Owners>& units) {
  const Topology& before = *basis.before;
  if (!plan.by_bucket || before.bucket_owners().empty()) return std::nullopt;
  const std::size_t shards = basis.after->state().shards.size();
  for (const shard::Member& member : before.members()) {
    const auto stored = basis.stored_shards.find(member.name);
    if (stored == basis.stored_shards.end() || stored->second.size() != shards) return std::nullopt;
  }
  std::map<std::size_t, double> unsharded_buckets;  // by owner
  for (std::size_t unit = 0; unit < before.first_shard(); ++unit) {
    ++unsharded_buckets[units[unit].before];
  }
  std::map<std::size_t, double> in_each;  // of these
  for (const auto& [owner, buckets] : unsharded_buckets) {
    in_each[owner] = unsharded_responses(basis, name_of(before, owner)) / buckets;
  }
  Weights weights;
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const std::size_t owner = units[unit].before;
    if (unit < before.first_shard()) {
      weights.in_tier.push_back(in_each.at(owner));
      weights.at_owner.push_back(in_each.at(owner));
      continue;
    }
    // Who gives a shard has it all until the taker has it all: so nothing counts twice.
    const std::size_t shard = unit - before.first_shard();
    std::size_t most = 0;
    for (const auto& [replica, responses] : basis.stored_shards) {
      most = std::max(most, responses[shard]);
    }
    weights.in_tier.push_back(static_cast<double>(most));
    weights.at_owner.push_back(
        static_cast<double>(basis.stored_shards.at(name_of(before, owner))[shard]));
  }
  return weights;
}

struct Counts {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>>
      moved;                            // units, by owners
  std::map<std::size_t, double> owned;  // before, by weight at the owner
  Weights weights;                      // of the units
};

Counts count(const PlanBasis& basis, const std::vector<Owners>& units, Weights weights) {
  const Topology& before = *basis.before;
  const Topology& after = *basis.after;
  Counts counts;
  counts.weights = std::move(weights);
  // Then a key's bucket is another one, and nobody finds what is stored of it.
  const bool is_cold = is_by_bucket(before) && is_by_bucket(after) && !before.members().empty() &&
                       !after.extends(before);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const Owners& owners = units[unit];
    counts.owned[owners.before] += counts.weights.at_owner[unit];
    if (!is_cold && name_of(before, owners.before) == name_of(after, owners.after)) continue;
    counts.moved[{owners.before, owners.after}].push_back(unit);
  }
  return counts;
}

void fill_moves(Plan& plan, const PlanBasis& basis, const Counts& counts) {
  double moved_weight = 0;
  for (const auto& [pair, units] : counts.moved) {
    PlannedMove move{name_of(*basis.before, pair.first),
                     name_of(*basis.after, pair.second),
                     units.size(),
                     {},
                     std::nullopt};
    double weight = 0;
    for (const std::size_t unit : units) {
      weight += counts.weights.at_owner[unit];
      moved_weight += counts.weights.in_tier[unit];
    }
    if (plan.by_bucket) move.buckets.assign(units.begin(), units.end());
    if (const auto store = basis.stores.find(move.from); store != basis.stores.end()) {
      const double owned = counts.owned.at(pair.first);
      move.told = share_of(store->second, owned > 0 ? weight / owned : 0);
    } else if (!move.from.empty() &&
               (plan.untold.empty() || plan.untold.back() != move.from)) {  // sorted by giver
      plan.untold.push_back(move.from);
    }
    plan.moved += units.size();
    plan.moves.push_back(std::move(move));
  }
  std::stable_sort(plan.moves.begin(), plan.moves.end(),
                   [](const PlannedMove& a, const PlannedMove& b) { return a.units > b.units; });
  const auto& in_tier = counts.weights.in_tier;
  const double all = std::accumulate(in_tier.begin(), in_tier.end(), 0.0);
  if (plan.is_weighed && all > 0) plan.stored_share = moved_weight / all;
}

void fill_told(Plan& plan, const PlanBasis& basis) {
  if (basis.stores.empty()) return;
  StoreTold stored;
  for (const auto& [name, store] : basis.stores) add(stored, store);
  StoreTold moved;
  std::map<std::string_view, double> taken_bytes;
  for (const PlannedMove& move : plan.moves) {
    if (!move.told) continue;
    add(moved, *move.told);
    taken_bytes[move.to] += move.told->bytes;
  }
  plan.stored_bytes = stored.bytes;
  plan.told = moved;
  if (stored.requests > 0 && plan.untold.empty()) {
    plan.request_share = moved.requests / stored.requests;
  }
  if (!plan.by_bucket || basis.move_rate_mib_s == 0) return;
  double most_bytes = 0;
  for (const auto& [name, bytes] : taken_bytes) most_bytes = std::max(most_bytes, bytes);
  const double rate_bytes_s = static_cast<double>(basis.move_rate_mib_s * limits::kMiB);
  plan.seconds = most_bytes / rate_bytes_s;
}

// Whose each of the shards is: a bucket's owner is its number modulo them.
std::vector<std::string> shards_of(const Topology& topology) {
  std::size_t weight = 0;
  for (const shard::Member& member : topology.members()) weight += member.weight;
  std::vector<std::string> shards;
  for (std::size_t shard = 0; shard < weight; ++shard) {
    shards.push_back(name_of(topology, topology.bucket_owners()[shard]));
  }
  return shards;
}

std::optional<Reshard> reshard_of(const Topology& before, const Topology& after) {
  const auto is_modulo = [](const Topology& topology) {
    return topology.scheme() == "modulo" && !topology.members().empty();
  };
  if (!is_modulo(before) || !is_modulo(after)) return std::nullopt;
  Reshard reshard{shards_of(before), shards_of(after), {}};
  if (reshard.before == reshard.after) return std::nullopt;
  const std::size_t count = reshard.before.size() * reshard.after.size();
  if (count > limits::plan_shards) return reshard;
  for (std::size_t number = 0; number < count; ++number) {
    reshard.small.push_back({number % reshard.before.size(), number % reshard.after.size(),
                             (shard::bucket_count - number - 1) / count + 1});
  }
  return reshard;
}

}  // namespace

double Plan::moved_share() const noexcept {
  if (stored_share) return *stored_share;
  return units == 0 ? 0 : static_cast<double>(moved) / static_cast<double>(units);
}

Plan make_plan(const PlanBasis& basis) {
  const Topology& before = *basis.before;
  const Topology& after = *basis.after;
  RINGSIDE_CHECK(!after.members().empty());
  Plan plan;
  plan.before = basis.before;
  plan.after = basis.after;
  plan.by_bucket = is_by_same_buckets(before, after);
  plan.move_rate_mib_s = basis.move_rate_mib_s;
  const auto units =
      plan.by_bucket ? owners_of_buckets(before, after) : owners_of_sampled_keys(before, after);
  plan.units = units.size();
  auto weights = weigh(basis, plan, units);
  plan.is_weighed = weights.has_value();
  if (!weights) weights = Weights{std::vector<double>(units.size(), 1), {}};
  if (!plan.is_weighed) weights->at_owner = weights->in_tier;
  fill_moves(plan, basis, count(basis, units, *std::move(weights)));
  fill_told(plan, basis);
  plan.reshard = reshard_of(before, after);
  return plan;
}

}  // namespace ringside::program
