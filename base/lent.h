#pragma once

#include <array>
#include <cstddef>
#include <utility>

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
    Value* const value = std::exchange(value_, nullptr);
    const bool is_kept = keeps_memory && !shelf.has_ended && shelf.count < shelf.values.size() &&
                         value->room_bytes() <= limits::kept_block_size_bytes;
    if (!is_kept) {
      delete value;
      return;
    }
    if (!shelf.is_watched) watch();
    shelf.values[shelf.count++] = value;
  }

 private:
  // Without a constructor, which each look at it would have to ask for.
  struct Shelf {
    std::array<Value*, limits::kept_values> values;
    std::size_t count;
    bool is_watched;
    bool has_ended;  // the thread does
  };
  struct Watch {
    Watch() { shelf.is_watched = true; }
    ~Watch() {
      while (shelf.count > 0) delete shelf.values[--shelf.count];
      shelf.has_ended = true;
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
  };
  static inline constinit thread_local Shelf shelf{};
  static void watch() { static thread_local const Watch watch; }

  [[nodiscard]] static Value* take() {
    return shelf.count > 0 ? shelf.values[--shelf.count] : new Value;
  }

  Value* value_ = nullptr;
};

}  // namespace ringside
