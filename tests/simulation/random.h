#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace ringside::simulation {

// Everything that is left to chance in a simulation. The engine's numbers are the standard's; its
// distributions are not, so there are none here: a seed means the same wherever it is run.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  [[nodiscard]] std::uint64_t below(std::uint64_t end) { return engine_() % end; }
  [[nodiscard]] bool one_in(std::uint64_t count) { return below(count) == 0; }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t left = values.size(); left > 1; --left) {
      std::swap(values[left - 1], values[below(left)]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace ringside::simulation
