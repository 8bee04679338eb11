#include "cache/body.h"

#include <cstring>

#include "cache/body_memory.h"

namespace ringside::cache {

Piece::Piece(std::string_view bytes)
    : run_{CellAllocator<char>().allocate(bytes.size())}, size_bytes_(bytes.size()) {
  if (!bytes.empty()) std::memcpy(run_.bytes, bytes.data(), bytes.size());
}

Piece::Piece(std::shared_ptr<BodyMemory> memory, const Slabs::Run& run, std::size_t size_bytes)
    : memory_(std::move(memory)), run_(run), size_bytes_(size_bytes) {}

Piece::~Piece() {
  if (run_.blocks == 0) CellAllocator<char>().deallocate(run_.bytes, size_bytes_);
  if (memory_) memory_->take_back(run_, cost_bytes());
}

std::size_t Piece::cost_bytes() const noexcept {
  return piece_cost_bytes(run_.blocks == 0 ? size_bytes_ : run_.size_bytes());
}

void Piece::enter_store() const noexcept {
  if (places_.fetch_add(1) == 0 && memory_) memory_->count_stored(cost_bytes());
}

void Piece::leave_store() const noexcept {
  if (places_.fetch_sub(1) == 1 && memory_) memory_->count_unstored(cost_bytes());
}

std::size_t pinned_bytes(std::span<const PiecePointer> pieces) noexcept {
  std::size_t bytes = 0;
  for (const PiecePointer& piece : pieces) {
    if (piece && piece->is_counted() && !piece->is_stored()) bytes += piece->cost_bytes();
  }
  return bytes;
}

}  // namespace ringside::cache
