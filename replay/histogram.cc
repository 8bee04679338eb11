#include "replay/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ringside::replay {

// Above 2^8 each power of two is cut into 128 buckets: the highest eight bits choose.
std::size_t Histogram::bucket_of(std::uint64_t value_us) noexcept {
  const std::uint64_t value = std::min(value_us, most_us);
  if (value < (1U << exact_bits)) return static_cast<std::size_t>(value);
  const auto shift = static_cast<unsigned>(std::bit_width(value)) - exact_bits;
  return static_cast<std::size_t>((value >> shift) + std::uint64_t{shift} * half);
}

std::uint64_t Histogram::top_of(std::size_t bucket) noexcept {
  if (bucket < (1U << exact_bits)) return bucket;
  const std::uint64_t shift = bucket / half - 1;
  const std::uint64_t highest_bits = bucket - shift * half;
  return ((highest_bits + 1) << shift) - 1;
}

void Histogram::add(std::uint64_t value_us) noexcept {
  ++buckets_[bucket_of(value_us)];
  ++count_;
}

std::uint64_t Histogram::percentile_us(double percent) const noexcept {
  const double wanted = std::ceil(static_cast<double>(count_) * percent / 100);
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen > 0 && static_cast<double>(seen) >= wanted) return top_of(bucket);
  }
  return 0;
}

}  // namespace ringside::replay
