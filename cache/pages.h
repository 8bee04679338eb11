#pragma once

#include <unistd.h>

#include <cstddef>

namespace ringside::cache {

// In which slabs and cells take memory from the kernel and give it back.
inline constexpr std::size_t page_bytes = 4096;

// Where the kernel's own pages are larger, none can be given back alone: its neighbours would lose
// what they hold.
[[nodiscard]] inline bool can_release_pages() noexcept {
  static const bool can = ::sysconf(_SC_PAGESIZE) == static_cast<long>(page_bytes);
  return can;
}

}  // namespace ringside::cache
