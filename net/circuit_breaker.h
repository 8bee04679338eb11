#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"

namespace ringside::net {

// Whether an upstream is to be asked at all. Closed: it is. After limits::breaker_failures failures
// in a row it opens: nobody waits for what would not come, and an upstream that is trying to get up
// is left alone. When its time is over it is half-open: one request is let through as a probe; its
// success closes the breaker, its failure opens it for twice as long (Nygard, "Release It!",
// "Circuit Breaker").
//
// Time is an argument. Not thread-safe.
class CircuitBreaker {
 public:
  enum class State { closed, open, half_open };

  // What a request was let through with; to be brought back with how it went.
  struct Permit {
    bool granted = false;
    bool probe = false;
    std::uint32_t period = 0;  // between two changes of state
  };
  enum class Outcome {
    answered,   // by any status: who says 500 is there
    failed,     // no answer; see is_failure()
    undecided,  // given up for a reason that says nothing of the upstream
  };

  [[nodiscard]] State state(SteadyPoint now) const noexcept;
  // False: ask() would not grant one now.
  [[nodiscard]] bool would_grant(SteadyPoint now) const noexcept;
  // Every granted permit is brought back with settle(), once.
  [[nodiscard]] Permit ask(SteadyPoint now) noexcept;
  // True: the breaker has opened by this. What was begun before the last change of state says
  // nothing of the present one and changes nothing.
  bool settle(const Permit& permit, Outcome outcome, SteadyPoint now) noexcept;

  // How long until a probe would be granted; 0: none is waited for.
  [[nodiscard]] Milliseconds time_to_probe(SteadyPoint now) const noexcept;

 private:
  void open(SteadyPoint now) noexcept;

  bool open_ = false;
  bool probing_ = false;
  unsigned failures_ = 0;  // in a row
  std::uint32_t period_ = 0;
  Milliseconds open_for_{0};
  SteadyPoint open_until_{};
};

// Whether an upstream has failed a request, which it was given so long to answer. A timeout says
// something about it only where the time was fair: a request that comes to it with its deadline
// almost over fails for another's slowness.
[[nodiscard]] bool is_failure(const Error& error, Milliseconds given,
                              Milliseconds fair_time) noexcept;

}  // namespace ringside::net
