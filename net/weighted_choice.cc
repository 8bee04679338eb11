#include "net/weighted_choice.h"

#include "base/check.h"

namespace ringside::net {

WeightedChoice::WeightedChoice(std::vector<std::uint32_t> weights)
    : weights_(std::move(weights)), current_(weights_.size(), 0) {}

std::optional<std::size_t> WeightedChoice::next(std::span<const bool> usable) noexcept {
  RINGSIDE_CHECK(usable.size() == weights_.size());
  std::int64_t total = 0;
  std::optional<std::size_t> best;
  for (std::size_t index = 0; index < weights_.size(); ++index) {
    if (!usable[index]) continue;
    current_[index] += weights_[index];
    total += weights_[index];
    if (!best || current_[index] > current_[*best]) best = index;
  }
  if (best) current_[*best] -= total;
  return best;
}

}  // namespace ringside::net
