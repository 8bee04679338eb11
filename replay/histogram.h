#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ringside::replay {

// Counts durations in buckets whose width grows with the value, as HdrHistogram does: exact below
// 256 µs, within 1/128 above. Above `most_us` (19 h) all
// is one bucket.
class Histogram {
 public:
  static constexpr std::uint64_t most_us = (1ULL << 36) - 1;

  void add(std::uint64_t value_us) noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // The least value (within a bucket's width, never below the true one) that at least `percent` of
  // the values don't exceed; 0 where there are no values. 0 < percent <= 100.
  [[nodiscard]] std::uint64_t percentile_us(double percent) const noexcept;

 private:
  static constexpr unsigned exact_bits = 8;  // values below 2^8 have buckets of their own
  static constexpr unsigned half = 1U << (exact_bits - 1);
  static constexpr std::size_t bucket_count = (1U << exact_bits) + (36 - exact_bits) * half;
  [[nodiscard]] static std::size_t bucket_of(std::uint64_t value_us) noexcept;
  [[nodiscard]] static std::uint64_t top_of(std::size_t bucket) noexcept;

  std::array<std::uint64_t, bucket_count> buckets_{};
  std::uint64_t count_ = 0;
};

}  // namespace ringside::replay
