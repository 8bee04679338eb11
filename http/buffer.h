#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace ringside::http {

// Bytes that were received and not yet consumed, in one piece of memory. Grows, never shrinks;
// empty ones own nothing, so that an idle connection costs no buffer.
class Buffer {
 public:
  [[nodiscard]] std::string_view readable() const noexcept {
    return {memory_.get() + begin_, end_ - begin_};
  }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  void consume(std::size_t bytes) noexcept { begin_ += bytes; }

  // Makes room for at least `bytes` after the readable part. Moves memory: views become invalid.
  void reserve(std::size_t bytes);
  [[nodiscard]] char* writable() noexcept { return memory_.get() + end_; }
  [[nodiscard]] std::size_t writable_bytes() const noexcept { return capacity_ - end_; }
  void commit(std::size_t bytes) noexcept { end_ += bytes; }

  void release() noexcept;

 private:
  std::unique_ptr<char[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace ringside::http
