#pragma once

#include <array>
#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "cache/pages.h"

namespace ringside::cache {

// Memory for the small things that the store keeps: rows, keys, heads, pieces' bookkeeping. Cells
// of a few sizes on pages of one size each: it is known what they hold, which of an allocator
// nobody can tell, and a page that is empty goes back to the kernel. One for the process.
// Thread-safe.
class Cells {
 public:
  static Cells& all();

  // What is larger than a cell is the allocator's.
  [[nodiscard]] void* allocate(std::size_t bytes);
  void free(void* cell, std::size_t bytes) noexcept;  // as many as were asked for

  // What the kernel holds for it.
  [[nodiscard]] std::size_t held_bytes() const;
  // What is held beyond what cells take, a slack, and a sixteenth: pages that are not full.
  [[nodiscard]] std::size_t excess_bytes() const noexcept { return excess_bytes_.load(); }

  // Who counts the excess as its own does so by its share of all budgets.
  void add_budget(std::size_t bytes) noexcept { budgets_bytes_.fetch_add(bytes); }
  void remove_budget(std::size_t bytes) noexcept { budgets_bytes_.fetch_sub(bytes); }
  [[nodiscard]] std::size_t excess_bytes_of(std::size_t budget_bytes) const noexcept;

 private:
  static constexpr std::size_t slack_pages = 256;
  static constexpr std::size_t step_bytes = 16;

  struct Free {
    Free* next;
  };
  // At a page's beginning.
  struct alignas(64) Page : boost::intrusive::list_base_hook<
                                boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    std::uint32_t used = 0;
    std::uint32_t never_used = 0;  // of its cells, the first that was not given out yet
    Free* free = nullptr;
  };
  using Pages = boost::intrusive::list<Page, boost::intrusive::constant_time_size<false>>;
  static constexpr std::size_t cell_bytes_most = (page_bytes - sizeof(Page)) / 2;
  static constexpr std::size_t sizes = cell_bytes_most / step_bytes;

  Cells() = default;
  [[nodiscard]] static std::size_t size_of(std::size_t index) noexcept;
  [[nodiscard]] Page& page_for(std::size_t index);
  [[nodiscard]] void* take_page();
  void put_page_back(void* page) noexcept;
  void count() noexcept;

  mutable std::mutex mutex_;                // of all below but the atomics
  std::array<Pages, sizes + 1> with_room_;  // by the size of their cells
  std::vector<void*> empty_pages_;          // the kernel holds them
  std::vector<void*> released_pages_;       // and not these
  std::size_t held_pages_ = 0;
  std::size_t used_bytes_ = 0;
  std::atomic<std::size_t> excess_bytes_{0};
  std::atomic<std::size_t> budgets_bytes_{0};
};

template <class T>
struct CellAllocator {
  using value_type = T;
  CellAllocator() noexcept = default;
  template <class Other>
  CellAllocator(const CellAllocator<Other>&) noexcept {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] T* allocate(std::size_t count) {
    // T may be a pointer, as in a vector of them.
    return static_cast<T*>(
        Cells::all().allocate(count * sizeof(T)));  // NOLINT(bugprone-sizeof-expression)
  }
  void deallocate(T* cell, std::size_t count) noexcept {
    Cells::all().free(cell, count * sizeof(T));  // NOLINT(bugprone-sizeof-expression)
  }
  friend bool operator==(const CellAllocator&, const CellAllocator&) noexcept { return true; }
};

using CellString = std::basic_string<char, std::char_traits<char>, CellAllocator<char>>;
template <class T>
using CellVector = std::vector<T, CellAllocator<T>>;

}  // namespace ringside::cache
