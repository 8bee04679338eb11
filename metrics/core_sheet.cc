#include "metrics/core_sheet.h"

#include <algorithm>

#include "base/check.h"

namespace ringside::metrics {
namespace {

constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }

constexpr std::size_t country_index(std::string_view code) noexcept {
  if (code.size() != 2 || !is_upper(code[0]) || !is_upper(code[1])) return country_count - 1;  // ZZ
  return static_cast<std::size_t>(code[0] - 'A') * 26 + static_cast<std::size_t>(code[1] - 'A');
}

// The first bucket whose upper bound is not below the duration; the last one has no bound.
std::size_t duration_bucket(std::uint64_t duration_us) noexcept {
  const auto bound =
      std::lower_bound(duration_bounds_us.begin(), duration_bounds_us.end(), duration_us);
  return static_cast<std::size_t>(bound - duration_bounds_us.begin());
}

template <std::size_t n>
void add(std::array<std::uint64_t, n>& sums, const std::array<Counter, n>& counters) noexcept {
  for (std::size_t i = 0; i < n; ++i) sums[i] += counters[i].value();
}

}  // namespace

CoreSheet::ShardBlock& CoreSheet::block_of(ShardIndex shard) noexcept {
  RINGSIDE_CHECK(shard <= shard_names);
  ShardBlock* block = blocks_[shard / shards_per_block].load(std::memory_order_acquire);
  RINGSIDE_CHECK(block != nullptr);  // else this index was not given by this sheet
  return *block;
}

void CoreSheet::count_request(ShardIndex shard, std::string_view country, Outcome outcome,
                              std::chrono::microseconds duration,
                              std::uint64_t body_bytes) noexcept {
  const auto result = static_cast<std::size_t>(outcome);
  block_of(shard).shards[shard % shards_per_block][result].add(1);
  countries_[country_index(country)][result].add(1);
  const auto duration_us = static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration.count()));
  durations_[result].buckets[duration_bucket(duration_us)].add(1);
  durations_[result].sum_us.add(duration_us);
  response_bytes_[result].add(body_bytes);
}

void CoreSheet::count_origin_request(OriginAnswer answer) noexcept {
  origin_requests_[static_cast<std::size_t>(answer)].add(1);
}

void CoreSheet::count_origin_requests(unsigned requests, std::optional<int> status) noexcept {
  for (unsigned request = 1; request <= requests; ++request) {
    if (request > 1) count_retry();
    const bool last = request == requests;
    count_origin_request(last && status ? origin_answer(*status) : OriginAnswer::failed);
    if (!last) errors_failed_over_.add(1);
  }
}

void CoreSheet::count_retry() noexcept { retries_.add(1); }

void CoreSheet::count_error(const Error& error) noexcept {
  errors_[static_cast<std::size_t>(error.source)][static_cast<std::size_t>(error.kind)].add(1);
}

void CoreSheet::replica_ejected(ShardIndex shard) noexcept {
  ShardBlock& block = block_of(shard);
  block.ejections[shard % shards_per_block].add(1);
  block.ejected[shard % shards_per_block].add(1);
}

void CoreSheet::replica_returned(ShardIndex shard) noexcept {
  Counter& ejected = block_of(shard).ejected[shard % shards_per_block];
  RINGSIDE_CHECK(ejected.value() > 0);
  ejected.subtract(1);
}

void CoreSheet::count_probe(ProbeAnswer answer) noexcept {
  probes_[static_cast<std::size_t>(answer)].add(1);
}

void CoreSheet::count_invalidation_failed(ShardIndex shard) noexcept {
  block_of(shard).invalidations_failed[shard % shards_per_block].add(1);
}

void CoreSheet::connection_opened() noexcept {
  connections_.add(1);
  connections_open_.add(1);
}

void CoreSheet::connection_closed() noexcept {
  RINGSIDE_CHECK(connections_open_.value() > 0);
  connections_open_.subtract(1);
}

void CoreSheet::add_to(Totals::Shard& totals, ShardIndex shard) const noexcept {
  const ShardBlock* block = blocks_[shard / shards_per_block].load(std::memory_order_acquire);
  const std::size_t place = shard % shards_per_block;
  add(totals.requests, block->shards[place]);
  totals.ejections += block->ejections[place].value();
  totals.cores_without += block->ejected[place].value();
  totals.invalidations_failed += block->invalidations_failed[place].value();
}

void CoreSheet::add_to(Totals& totals) const noexcept {
  for (std::size_t i = 0; i < country_count; ++i) add(totals.countries[i], countries_[i]);
  for (std::size_t i = 0; i < outcome_count; ++i) {
    add(totals.durations[i].buckets, durations_[i].buckets);
    totals.durations[i].sum_us += durations_[i].sum_us.value();
  }
  add(totals.response_bytes, response_bytes_);
  add(totals.origin_requests, origin_requests_);
  for (std::size_t source = 0; source < error_source_count; ++source) {
    add(totals.errors_by_kind[source], errors_[source]);
    for (const Counter& errors : errors_[source]) totals.errors[source] += errors.value();
  }
  totals.errors_failed_over += errors_failed_over_.value();
  totals.errors[static_cast<std::size_t>(ErrorSource::origin)] += errors_failed_over_.value();
  add(totals.probes, probes_);
  totals.retries += retries_.value();
  totals.connections += connections_.value();
  totals.connections_open += connections_open_.value();
}

}  // namespace ringside::metrics
