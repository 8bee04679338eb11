#include "sidecar/frequency_sketch.h"

#include <algorithm>
#include <bit>

namespace ringside::sidecar {
namespace {

constexpr unsigned rows = 4;
constexpr unsigned row_bits = 16;  // of a hash, so that the four rows take different ones
// After so many requests for each key the counts are halved.
constexpr std::size_t sample_per_key = 10;

}  // namespace

FrequencySketch::FrequencySketch(std::size_t keys)
    : width_(std::bit_ceil(std::clamp<std::size_t>(keys, 1, std::size_t{1} << row_bits))),
      counts_(rows * width_) {}

std::size_t FrequencySketch::place(std::uint64_t hash, unsigned row) const noexcept {
  return row * width_ + ((hash >> (row * row_bits)) & (width_ - 1));
}

void FrequencySketch::add(std::uint64_t hash) noexcept {
  for (unsigned row = 0; row < rows; ++row) {
    std::uint8_t& count = counts_[place(hash, row)];
    if (count < most) ++count;
  }
  if (++added_ >= sample_per_key * width_) halve();
}

unsigned FrequencySketch::frequency(std::uint64_t hash) const noexcept {
  unsigned least = most;
  for (unsigned row = 0; row < rows; ++row) {
    least = std::min<unsigned>(least, counts_[place(hash, row)]);
  }
  return least;
}

void FrequencySketch::halve() noexcept {
  for (std::uint8_t& count : counts_) count = static_cast<std::uint8_t>(count / 2);
  added_ /= 2;
}

}  // namespace ringside::sidecar
