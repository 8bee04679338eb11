#include "http1/buffer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/kept_memory.h"
#include "base/limits.h"

namespace ringside::http {
namespace {

// Few sizes, so that what one buffer gives back fits the next: otherwise clients, who choose how
// much comes at once, would have a thread keep memory of every size there is.
std::size_t capacity_for(std::size_t bytes) noexcept {
  constexpr std::size_t least = 512;  // most heads fit in it
  return bytes > limits::client_read_size_bytes ? bytes : std::bit_ceil(std::max(bytes, least));
}

}  // namespace

void Buffer::reserve(std::size_t bytes) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (writable_bytes() >= bytes) return;
  const std::size_t used = end_ - begin_;
  if (capacity_ >= used + bytes) {
    std::memmove(memory_, memory_ + begin_, used);
  } else {
    const std::size_t capacity = capacity_for(std::max(used + bytes, capacity_ * 2));
    char* const memory = static_cast<char*>(allocate_kept(capacity));
    if (used != 0) std::memcpy(memory, memory_ + begin_, used);
    if (memory_ != nullptr) free_kept(memory_, capacity_);
    memory_ = memory;
    if (account_ != nullptr) *account_ += capacity - capacity_;
    capacity_ = capacity;
  }
  begin_ = 0;
  end_ = used;
}

void Buffer::append(std::string_view bytes) {
  reserve(bytes.size());
  std::memcpy(writable(), bytes.data(), bytes.size());
  commit(bytes.size());
}

void Buffer::release() noexcept {
  if (memory_ != nullptr) free_kept(memory_, capacity_);
  memory_ = nullptr;
  if (account_ != nullptr) *account_ -= capacity_;
  capacity_ = begin_ = end_ = 0;
}

}  // namespace ringside::http
