#include "cache/body_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/limits.h"

namespace ringside::cache {
namespace {

// Copies the next bytes of several texts.
class Source {
 public:
  explicit Source(std::span<const std::string_view> texts) noexcept : texts_(texts) {
    for (const std::string_view text : texts) left_bytes_ += text.size();
  }
  [[nodiscard]] std::size_t left_bytes() const noexcept { return left_bytes_; }

  void copy(char* to, std::size_t bytes) noexcept {
    left_bytes_ -= bytes;
    while (bytes > 0) {
      const std::string_view rest = texts_.front().substr(taken_bytes_);
      const std::size_t part = std::min(bytes, rest.size());
      if (part > 0) std::memcpy(to, rest.data(), part);
      to += part;
      bytes -= part;
      taken_bytes_ += part;
      if (taken_bytes_ < texts_.front().size()) continue;
      texts_ = texts_.subspan(1);
      taken_bytes_ = 0;
    }
  }

 private:
  std::span<const std::string_view> texts_;
  std::size_t taken_bytes_ = 0;  // of the first
  std::size_t left_bytes_ = 0;
};

std::size_t blocks_for(std::size_t bytes) noexcept {
  return (bytes + Slabs::block_bytes - 1) / Slabs::block_bytes;
}

}  // namespace

BodyMemory::BodyMemory(std::size_t limit_bytes) : limit_bytes_(limit_bytes), slabs_(limit_bytes) {
  Cells::all().add_budget(limit_bytes_);
}

BodyMemory::~BodyMemory() { Cells::all().remove_budget(limit_bytes_); }

std::size_t BodyMemory::cost_bytes(std::size_t size_bytes) noexcept {
  const bool is_small = size_bytes < limits::slab_piece_least_bytes;
  return piece_cost_bytes(is_small ? size_bytes : blocks_for(size_bytes) * Slabs::block_bytes);
}

std::size_t BodyMemory::cost_bytes_most(std::size_t size_bytes) noexcept {
  const std::size_t more = size_bytes / limits::slab_run_least_bytes + 1;
  return cost_bytes(size_bytes) + more * (piece_cost_bytes(0) + Slabs::block_bytes);
}

Slabs::Run BodyMemory::allocate(std::size_t bytes) {
  if (bytes < limits::slab_piece_least_bytes) {
    return {CellAllocator<char>().allocate(bytes)};
  }
  const std::lock_guard lock(mutex_);
  const auto run = slabs_.allocate(blocks_for(std::min(bytes, limits::body_piece_size_bytes)));
  if (run.blocks == 0) throw std::bad_alloc();
  excess_bytes_.store(slabs_.excess_bytes());
  return run;
}

std::vector<PiecePointer> BodyMemory::make(std::span<const std::string_view> texts,
                                           std::size_t paid_bytes) {
  std::vector<PiecePointer> pieces;
  std::size_t cost = 0;
  for (Source source(texts); source.left_bytes() > 0;) {
    const Slabs::Run run = allocate(source.left_bytes());
    Slabs::populate(run);
    const std::size_t room = run.blocks == 0 ? source.left_bytes() : run.size_bytes();
    const std::size_t size_bytes = std::min(source.left_bytes(), room);
    source.copy(run.bytes, size_bytes);
    struct Made : Piece {
      Made(std::shared_ptr<BodyMemory> memory, const Slabs::Run& its_run, std::size_t bytes)
          : Piece(std::move(memory), its_run, bytes) {}
    };
    pieces.push_back(std::allocate_shared<const Made>(CellAllocator<const Made>(),
                                                      shared_from_this(), run, size_bytes));
    pieces_bytes_.fetch_add(pieces.back()->cost_bytes());
    cost += pieces.back()->cost_bytes();
  }
  used_bytes_.fetch_add(cost - paid_bytes);
  return pieces;
}

void BodyMemory::take_back(const Slabs::Run& run, std::size_t cost_bytes) noexcept {
  if (run.blocks > 0) {
    const std::lock_guard lock(mutex_);
    slabs_.free(run);
    excess_bytes_.store(slabs_.excess_bytes());
  }
  pieces_bytes_.fetch_sub(cost_bytes);
  used_bytes_.fetch_sub(cost_bytes);
}

bool BodyMemory::try_reserve(std::size_t bytes) noexcept {
  const std::size_t excess = excess_bytes_.load() + Cells::all().excess_bytes_of(limit_bytes_);
  std::size_t used = used_bytes_.load();
  do {
    if (used + excess + bytes > limit_bytes_) return false;
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes));
  return true;
}

// Each is counted by itself: for a moment they may not fit together.
std::size_t BodyMemory::pinned_bytes() const noexcept {
  const std::size_t all = pieces_bytes_.load();
  const std::size_t kept = stored_bytes_.load() + filling_bytes_.load();
  return all > kept ? all - kept : 0;
}

}  // namespace ringside::cache
