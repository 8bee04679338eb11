#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ringside::metrics {

// What two cores write must not lie on one line. A constant of ours rather than
// std::hardware_destructive_interference_size, which may differ between compilers of one program.
inline constexpr std::size_t cache_line_size_bytes = 64;

// A number that one thread writes and any thread may read. One writer needs no atomic addition: a
// relaxed load and a relaxed store are plain instructions, where fetch_add would lock the line.
class Counter {
 public:
  void add(std::uint64_t amount) noexcept { store(value() + amount); }
  void subtract(std::uint64_t amount) noexcept { store(value() - amount); }
  [[nodiscard]] std::uint64_t value() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  void store(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace ringside::metrics
