#pragma once

#include <coroutine>
#include <memory>

#include "base/task.h"
#include "net/core.h"

namespace ringside::net {

// A place where one coroutine of a core waits to be woken by anybody, on any thread. A wake that
// comes before the wait is not lost.
class Waiter final : public Closable, private Deadline {
 public:
  explicit Waiter(Core& core);
  ~Waiter() override;
  [[nodiscard]] Core& core() noexcept { return core_; }

  // True: woken. False: the deadline came first, or the core stops. On the core's thread.
  Task<bool> wait(SteadyPoint deadline);

  // What others hold to wake the waiter; it may outlive it. wake() is thread-safe and never waits.
  class Bell;
  [[nodiscard]] const std::shared_ptr<Bell>& bell() const noexcept { return bell_; }

  void close() noexcept override;

 private:
  void expire() noexcept override;
  void wake_here() noexcept;
  void resume() noexcept;

  Core& core_;
  std::coroutine_handle<> waiting_;  // null: nobody waits at the moment
  std::shared_ptr<Bell> bell_;
  bool woken_ = false;
  bool given_up_ = false;
};

class Waiter::Bell : public std::enable_shared_from_this<Waiter::Bell> {
 public:
  Bell(Core& core, Waiter& waiter) noexcept : core_(core), waiter_(&waiter) {}
  void wake();

 private:
  friend class Waiter;
  Core& core_;
  Waiter* waiter_;  // null once the waiter is gone; only the core's thread looks
};

}  // namespace ringside::net
