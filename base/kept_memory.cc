#include "base/kept_memory.h"

#include <array>
#include <new>

#include "base/limits.h"

namespace ringside {
namespace {

constexpr std::size_t step_bytes = 64;

struct Free {
  Free* next;
};

class Shelves {
 public:
  Shelves() = default;
  ~Shelves() {
    for (Shelf& shelf : shelves_) {
      while (shelf.first != nullptr) {
        Free* const block = shelf.first;
        shelf.first = block->next;
        ::operator delete(block);
      }
      shelf.kept_bytes = limits::kept_bytes;  // what is freed from here on is not kept
    }
  }
  Shelves(const Shelves&) = delete;
  Shelves& operator=(const Shelves&) = delete;

  void* take(std::size_t place) {
    Shelf& shelf = shelves_[place];
    if (shelf.first == nullptr) return ::operator new(size_at(place));
    Free* const block = shelf.first;
    shelf.first = block->next;
    shelf.kept_bytes -= size_at(place);
    return block;
  }
  void give_back(void* memory, std::size_t place) noexcept {
    Shelf& shelf = shelves_[place];
    if (shelf.kept_bytes + size_at(place) > limits::kept_bytes) return ::operator delete(memory);
    shelf.first = new (memory) Free{shelf.first};
    shelf.kept_bytes += size_at(place);
  }

 private:
  [[nodiscard]] static constexpr std::size_t size_at(std::size_t place) noexcept {
    return (place + 1) * step_bytes;
  }
  struct Shelf {
    Free* first = nullptr;
    std::size_t kept_bytes = 0;
  };
  std::array<Shelf, limits::kept_block_size_bytes / step_bytes> shelves_{};
};

thread_local Shelves shelves;

bool is_kept(std::size_t size_bytes) noexcept {
  return keeps_memory && size_bytes <= limits::kept_block_size_bytes;
}

std::size_t place_of(std::size_t size_bytes) noexcept { return (size_bytes - 1) / step_bytes; }

}  // namespace

void* allocate_kept(std::size_t size_bytes) {
  return is_kept(size_bytes) ? shelves.take(place_of(size_bytes)) : ::operator new(size_bytes);
}

void free_kept(void* block, std::size_t size_bytes) noexcept {
  if (is_kept(size_bytes)) return shelves.give_back(block, place_of(size_bytes));
  ::operator delete(block);
}

}  // namespace ringside
