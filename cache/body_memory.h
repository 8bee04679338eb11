#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "cache/body.h"
#include "cache/slabs.h"

namespace ringside::cache {

// The memory of bodies, and what of a budget is used: each piece counts until the last who holds it
// lets go, be it the store, a flight or a slow client. Thread-safe. Its pieces keep it.
class BodyMemory : public std::enable_shared_from_this<BodyMemory> {
 public:
  explicit BodyMemory(std::size_t limit_bytes);
  ~BodyMemory();
  BodyMemory(const BodyMemory&) = delete;
  BodyMemory& operator=(const BodyMemory&) = delete;

  // Bytes that are `texts`, one after the other, in pieces; most often in one. `paid_bytes` of what
  // they cost are reserved already.
  [[nodiscard]] std::vector<PiecePointer> make(std::span<const std::string_view> texts,
                                               std::size_t paid_bytes);
  // What it costs, most often; and at most, where it has to lie in several places.
  [[nodiscard]] static std::size_t cost_bytes(std::size_t size_bytes) noexcept;
  [[nodiscard]] static std::size_t cost_bytes_most(std::size_t size_bytes) noexcept;

  // False: there is no room.
  [[nodiscard]] bool try_reserve(std::size_t bytes) noexcept;
  void add(std::size_t bytes) noexcept { used_bytes_.fetch_add(bytes); }
  void give_back(std::size_t bytes) noexcept { used_bytes_.fetch_sub(bytes); }
  [[nodiscard]] std::size_t used_bytes() const noexcept { return used_bytes_.load(); }
  [[nodiscard]] std::size_t limit_bytes() const noexcept { return limit_bytes_; }

  // What flights hold that are to be stored.
  void count_filling(std::size_t bytes) noexcept { filling_bytes_.fetch_add(bytes); }
  void count_filled(std::size_t bytes) noexcept { filling_bytes_.fetch_sub(bytes); }
  // Of pieces that are not stored and will not be: others hold them.
  [[nodiscard]] std::size_t pinned_bytes() const noexcept;

 private:
  friend class Piece;
  void take_back(const Slabs::Run& run, std::size_t cost_bytes) noexcept;
  void count_stored(std::size_t bytes) noexcept { stored_bytes_.fetch_add(bytes); }
  void count_unstored(std::size_t bytes) noexcept { stored_bytes_.fetch_sub(bytes); }
  [[nodiscard]] Slabs::Run allocate(std::size_t bytes);

  const std::size_t limit_bytes_;
  std::atomic<std::size_t> used_bytes_{0};
  std::atomic<std::size_t> pieces_bytes_{0};   // of these, pieces'
  std::atomic<std::size_t> stored_bytes_{0};   // of these, stored ones'
  std::atomic<std::size_t> filling_bytes_{0};  // of these, likewise
  std::atomic<std::size_t> excess_bytes_{0};   // of the slabs
  std::mutex mutex_;                           // of all below
  Slabs slabs_;
};

}  // namespace ringside::cache
