#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/limits.h"
#include "metrics/counter.h"
#include "metrics/outcome.h"
#include "metrics/totals.h"

namespace ringside::metrics {

// A replica's name as a small number, given by Sheet::shard. 0 is the sheet's own name: a
// replica's, or in a sidecar the empty name that stands for "no replica answered".
using ShardIndex = std::uint32_t;

// Names that a sheet tells apart: members come and go while a process lives. What comes later is
// counted together under the index shard_names and the name "other".
inline constexpr std::size_t shard_names = limits::members * 4;

// What one core of one component has counted. Written by that core's thread alone and read by any:
// a relaxed load and a relaxed store, no locked instruction, no cache line shared between writers.
class alignas(cache_line_size_bytes) CoreSheet {
 public:
  CoreSheet() = default;
  CoreSheet(const CoreSheet&) = delete;
  CoreSheet& operator=(const CoreSheet&) = delete;

  // One answered request. `shard` came from this sheet's Sheet::shard, or is 0. `country` is two
  // upper-case letters; anything else counts as ZZ. `body_bytes` is what was sent of the body.
  // Cheap: a few increments.
  void count_request(ShardIndex shard, std::string_view country, Outcome outcome,
                     std::chrono::microseconds duration, std::uint64_t body_bytes) noexcept;
  // One request sent to an origin, by how it ended: an HTTP status class or a failure.
  using OriginAnswer = metrics::OriginAnswer;
  void count_origin_request(OriginAnswer answer) noexcept;
  // What one client's request made of requests to origins, one after the other: all failed, but for
  // the last where there is a status. All but the first are retries.
  void count_origin_requests(unsigned requests, std::optional<int> status) noexcept;
  // One request that was sent on to another owner than the first, or repeated.
  void count_retry() noexcept;
  // An error of our own making, a client's or upstream's, by its source and kind.
  void count_error(const Error& error) noexcept;
  // A sidecar's replicas, as one core sees them: taken out of service, back in it (or no member any
  // more). Every return has had its ejection on the same core.
  void replica_ejected(ShardIndex shard) noexcept;
  void replica_returned(ShardIndex shard) noexcept;
  void count_probe(ProbeAnswer answer) noexcept;
  // A replica that did not confirm in time that it has forgotten what an unsafe method has made
  // invalid.
  void count_invalidation_failed(ShardIndex shard) noexcept;
  // A client's connection. Every close has had its open on the same core.
  void connection_opened() noexcept;
  void connection_closed() noexcept;

 private:
  friend class Sheet;

  // The counters of a shard fill one line; a block is allocated when its first name appears.
  static constexpr std::size_t shards_per_block = 64;
  static constexpr std::size_t block_count = shard_names / shards_per_block + 1;
  using OutcomeCounters = std::array<Counter, outcome_count>;
  struct alignas(cache_line_size_bytes) ShardBlock {
    std::array<OutcomeCounters, shards_per_block> shards;
    std::array<Counter, shards_per_block> ejections;
    std::array<Counter, shards_per_block> ejected;  // and not returned
    std::array<Counter, shards_per_block> invalidations_failed;
  };
  struct Durations {
    std::array<Counter, duration_bucket_count> buckets;
    Counter sum_us;
  };

  [[nodiscard]] ShardBlock& block_of(ShardIndex shard) noexcept;

  // What the Sheet reads, on any thread. A shard's index must have been given.
  void add_to(Totals::Shard& totals, ShardIndex shard) const noexcept;
  void add_to(Totals& totals) const noexcept;  // all but the shards

  std::array<std::atomic<ShardBlock*>, block_count> blocks_{};  // owned by the Sheet; see there
  alignas(cache_line_size_bytes) std::array<Durations, outcome_count> durations_;
  OutcomeCounters response_bytes_;
  std::array<Counter, origin_answer_count> origin_requests_;
  std::array<std::array<Counter, error_kind_count>, error_source_count> errors_;
  Counter errors_failed_over_;
  std::array<Counter, probe_answer_count> probes_;
  Counter retries_;
  Counter connections_;
  Counter connections_open_;
  std::array<OutcomeCounters, country_count> countries_;
};

}  // namespace ringside::metrics
