#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringside::sidecar {

// About how often each key has been asked for of late, in a fixed and small memory: a count-min
// sketch whose counts are halved now and then, so that what was hot long ago is forgotten (TinyLFU:
// Einziger, Friedman, Manes, ACM ToS 13(4), 2017). Keys that share their counts seem more frequent
// than they are, never less. Not thread-safe.
class FrequencySketch {
 public:
  static constexpr unsigned most = 15;  // higher frequencies are told as this

  // For about so many keys that are worth telling apart; 1 to 65,536.
  explicit FrequencySketch(std::size_t keys);

  // The key with this hash was asked for once more.
  void add(std::uint64_t hash) noexcept;
  // 0 to `most`.
  [[nodiscard]] unsigned frequency(std::uint64_t hash) const noexcept;

 private:
  void halve() noexcept;
  [[nodiscard]] std::size_t place(std::uint64_t hash, unsigned row) const noexcept;

  std::size_t width_;  // of a row; a power of two
  std::vector<std::uint8_t> counts_;
  std::size_t added_ = 0;  // since they were halved
};

}  // namespace ringside::sidecar
