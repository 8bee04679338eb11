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
      return true;
    default:
      return false;
  }
}

// What can't be read may be the doing of an origin or a client whose bytes the replica has passed
// on. The answer to a probe is the replica's own.
bool is_of_whoever(ErrorKind kind) noexcept {
  return kind == ErrorKind::malformed || kind == ErrorKind::head_too_large;
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
  if (is_of_whoever(kind)) is_suspected_ = true;
  if (!is_of_the_replica(kind)) return false;
  if (kind == ErrorKind::timeout && last_sign_of_life_ > began) return false;
  failures_ = std::min(failures_ + 1, limits::ejection_failures);
  return failures_ == limits::ejection_failures && state_ != State::ejected;
}

void Health::eject() noexcept {
  state_ = State::ejected;
  failures_ = limits::ejection_failures;
}

SteadyPoint Health::wants_probe(SteadyPoint waiting_since) const noexcept {
  if (is_suspected_ || failures_ == limits::ejection_failures) return may_be_probed();
  if (waiting_since == SteadyPoint::max()) return SteadyPoint::max();
  const SteadyPoint silent_since = std::max(waiting_since, last_sign_of_life_);
  return std::max(silent_since + limits::suspicion_after, may_be_probed());
}

SteadyPoint Health::may_be_probed() const noexcept { return probe_began_ + limits::probe_interval; }

void Health::probe_begins(SteadyPoint now) noexcept { probe_began_ = now; }

bool Health::probe_answered(SteadyPoint now) noexcept {
  last_sign_of_life_ = now;
  failures_ = 0;
  is_suspected_ = false;
  if (state_ != State::ejected) return false;
  state_ = State::returning;
  returned_ = now;
  return true;
}

bool Health::probe_failed() noexcept {
  is_suspected_ = false;
  if (state_ != State::ejected && last_sign_of_life_ > probe_began_) return false;
  failures_ = limits::ejection_failures;
  return true;
}

}  // namespace ringside::sidecar
