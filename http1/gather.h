#pragma once

#include <array>
#include <span>
#include <string_view>

namespace ringside::http {

// What is written in one go: at most a head, a chunk's line, its data, its end and the last chunk.
// Views; whoever fills it keeps the bytes.
class Gather {
 public:
  void add(std::string_view bytes) noexcept {
    if (!bytes.empty()) buffers_[end_++] = bytes;
  }
  [[nodiscard]] std::span<const std::string_view> left() const noexcept {
    return {buffers_.data() + begin_, end_ - begin_};
  }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  void consume(std::size_t bytes) noexcept {
    while (begin_ < end_ && bytes >= buffers_[begin_].size()) bytes -= buffers_[begin_++].size();
    if (begin_ < end_) buffers_[begin_].remove_prefix(bytes);
  }

 private:
  std::array<std::string_view, 5> buffers_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace ringside::http
