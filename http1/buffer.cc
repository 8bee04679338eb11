#include "http1/buffer.h"

#include <algorithm>
#include <cstring>

#include "base/kept_memory.h"

namespace ringside::http {
namespace {

// Most heads fit in it: few sizes are kept, and each is used again.
constexpr std::size_t least_bytes = 512;

}  // namespace

void Buffer::reserve(std::size_t bytes) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (writable_bytes() >= bytes) return;
  const std::size_t used = end_ - begin_;
  if (capacity_ >= used + bytes) {
    std::memmove(memory_, memory_ + begin_, used);
  } else {
    const std::size_t capacity = std::max({used + bytes, capacity_ * 2, least_bytes});
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

void Buffer::release() noexcept {
  if (memory_ != nullptr) free_kept(memory_, capacity_);
  memory_ = nullptr;
  if (account_ != nullptr) *account_ -= capacity_;
  capacity_ = begin_ = end_ = 0;
}

}  // namespace ringside::http
