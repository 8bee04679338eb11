#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>

#include "base/check.h"

namespace ringside {

// Waits for tasks that were begun and go on by themselves. Each counts from begin() to end(); who
// awaits the join goes on when all have ended. One waits at a time, all on one thread. The join may
// be gone when end() returns: it is the last thing that a task does.
class Join {
 public:
  void begin() noexcept { ++left_; }
  void end() {
    RINGSIDE_CHECK(left_ > 0);
    if (--left_ == 0 && waiting_) std::exchange(waiting_, nullptr).resume();
  }

  [[nodiscard]] bool await_ready() const noexcept { return left_ == 0; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  void await_resume() const noexcept {}

 private:
  std::size_t left_ = 0;
  std::coroutine_handle<> waiting_;
};

}  // namespace ringside
