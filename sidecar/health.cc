#include "sidecar/health.h"

#include <algorithm>

#include "base/limits.h"

namespace ringside::sidecar {
namespace {

// Of its keys, from its return on. Not from nothing: a share that is too small to bring any request
// would tell nothing of it.
constexpr std::int64_t first_permille = 100;

// Bytes may have come or not: what counts is that there was no whole answer.
bool is_of_the_replica(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::refused:
    case ErrorKind::unresolved:
    case ErrorKind::untrusted:
    case ErrorKind::disconnected:
    case ErrorKind::timeout:
    case ErrorKind::malformed:  // an origin's garbage comes as the replica's own 502
    case ErrorKind::head_too_large:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::size_t most_ejected(std::size_t members) noexcept {
  if (members < 2) return 0;
  return std::max<std::size_t>(1, members * limits::ejection_share_percent / 100);
}
static_assert(limits::ejection_share_percent < 100, "the last one is never ejected");

bool Health::takes(std::uint64_t key_hash, SteadyPoint now) const noexcept {
  if (state_ != State::returning) return state_ == State::in_service;
  const std::int64_t permille = first_permille + (1000 - first_permille) * (now - returned_) /
                                                     SteadyPoint::duration(limits::slow_start);
  // The high bits chose the bucket, and so the replica: these are others.
  return static_cast<std::int64_t>(key_hash % 1000) < permille;
}

void Health::answered(SteadyPoint now) noexcept {
  last_sign_of_life_ = now;
  if (state_ == State::ejected) return;  // An old request's: only a probe brings it back.
  failures_ = 0;
  if (state_ == State::returning && now - returned_ >= limits::slow_start) {
    state_ = State::in_service;
  }
}

bool Health::failed(ErrorKind kind, SteadyPoint began) noexcept {
  if (!is_of_the_replica(kind)) return false;
  if (kind == ErrorKind::timeout && last_sign_of_life_ > began) return false;
  failures_ = std::min(failures_ + 1, limits::ejection_failures);
  return failures_ == limits::ejection_failures && state_ != State::ejected;
}

void Health::eject() noexcept {
  state_ = State::ejected;
  failures_ = limits::ejection_failures;
}

bool Health::wants_probe(SteadyPoint waiting_since, SteadyPoint now) const noexcept {
  if (!may_be_probed(now)) return false;
  if (failures_ == limits::ejection_failures) return true;
  if (waiting_since == SteadyPoint::max()) return false;
  return now - std::max(waiting_since, last_sign_of_life_) >= limits::suspicion_after;
}

bool Health::may_be_probed(SteadyPoint now) const noexcept {
  return now - probe_began_ >= limits::probe_interval;
}

void Health::probe_begins(SteadyPoint now) noexcept { probe_began_ = now; }

bool Health::probe_answered(SteadyPoint now) noexcept {
  last_sign_of_life_ = now;
  failures_ = 0;
  if (state_ != State::ejected) return false;
  state_ = State::returning;
  returned_ = now;
  return true;
}

bool Health::probe_failed() noexcept {
  if (state_ != State::ejected && last_sign_of_life_ > probe_began_) return false;
  failures_ = limits::ejection_failures;
  return true;
}

}  // namespace ringside::sidecar
