#pragma once

#include <optional>

#include "base/clock.h"
#include "k8s/backoff.h"
#include "k8s/failure.h"

namespace ringside::k8s {

// What came of one list or one watch.
struct Attempt {
  enum class Act { list, watch };
  Act act = Act::list;
  const Failure* failure = nullptr;  // null: a whole list; a watch that the server ended
  bool told = false;                 // a watch: there were events
  Milliseconds lasted{0};
};

struct Step {
  Attempt::Act act = Attempt::Act::list;
  Milliseconds wait{0};  // before it
  bool operator==(const Step&) const = default;
};

// What a list and watch loop does next. A value that counts; the time and chance are given.
//
// A watch is resumed where it ended, at once if the server ended it, after a backoff if it broke.
// Everything is listed again where the server can't resume (gone; at once the first time), or where
// what it said made no sense. Only a watch that told something, or lasted, makes the next failure
// the first one: a list does not, for lists may work where watches fail.
class ReflectorSteps {
 public:
  explicit ReflectorSteps(const Backoff& backoff) noexcept : backoff_(backoff) {}
  // `random` of [0, 1).
  [[nodiscard]] Step next(const Attempt& attempt, double random) noexcept;
  // Failures in a row, this one counted; 0: all is well.
  [[nodiscard]] unsigned failures() const noexcept { return failures_; }

 private:
  [[nodiscard]] Step after_end(const Attempt& attempt, double random) noexcept;

  Backoff backoff_;
  unsigned failures_ = 0;
  unsigned brief_ends_ = 0;  // watches in a row that the server ended as soon as they began
};

}  // namespace ringside::k8s
