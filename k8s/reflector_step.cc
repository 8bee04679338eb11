#include "k8s/reflector_step.h"

#include <algorithm>

namespace ringside::k8s {

using Act = Attempt::Act;

Step ReflectorSteps::next(const Attempt& attempt, double random) noexcept {
  if (attempt.act == Act::watch && (attempt.told || attempt.lasted >= backoff_.most)) failures_ = 0;
  if (attempt.failure == nullptr) {
    return attempt.act == Act::list ? Step{Act::watch, Milliseconds{0}}
                                    : after_end(attempt, random);
  }
  const unsigned earlier = failures_++;
  const Milliseconds wait = backoff_.wait(earlier, random, attempt.failure->retry_after);
  switch (attempt.failure->reason) {
    case FailureReason::gone:
      return {Act::list, earlier == 0 ? Milliseconds{0} : wait};
    case FailureReason::malformed:
    case FailureReason::not_found:
      return {Act::list, wait};
    default:
      return {attempt.act, wait};
  }
}

// A watch that ended as soon as it began is resumed at once, but not again and again: then as
// seldom as after failures, or every `start` while each of them tells something.
Step ReflectorSteps::after_end(const Attempt& attempt, double random) noexcept {
  failures_ = 0;
  const Milliseconds wait =
      brief_ends_ == 0 ? Milliseconds{0} : backoff_.wait(brief_ends_ - 1, random);
  if (attempt.lasted >= std::max(wait, backoff_.start)) {
    brief_ends_ = 0;
    return {Act::watch, Milliseconds{0}};
  }
  brief_ends_ = attempt.told ? 1 : brief_ends_ + 1;
  return {Act::watch, std::max(wait - attempt.lasted, Milliseconds{0})};
}

}  // namespace ringside::k8s
