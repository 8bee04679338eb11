#include "net/waiter.h"

#include <utility>

namespace ringside::net {

Waiter::Waiter(Core& core)
    : Deadline(core.deadlines()),
      core_(core),
      bell_(std::make_shared<Bell>(core, *this)),
      given_up_(core.stopped()) {
  core_.add(*this);
}

Waiter::~Waiter() { bell_->waiter_ = nullptr; }

Task<bool> Waiter::wait(SteadyPoint deadline) {
  struct Suspended {
    std::coroutine_handle<>& place;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) const noexcept { place = waiting; }
    void await_resume() const noexcept {}
  };
  if (core_.stopped()) co_return false;
  given_up_ = false;
  Deadline::set(deadline);
  while (!woken_ && !given_up_) co_await Suspended{waiting_};
  Deadline::clear();
  const bool woken = woken_;
  woken_ = false;
  co_return woken;
}

void Waiter::resume() noexcept {
  if (waiting_) std::exchange(waiting_, nullptr).resume();
}

void Waiter::wake_here() noexcept {
  woken_ = true;
  resume();
}

void Waiter::expire() noexcept { close(); }

// Later: we are called from the wheel, or from the round of all that is to be closed, which what
// goes on from here would change.
void Waiter::close() noexcept {
  given_up_ = true;
  core_.post([bell = bell_] {
    if (bell->waiter_ != nullptr) bell->waiter_->resume();
  });
}

// The post keeps the bell, not the waiter: the waiter may end before the core comes to it.
void Waiter::Bell::wake() {
  core_.post([self = shared_from_this()] {
    if (self->waiter_ != nullptr) self->waiter_->wake_here();
  });
}

}  // namespace ringside::net
