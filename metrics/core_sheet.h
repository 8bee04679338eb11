#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "base/limits.h"
#include "base/link_event.h"
#include "metrics/counter.h"
#include "metrics/table.h"
#include "metrics/totals.h"

namespace ringside::metrics {

// A replica's name as a small number, given by Sheet::shard. 0 is the sheet's own name: a
// replica's, or in a sidecar the empty name that stands for "no replica answered".
using ShardIndex = std::uint32_t;

// Names that a sheet tells apart: members come and go while a process lives. What comes later is
// counted together under the index shard_names and the name "other".
inline constexpr std::size_t shard_names = limits::members * 4;

// What one core of one component has counted: a cell for each series of each row. Written by that
// core's thread alone and read by any: a relaxed load and a relaxed store, no locked instruction,
// no cache line shared between writers.
class alignas(cache_line_size_bytes) CoreSheet {
 public:
  CoreSheet() = default;
  CoreSheet(const CoreSheet&) = delete;
  CoreSheet& operator=(const CoreSheet&) = delete;

  // One more in the row of that name, for its labels' values: an increment of a cell whose place
  // the compiler knows. Of a row with the label shard or replica also for whom: `shard` came from
  // this sheet's Sheet::shard, or is 0.
  template <class... Values>
  void count(std::type_identity_t<Named<Scope::component, Values...>> row,
             Values... values) noexcept {
    cell(row, values...).add(1);
  }
  template <class... Values>
  void count(ShardIndex shard, std::type_identity_t<Named<Scope::shard, Values...>> row,
             Values... values) noexcept {
    cell(shard, row, values...).add(1);
  }

  // One answered request. `country` is two upper-case letters; anything else counts as ZZ.
  // `body_bytes` is what was sent of the body.
  void count_request(ShardIndex shard, std::string_view country, Outcome outcome,
                     std::chrono::microseconds duration, std::uint64_t body_bytes) noexcept;
  // A fetch that waited for its shard to move.
  void count_split_wait(std::chrono::microseconds duration) noexcept;
  // What one client's request made of requests to origins, one after the other: all failed, but for
  // the last where there is a status. All but the first are retries.
  void count_origin_requests(unsigned requests, std::optional<int> status) noexcept;
  // An error of our own making, a client's or upstream's, by its source and kind.
  void count_error(const Error& error) noexcept;
  // A sidecar's replicas, as one core sees them: taken out of service, back in it (or no member any
  // more). Every return has had its ejection on the same core.
  void replica_ejected(ShardIndex shard) noexcept;
  void replica_returned(ShardIndex shard) noexcept;
  // A client's connection. Every close has had its open on the same core.
  void connection_opened() noexcept;
  void connection_closed() noexcept;
  // Likewise of links.
  void count_link(LinkEvent event) noexcept;

 private:
  friend class Sheet;

  // A block is allocated when its first name appears. It has one row after the other, so that a
  // shard's requests by result fill one line.
  static constexpr std::size_t shards_per_block = 64;
  static constexpr std::size_t block_count = shard_names / shards_per_block + 1;
  struct alignas(cache_line_size_bytes) ShardBlock {
    std::array<Counter, shard_cells * shards_per_block> cells;
  };

  template <class... Values>
  [[nodiscard]] Counter& cell(std::type_identity_t<Named<Scope::component, Values...>> row,
                              Values... values) noexcept {
    return cells_[row.first() + row.offset(values...)];
  }
  template <class... Values>
  [[nodiscard]] Counter& cell(ShardIndex shard,
                              std::type_identity_t<Named<Scope::shard, Values...>> row,
                              Values... values) noexcept {
    return block_of(shard).cells[row.first() * shards_per_block +
                                 shard % shards_per_block * row.size() + row.offset(values...)];
  }
  [[nodiscard]] ShardBlock& block_of(ShardIndex shard) noexcept;

  // What the Sheet reads, on any thread. A shard's index must have been given.
  void add_to(Totals::Shard& totals, ShardIndex shard) const noexcept;
  void add_to(Totals& totals) const noexcept;  // all but the shards

  std::array<std::atomic<ShardBlock*>, block_count> blocks_{};  // owned by the Sheet; see there
  alignas(cache_line_size_bytes) std::array<Counter, component_cells> cells_;
};

}  // namespace ringside::metrics
