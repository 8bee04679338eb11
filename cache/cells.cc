#include "cache/cells.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "base/limits.h"

namespace ringside::cache {
namespace {

// Sanitizers look at what the allocator gives.
constexpr bool is_sanitized() noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#endif
#endif
  return false;
}

}  // namespace

// Never destroyed: what ends after it may have cells.
Cells& Cells::all() {
  static Cells& cells = *new Cells;
  return cells;
}

// Steps that make no difference to how many fit on a page are one size.
std::size_t Cells::size_of(std::size_t index) noexcept {
  const std::size_t room = page_bytes - sizeof(Page);
  const std::size_t count = room / (index * step_bytes);
  return room / count / step_bytes * step_bytes;
}

void* Cells::allocate(std::size_t bytes) {
  if (is_sanitized() || bytes > cell_bytes_most) return ::operator new(bytes);
  const std::size_t wanted = std::max<std::size_t>((bytes + step_bytes - 1) / step_bytes, 1);
  const std::size_t index = size_of(wanted) / step_bytes;
  const std::lock_guard lock(mutex_);
  Page& page = page_for(index);
  void* cell = page.free;
  if (cell != nullptr) {
    page.free = page.free->next;
  } else {
    cell = reinterpret_cast<char*>(&page) + sizeof(Page) + page.never_used++ * index * step_bytes;
  }
  ++page.used;
  const std::size_t count_most = (page_bytes - sizeof(Page)) / (index * step_bytes);
  if (page.used == count_most) page.unlink();
  used_bytes_ += index * step_bytes;
  return cell;
}

void Cells::free(void* cell, std::size_t bytes) noexcept {
  if (is_sanitized() || bytes > cell_bytes_most) return ::operator delete(cell);
  const std::size_t wanted = std::max<std::size_t>((bytes + step_bytes - 1) / step_bytes, 1);
  const std::size_t index = size_of(wanted) / step_bytes;
  const std::size_t place = reinterpret_cast<std::uintptr_t>(cell) % page_bytes;
  auto* const page = reinterpret_cast<Page*>(static_cast<char*>(cell) - place);
  const std::lock_guard lock(mutex_);
  page->free = ::new (cell) Free{page->free};
  used_bytes_ -= index * step_bytes;
  if (--page->used == 0) {
    page->~Page();  // leaves its list
    put_page_back(page);
  } else if (!page->is_linked()) {
    with_room_[index].push_front(*page);
  }
  count();
}

Cells::Page& Cells::page_for(std::size_t index) {
  Pages& pages = with_room_[index];
  if (pages.empty()) {
    pages.push_front(*::new (take_page()) Page);
    count();
  }
  return pages.front();
}

void* Cells::take_page() {
  if (empty_pages_.empty() && released_pages_.empty()) {
    const std::size_t pages = limits::slab_size_bytes / page_bytes;
    released_pages_.reserve(released_pages_.size() + pages);
    void* const fresh = ::mmap(nullptr, limits::slab_size_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) throw std::bad_alloc();
    ::madvise(fresh, limits::slab_size_bytes, MADV_NOHUGEPAGE);
    for (std::size_t page = pages; page-- > 0;) {
      released_pages_.push_back(static_cast<char*>(fresh) + page * page_bytes);
    }
  }
  auto& from = empty_pages_.empty() ? released_pages_ : empty_pages_;
  void* const page = from.back();
  from.pop_back();
  if (&from == &released_pages_) ++held_pages_;
  return page;
}

void Cells::put_page_back(void* page) noexcept {
  if (empty_pages_.size() < slack_pages || !can_release_pages()) {
    empty_pages_.push_back(page);
    return;
  }
  ::madvise(page, page_bytes, MADV_DONTNEED);
  released_pages_.push_back(page);
  --held_pages_;
}

void Cells::count() noexcept {
  const std::size_t expected = used_bytes_ + used_bytes_ / 16 + slack_pages * page_bytes;
  const std::size_t held = held_pages_ * page_bytes;
  excess_bytes_.store(held > expected ? held - expected : 0, std::memory_order_relaxed);
}

std::size_t Cells::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return held_pages_ * page_bytes;
}

std::size_t Cells::excess_bytes_of(std::size_t budget_bytes) const noexcept {
  const std::size_t excess = excess_bytes();
  const std::size_t budgets = std::max(budgets_bytes_.load(), budget_bytes);
  if (excess == 0) return 0;
  return static_cast<std::size_t>(static_cast<double>(excess) * static_cast<double>(budget_bytes) /
                                  static_cast<double>(budgets));
}

}  // namespace ringside::cache
