#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace ringside::cache {

// Some consecutive bytes of a body. Immutable once shared; readers hold references past eviction.
class Piece {
 public:
  explicit Piece(std::string_view bytes);
  // Joins several into one.
  explicit Piece(const std::vector<std::shared_ptr<const Piece>>& pieces);
  [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.get(), size_bytes_}; }

 private:
  std::size_t size_bytes_;
  std::unique_ptr<char[]> bytes_;
};
using PiecePointer = std::shared_ptr<const Piece>;

// A whole body.
struct Body {
  std::vector<PiecePointer> pieces;
  std::uint64_t size_bytes = 0;
};

// What a piece of that size costs in memory, with its bookkeeping.
[[nodiscard]] constexpr std::size_t piece_cost_bytes(std::size_t size_bytes) noexcept {
  return size_bytes + 112;  // shared count, object, vector slot, two allocations' headers
}

}  // namespace ringside::cache
