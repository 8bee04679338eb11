#include "http/waiter.h"

#include <boost/asio/post.hpp>

namespace ringside::http {

Waiter::Waiter(Core& core)
    : Deadline(core.deadlines()),
      core_(core),
      timer_(core.executor(), Timer::time_point::max()),
      bell_(std::make_shared<Bell>(core, *this)),
      given_up_(core.stopped()) {
  core_.add(*this);
}

Waiter::~Waiter() { bell_->waiter_ = nullptr; }

Task<bool> Waiter::wait(SteadyPoint deadline) {
  if (core_.stopped()) co_return false;
  given_up_ = false;
  Deadline::set(deadline);
  while (!woken_ && !given_up_) co_await timer_.async_wait(use_task);
  Deadline::clear();
  const bool woken = woken_;
  woken_ = false;
  co_return woken;
}

void Waiter::wake_here() noexcept {
  woken_ = true;
  timer_.cancel();
}

void Waiter::expire() noexcept { close(); }

void Waiter::close() noexcept {
  given_up_ = true;
  timer_.cancel();
}

// The post keeps the bell, not the waiter: the waiter may end before the core comes to it.
void Waiter::Bell::wake() {
  asio::post(core_.context(), [self = shared_from_this()] {
    if (self->waiter_ != nullptr) self->waiter_->wake_here();
  });
}

}  // namespace ringside::http
