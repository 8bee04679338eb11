#include "net/circuit_breaker.h"

#include <algorithm>

#include "base/check.h"

namespace ringside::net {

using State = CircuitBreaker::State;

State CircuitBreaker::state(SteadyPoint now) const noexcept {
  if (!open_) return State::closed;
  return now < open_until_ ? State::open : State::half_open;
}

bool CircuitBreaker::would_grant(SteadyPoint now) const noexcept {
  const State current = state(now);
  return current == State::closed || (current == State::half_open && !probing_);
}

CircuitBreaker::Permit CircuitBreaker::ask(SteadyPoint now) noexcept {
  Permit permit;
  permit.granted = would_grant(now);
  permit.probe = permit.granted && open_;
  permit.period = period_;
  if (permit.probe) probing_ = true;
  return permit;
}

bool CircuitBreaker::settle(const Permit& permit, Outcome outcome, SteadyPoint now) noexcept {
  RINGSIDE_CHECK(permit.granted);
  if (permit.period != period_) return false;
  if (open_) {
    RINGSIDE_CHECK(permit.probe && probing_);
    probing_ = false;
    if (outcome == Outcome::failed) {
      open(now);
      return true;
    }
    if (outcome == Outcome::answered) {
      open_ = false;
      failures_ = 0;
      open_for_ = Milliseconds{0};
      ++period_;
    }
    return false;
  }
  if (outcome == Outcome::answered) failures_ = 0;
  if (outcome != Outcome::failed || ++failures_ < limits::breaker_failures) return false;
  open(now);
  return true;
}

void CircuitBreaker::open(SteadyPoint now) noexcept {
  open_ = true;
  ++period_;
  open_for_ = open_for_ == Milliseconds{0} ? limits::breaker_open_start
                                           : std::min(open_for_ * 2, limits::breaker_open_most);
  open_until_ = now + open_for_;
}

Milliseconds CircuitBreaker::time_to_probe(SteadyPoint now) const noexcept {
  if (!open_ || now >= open_until_) return Milliseconds{0};
  return std::chrono::ceil<Milliseconds>(open_until_ - now);
}

bool is_failure(const Error& error, Milliseconds given, Milliseconds fair_time) noexcept {
  if (error.source != ErrorSource::origin && error.source != ErrorSource::peer) return false;
  switch (error.kind) {
    case ErrorKind::refused:
    case ErrorKind::unresolved:
    case ErrorKind::untrusted:
    case ErrorKind::disconnected:
      return true;
    case ErrorKind::timeout:
      return given >= fair_time;
    default:
      return false;
  }
}

}  // namespace ringside::net
