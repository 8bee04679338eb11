#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shard/topology.h"

namespace ringside::simulate {

// Keys and how often each of them is asked for. The bytes of generated ones are made anew whenever
// they are looked at: of ten million keys the hash and the weight are kept and nothing else.
class KeySet {
 public:
  // As the default shard key writes them, one for each path: `ZZ\n/key/0\n` and so on. The k-th is
  // asked for in proportion to 1/k^exponent (Zipf); exponent 0: all alike.
  [[nodiscard]] static KeySet generated(std::size_t count, double exponent);

  // Adds to the weight of a key that is there. Not for generated keys.
  void add(std::string_view bytes, double weight);

  [[nodiscard]] std::size_t size() const noexcept { return hashes_.size(); }
  [[nodiscard]] std::uint64_t hash(std::size_t index) const noexcept { return hashes_[index]; }
  [[nodiscard]] double weight(std::size_t index) const noexcept {
    return weights_.empty() ? 1.0 : weights_[index];
  }
  // Its bytes are in `room` or in this set.
  [[nodiscard]] shard::ShardKey key(std::size_t index, std::string& room) const;

 private:
  bool is_generated_ = false;
  std::vector<std::uint64_t> hashes_;
  std::vector<double> weights_;  // empty: each is 1
  std::unordered_map<std::string, std::size_t> indices_;
  std::vector<std::string_view> texts_;  // into indices_, whose keys stay where they are
};

}  // namespace ringside::simulate
