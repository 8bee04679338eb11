#include "http1/buffer.h"

#include <algorithm>
#include <cstring>

namespace ringside::http {

void Buffer::reserve(std::size_t bytes) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (writable_bytes() >= bytes) return;
  const std::size_t used = end_ - begin_;
  if (capacity_ >= used + bytes) {
    std::memmove(memory_.get(), memory_.get() + begin_, used);
  } else {
    const std::size_t capacity = std::max(used + bytes, capacity_ * 2);
    auto memory = std::make_unique_for_overwrite<char[]>(capacity);
    if (used != 0) std::memcpy(memory.get(), memory_.get() + begin_, used);
    memory_ = std::move(memory);
    if (account_ != nullptr) *account_ += capacity - capacity_;
    capacity_ = capacity;
  }
  begin_ = 0;
  end_ = used;
}

void Buffer::release() noexcept {
  memory_.reset();
  if (account_ != nullptr) *account_ -= capacity_;
  capacity_ = begin_ = end_ = 0;
}

}  // namespace ringside::http
