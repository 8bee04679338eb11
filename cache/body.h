#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "cache/cells.h"
#include "cache/slabs.h"

namespace ringside::cache {

class BodyMemory;

// Some consecutive bytes of a body. Immutable once shared; readers hold references past eviction.
class Piece {
 public:
  explicit Piece(std::string_view bytes);  // in cells, counted by nobody
  ~Piece();
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  [[nodiscard]] std::string_view bytes() const noexcept { return {run_.bytes, size_bytes_}; }
  // What it costs in memory, with its bookkeeping, until the last who holds it lets go.
  [[nodiscard]] std::size_t cost_bytes() const noexcept;
  // A BodyMemory counts it.
  [[nodiscard]] bool is_counted() const noexcept { return memory_ != nullptr; }

  // It has come into the store, and has left it: once more each time.
  void enter_store() const noexcept;
  void leave_store() const noexcept;
  [[nodiscard]] bool is_stored() const noexcept { return places_.load() > 0; }

 private:
  friend class BodyMemory;
  Piece(std::shared_ptr<BodyMemory> memory, const Slabs::Run& run, std::size_t size_bytes);

  const std::shared_ptr<BodyMemory> memory_;
  const Slabs::Run run_;  // without blocks: in cells
  const std::size_t size_bytes_;
  mutable std::atomic<std::uint32_t> places_{0};  // in the store
};
using PiecePointer = std::shared_ptr<const Piece>;

// A whole body.
struct Body {
  CellVector<PiecePointer> pieces;
  std::uint64_t size_bytes = 0;
};

// To be stored.
[[nodiscard]] inline std::shared_ptr<Body> make_body() {
  return std::allocate_shared<Body>(CellAllocator<Body>());
}

// What of it somebody keeps from being freed who holds it: it is not stored any more.
[[nodiscard]] std::size_t pinned_bytes(std::span<const PiecePointer> pieces) noexcept;

// What a piece of that size costs in memory, with its bookkeeping.
[[nodiscard]] constexpr std::size_t piece_cost_bytes(std::size_t size_bytes) noexcept {
  return size_bytes + 112;  // shared count, object, vector slot, two allocations' headers
}

}  // namespace ringside::cache
