#include "shard/rebalance.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace ringside::shard {

std::vector<std::size_t> balanced_counts(std::span<const std::size_t> counts,
                                         std::span<const std::uint32_t> weights) {
  RINGSIDE_CHECK(counts.size() == weights.size());
  const std::size_t buckets = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const std::size_t weight = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
  if (weight == 0) return {counts.begin(), counts.end()};

  std::vector<std::size_t> balanced;
  std::vector<std::size_t> remainders;
  std::vector<std::size_t> to_round_up;
  std::size_t left = buckets;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t share = buckets * weights[i];
    balanced.push_back(share / weight);
    remainders.push_back(share % weight);
    if (remainders.back() > 0) to_round_up.push_back(i);
    left -= balanced.back();
  }
  const auto before = [&](std::size_t a, std::size_t b) {
    const bool keeps_a = counts[a] > balanced[a];
    const bool keeps_b = counts[b] > balanced[b];
    if (keeps_a != keeps_b) return keeps_a;
    return remainders[a] != remainders[b] ? remainders[a] > remainders[b] : a < b;
  };
  // The remainders add up to so many times the weight, and each is less than it.
  const auto last = to_round_up.begin() + static_cast<std::ptrdiff_t>(left);
  std::nth_element(to_round_up.begin(), last, to_round_up.end(), before);
  for (auto i = to_round_up.begin(); i != last; ++i) ++balanced[*i];
  return balanced;
}

std::vector<BucketMove> rebalance(std::span<const std::size_t> counts,
                                  std::span<const std::uint32_t> weights) {
  const std::vector<std::size_t> wanted = balanced_counts(counts, weights);
  std::vector<BucketMove> moves;
  std::size_t taker = 0;
  std::size_t taken = 0;
  for (std::size_t giver = 0; giver < counts.size(); ++giver) {
    std::size_t given = counts[giver] > wanted[giver] ? counts[giver] - wanted[giver] : 0;
    while (given > 0) {
      while (counts[taker] + taken >= wanted[taker]) {
        ++taker;
        taken = 0;
      }
      const std::size_t buckets = std::min(given, wanted[taker] - counts[taker] - taken);
      moves.push_back({static_cast<MemberIndex>(giver), static_cast<MemberIndex>(taker), buckets});
      given -= buckets;
      taken += buckets;
    }
  }
  return moves;
}

}  // namespace ringside::shard
