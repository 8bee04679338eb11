#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/error.h"

namespace ringside::sidecar {

// How many of so many replicas may be out of service at once: limits::ejection_share_percent of
// them, of two the one, and never the last. What looks like the failure of most of a tier is more
// likely our own, and the few that were left could not bear the load of all.
[[nodiscard]] std::size_t most_ejected(std::size_t members) noexcept;

// The health of one replica, as it looks from one core of a sidecar: whether it is asked, and when
// it is probed. It never changes who owns what, only whom of
// the owners we ask. docs/decisions/replica-health.md tells why it is done this way.
//
//   in service --failures, or a failed probe--> ejected --an answered probe--> returning
//       ^                                          ^---failures, a failed probe---|  |
//       |---------------------------------limits::slow_start---------------------------|
//
// Times are arguments; nothing is done here but to remember and to decide.
class Health {
 public:
  [[nodiscard]] bool is_ejected() const noexcept { return state_ == State::ejected; }
  // Neither ejected nor returning: it takes every key, whatever the time.
  [[nodiscard]] bool is_in_service() const noexcept { return state_ == State::in_service; }
  // Whether requests for a key with this hash go to it. While it returns it takes a growing share
  // of its keys, chosen by their hash: the same key is not asked for here and there by turns.
  [[nodiscard]] bool takes(std::uint64_t key_hash, SteadyPoint now) const noexcept;

  // It answered a request, whatever the status: it is alive.
  void answered(SteadyPoint now) noexcept;
  // A request that was sent at `began` failed by its doing. True where it is to be ejected, if that
  // is allowed. A wait that ran out is no failure where it has shown a sign of life since: then the
  // origin is slow, not the replica. An answer that can't be read is none either: a probe decides.
  [[nodiscard]] bool failed(ErrorKind kind, SteadyPoint began) noexcept;
  void eject() noexcept;
  // What came from it could not be read: the sooner it is probed, the fewer get such an answer.
  [[nodiscard]] bool is_suspected() const noexcept { return is_suspected_; }

  // When it is to be probed, unless something comes from it before; max(): not at all. It is where
  // it is ejected, or should be, or has sent what can't be read, or an answer that is waited for
  // since `waiting_since` (SteadyPoint::max(): none is) is late and nothing else came from it.
  [[nodiscard]] SteadyPoint wants_probe(SteadyPoint waiting_since) const noexcept;
  // From when on it may be probed for another reason.
  [[nodiscard]] SteadyPoint may_be_probed() const noexcept;
  void probe_begins(SteadyPoint now) noexcept;
  // True where it returns.
  bool probe_answered(SteadyPoint now) noexcept;
  // True where it is to be ejected (or stays so), and nobody should wait for it any longer. False
  // where it has answered somebody else meanwhile: our new connection found no room, no more.
  [[nodiscard]] bool probe_failed() noexcept;

 private:
  enum class State { in_service, ejected, returning };

  State state_ = State::in_service;
  unsigned failures_ = 0;      // in a row
  bool is_suspected_ = false;  // of being no replica at all
  SteadyPoint returned_{};
  SteadyPoint last_sign_of_life_{};
  SteadyPoint probe_began_{};
};

}  // namespace ringside::sidecar
