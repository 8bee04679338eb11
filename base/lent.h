#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/kept_memory.h"
#include "base/limits.h"

namespace ringside {

// A value that keeps its room (strings, vectors) from one use to the next: taken from its thread
// when it is first looked at, given back when it is not looked at for long, so that who only waits
// holds none. What it was is left in it. `Value::room_bytes()` tells how large it has become: more
// than limits::kept_block_size_bytes are not kept, nor more than limits::kept_values of them.
template <class Value>
class Lent {
 public:
  Lent() = default;
  ~Lent() { give_back(); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  [[nodiscard]] Value& operator*() {
    if (value_ == nullptr) value_ = take();
    return *value_;
  }
  [[nodiscard]] Value* operator->() { return &**this; }

  void give_back() noexcept {
    if (value_ == nullptr) return;
    const bool kept = keeps_memory && !has_ended &&
                      value_->room_bytes() <= limits::kept_block_size_bytes &&
                      shelf.values.size() < limits::kept_values;
    if (kept) {
      shelf.values.push_back(std::move(value_));
    } else {
      value_.reset();
    }
  }

 private:
  struct Shelf {
    Shelf() { values.reserve(limits::kept_values); }
    ~Shelf() { has_ended = true; }
    Shelf(const Shelf&) = delete;
    Shelf& operator=(const Shelf&) = delete;
    std::vector<std::unique_ptr<Value>> values;
  };
  static inline thread_local bool has_ended = false;  // the thread does
  static inline thread_local Shelf shelf;

  [[nodiscard]] static std::unique_ptr<Value> take() {
    if (has_ended || shelf.values.empty()) return std::make_unique<Value>();
    auto value = std::move(shelf.values.back());
    shelf.values.pop_back();
    return value;
  }

  std::unique_ptr<Value> value_;
};

}  // namespace ringside
