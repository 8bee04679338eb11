#include "net/retry_budget.h"

#include <chrono>

namespace ringside::net {
namespace {

std::int64_t number_of(SteadyPoint at, Milliseconds width) noexcept {
  return std::chrono::floor<Milliseconds>(at.time_since_epoch()) / width;
}

}  // namespace

RetryBudget::Bucket& RetryBudget::bucket_at(SteadyPoint now) noexcept {
  const std::int64_t number = number_of(now, bucket_width);
  Bucket& bucket = buckets_[static_cast<std::uint64_t>(number) % bucket_count];
  if (bucket.number != number) bucket = {number, 0, 0};
  return bucket;
}

void RetryBudget::count_request(SteadyPoint now) noexcept { ++bucket_at(now).requests; }

bool RetryBudget::spend(SteadyPoint now) noexcept {
  Bucket& current = bucket_at(now);
  std::uint64_t requests = 0;
  std::uint64_t repeats = 0;
  for (const Bucket& bucket : buckets_) {
    const std::int64_t age = current.number - bucket.number;
    if (age < 0 || age >= static_cast<std::int64_t>(bucket_count)) continue;
    requests += bucket.requests;
    repeats += bucket.repeats;
  }
  const bool within_share = (repeats + 1) * 100 <= requests * terms_.percent;
  const bool within_floor = current.repeats < terms_.floor_per_second;
  if (!within_share && !within_floor) return false;
  ++current.repeats;
  return true;
}

}  // namespace ringside::net
