#include "simulate/figures.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace ringside::simulate {
namespace {

double weight_of(std::span<const shard::Member> members) {
  double weight = 0;
  for (const shard::Member& member : members) weight += member.weight;
  return weight;
}

template <class AmountOf>
Balance balance_of(std::span<const Load> loads, std::span<const shard::Member> members,
                   AmountOf amount_of) {
  double all = 0;
  for (const Load& load : loads) all += amount_of(load);
  if (all == 0) return {};
  const double entitled = all / weight_of(members);
  Balance balance{0, INFINITY, 0};
  double squares = 0;
  double counted = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].weight == 0) continue;
    const double multiple = amount_of(loads[i]) / (entitled * members[i].weight);
    balance.peak = std::max(balance.peak, multiple);
    balance.least = std::min(balance.least, multiple);
    squares += (multiple - 1) * (multiple - 1);
    ++counted;
  }
  balance.deviation = std::sqrt(squares / counted);
  return balance;
}

double percent(double part, double whole) { return whole == 0 ? 0 : 100 * part / whole; }

}  // namespace

Renumbering renumbering(std::span<const shard::Member> from, std::span<const shard::Member> to) {
  std::unordered_map<std::string_view, shard::MemberIndex> places;
  for (std::size_t i = 0; i < to.size(); ++i) {
    places.emplace(to[i].name, static_cast<shard::MemberIndex>(i));
  }
  Renumbering out;
  out.reserve(from.size());
  for (const shard::Member& member : from) {
    const auto found = places.find(member.name);
    out.push_back(found == places.end() ? std::nullopt : std::optional(found->second));
  }
  return out;
}

Tallying::Tallying(std::span<const shard::Member> before, std::span<const shard::Member> after)
    : now_(renumbering(before, after)), earlier_(renumbering(after, before)) {
  tally_.of_members.resize(after.size());
}

double least_moved(std::span<const shard::Member> before, std::span<const shard::Member> after) {
  const double weight_before = weight_of(before);
  const double weight_after = weight_of(after);
  const Renumbering earlier = renumbering(after, before);
  double gained = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const double had = earlier[i] ? before[*earlier[i]].weight / weight_before : 0;
    gained += std::max(0.0, after[i].weight / weight_after - had);
  }
  return gained;
}

Figures figures_of(const Tally& tally, std::span<const shard::Member> before,
                   std::span<const shard::Member> after) {
  Figures out;
  const auto keys_of = [](const Load& load) { return static_cast<double>(load.keys); };
  out.keys = balance_of(tally.of_members, after, keys_of);
  out.weight = balance_of(tally.of_members, after, [](const Load& load) { return load.weight; });
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i].weight > 0 && tally.of_members[i].keys == 0) ++out.empty;
  }
  if (before.empty()) return out;
  const double all = keys_of(tally.all);
  const double least = least_moved(before, after);
  out.movement = Movement{percent(keys_of(tally.moved), all),
                          percent(tally.moved.weight, tally.all.weight),
                          percent(keys_of(tally.between_stays), all),
                          100 * least,
                          tally.moved.keys,
                          least * all};
  return out;
}

}  // namespace ringside::simulate
