#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ringside::net {

// Smooth weighted round robin, as nginx does it: of weights 5, 1, 1 it chooses a a b a c a a, and
// not five times the same in a row. Each chosen one is set back by the sum of what stood for
// choice, all others gain their weight. Not thread-safe: each core has its own.
class WeightedChoice {
 public:
  explicit WeightedChoice(std::vector<std::uint32_t> weights);

  // The next of those that `usable` allows (as many as there are weights); nullopt: none is. One
  // that can't be used gains nothing meanwhile, so it gets no burst when it is back.
  [[nodiscard]] std::optional<std::size_t> next(std::span<const bool> usable) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return weights_.size(); }

 private:
  std::vector<std::uint32_t> weights_;
  std::vector<std::int64_t> current_;
};

}  // namespace ringside::net
