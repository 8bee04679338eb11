#include "metrics/core_sheet.h"

#include <algorithm>

#include "base/check.h"

namespace ringside::metrics {
namespace {

// Of a gauge: every one that goes has come on the same core.
void take_one(Counter& gauge) noexcept {
  RINGSIDE_CHECK(gauge.value() > 0);
  gauge.subtract(1);
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
  count(shard, "ringside_requests_total", outcome);
  count("ringside_country_requests_total", country_from(country), outcome);
  const auto duration_us = static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration.count()));
  count("ringside_request_duration_seconds", outcome, bucket_of(duration_us));
  cell("ringside_request_duration_seconds", outcome, Bucket::sum_us).add(duration_us);
  cell("ringside_response_bytes_total", outcome).add(body_bytes);
}

void CoreSheet::count_split_wait(std::chrono::microseconds duration) noexcept {
  const auto duration_us = static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration.count()));
  count("ringside_split_wait_seconds", bucket_of(duration_us));
  cell("ringside_split_wait_seconds", Bucket::sum_us).add(duration_us);
}

void CoreSheet::count_origin_requests(unsigned requests, std::optional<int> status) noexcept {
  for (unsigned request = 1; request <= requests; ++request) {
    if (request > 1) count("ringside_retries_total");
    const bool last = request == requests;
    const auto answer = last && status ? origin_answer(*status) : OriginAnswer::failed;
    count("ringside_origin_requests_total", answer);
    if (!last) count("ringside_errors_total", ErrorCause::failed_over);
  }
}

void CoreSheet::count_error(const Error& error) noexcept {
  count("ringside_errors_total", error_cause(error.source, error.kind));
}

void CoreSheet::replica_ejected(ShardIndex shard) noexcept {
  count(shard, "ringside_replica_ejections_total");
  count(shard, "ringside_replicas_ejected");
}

void CoreSheet::replica_returned(ShardIndex shard) noexcept {
  take_one(cell(shard, "ringside_replicas_ejected"));
}

void CoreSheet::connection_opened() noexcept {
  count("ringside_connections_total");
  count("ringside_connections");
}

void CoreSheet::connection_closed() noexcept { take_one(cell("ringside_connections")); }

void CoreSheet::count_link(LinkEvent event) noexcept {
  switch (event) {
    case LinkEvent::opened:
      return count("ringside_links");
    case LinkEvent::closed:
      return take_one(cell("ringside_links"));
    case LinkEvent::faulty:
      return count("ringside_link_faults_total");
    case LinkEvent::ticket:
      return count("ringside_link_tickets_total");
  }
}

void CoreSheet::add_to(Totals::Shard& totals, ShardIndex shard) const noexcept {
  const ShardBlock* block = blocks_[shard / shards_per_block].load(std::memory_order_acquire);
  std::size_t first = 0;
  for (const Row& row : rows) {
    if (scope_of(row) != Scope::shard) continue;
    const std::size_t size = cells_of(row);
    const std::size_t begin = first * shards_per_block + shard % shards_per_block * size;
    for (std::size_t i = 0; i < size; ++i)
      totals.cells[first + i] += block->cells[begin + i].value();
    first += size;
  }
}

void CoreSheet::add_to(Totals& totals) const noexcept {
  for (std::size_t i = 0; i < component_cells; ++i) totals.cells[i] += cells_[i].value();
}

}  // namespace ringside::metrics
