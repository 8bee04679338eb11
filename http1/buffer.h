#pragma once

#include <cstddef>
#include <string_view>

namespace ringside::http {

// Bytes that were received and not yet consumed, in one piece of memory. Grows, never shrinks, but
// can be let go of; an idle connection's owns nothing. The memory is kept by the thread for the
// next buffer.
class Buffer {
 public:
  // `account`, where there is one, counts the bytes of memory that are held; it belongs to the
  // thread that uses the buffer and outlives it.
  explicit Buffer(std::size_t* account = nullptr) noexcept : account_(account) {}
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::string_view readable() const noexcept {
    return {memory_ + begin_, end_ - begin_};
  }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  void consume(std::size_t bytes) noexcept { begin_ += bytes; }

  // Makes room for at least `bytes` after the readable part. Moves memory: views become invalid.
  void reserve(std::size_t bytes);
  [[nodiscard]] char* writable() noexcept { return memory_ + end_; }
  [[nodiscard]] std::size_t writable_bytes() const noexcept { return capacity_ - end_; }
  void commit(std::size_t bytes) noexcept { end_ += bytes; }
  // What was received elsewhere.
  void append(std::string_view bytes);

  void release() noexcept;

 private:
  char* memory_ = nullptr;  // kept memory
  std::size_t* const account_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace ringside::http
