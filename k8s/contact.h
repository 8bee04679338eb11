#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "k8s/failure.h"

namespace ringside::k8s {

// How it stands with one resource of the API server, and which lines of log that is worth: one for
// the first failure and for each change of its reason, one when it answers again, none for a retry.
// Pure; not thread-safe.
class Contact {
 public:
  // `what`: what is asked for, for the log.
  explicit Contact(std::string what) : what_(std::move(what)) {}

  // It answered, or told an event. `proves`: what failed last works again. The line to log, where
  // there is one.
  [[nodiscard]] std::optional<std::string> heard(TimePoint now, bool proves);
  // Likewise. Not `is_trouble`: it is to be expected and tried again at once.
  [[nodiscard]] std::optional<std::string> failed(const Failure& failure, bool is_trouble);
  // Something else is asked for from now on.
  void start_over(std::string what);

  [[nodiscard]] bool in_touch() const noexcept { return heard_ && !failure_; }
  [[nodiscard]] const std::optional<TimePoint>& last_answer() const noexcept { return heard_; }
  [[nodiscard]] const std::optional<Failure>& failure() const noexcept { return failure_; }
  [[nodiscard]] const std::string& what() const noexcept { return what_; }
  [[nodiscard]] std::uint64_t failures(FailureReason reason) const noexcept {
    return failures_[static_cast<std::size_t>(reason)];
  }

 private:
  std::string what_;
  std::optional<TimePoint> heard_;
  std::optional<Failure> failure_;       // the last contact was one
  std::optional<FailureReason> logged_;  // and is not over yet
  std::array<std::uint64_t, failure_reasons.size()> failures_{};
};

}  // namespace ringside::k8s
