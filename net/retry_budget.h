#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"
#include "base/limits.h"

namespace ringside::net {

// How many requests may be sent again: a share of the requests of the last seconds, and a few a
// second always. A number of attempts per request would multiply the load just when an upstream
// can't bear it; a share adds a fifth at most, whatever fails. (Site Reliability Engineering,
// chapter 21, "Handling Overload": the client's retry budget.)
//
// Time is an argument. Not thread-safe: each core has its own.
class RetryBudget {
 public:
  struct Terms {
    unsigned percent = limits::retry_budget_percent;
    unsigned floor_per_second = limits::retry_budget_floor;
  };
  RetryBudget() = default;
  explicit RetryBudget(const Terms& terms) noexcept : terms_(terms) {}

  // A request has begun; once per request, not per attempt.
  void count_request(SteadyPoint now) noexcept;
  // Whether one more repeat is within the budget; where it is, it is spent.
  [[nodiscard]] bool spend(SteadyPoint now) noexcept;

 private:
  // The window is counted in buckets, the oldest of which is forgotten as a whole.
  static constexpr Milliseconds bucket_width{1'000};
  static constexpr std::size_t bucket_count =
      static_cast<std::size_t>(limits::retry_budget_window / bucket_width);
  static_assert(bucket_count >= 2 && limits::retry_budget_window % bucket_width == Milliseconds{0});
  struct Bucket {
    std::int64_t number = -1;  // of its width since the clock's epoch; another one: empty
    std::uint64_t requests = 0;
    std::uint64_t repeats = 0;
  };

  Bucket& bucket_at(SteadyPoint now) noexcept;

  Terms terms_;
  std::array<Bucket, bucket_count> buckets_{};
};

}  // namespace ringside::net
