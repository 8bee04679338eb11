#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "metrics/table.h"

namespace ringside::metrics {

// The figures of a replica's store at the time of a scrape.
struct StoreFigures {
  std::uint64_t entries = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t limit_bytes = 0;
  std::uint64_t evictions = 0;  // counter
  std::uint64_t flights = 0;    // in progress
  std::uint64_t buckets_away = 0;
  std::uint64_t moved_responses = 0;  // counter
  std::uint64_t moved_bytes = 0;      // counter
  std::uint64_t moved_left_out = 0;   // counter
  std::uint64_t moves_waiting = 0;
};

// How a component spares its origins, all of them together, at the time of a scrape. What is not
// said to be of now counts since the start.
struct OriginFigures {
  std::uint64_t queued = 0;  // requests that wait now
  std::uint64_t in_use = 0;  // requests that origins work on now
  std::uint64_t refused_queue_full = 0;
  std::uint64_t refused_queue_timeout = 0;
  std::uint64_t refused_circuit_open = 0;
  std::uint64_t circuits_opened = 0;
  std::uint64_t circuits_open = 0;  // origins that are not asked now, or only by a probe
};

// The topology that a component follows.
struct TopologyFigures {
  std::uint64_t version = 0;
  std::size_t replicas = 0;
  std::string id;  // 32 hexadecimal digits
};

// All that one component had counted at some moment, summed over its cores. Each figure is exact
// and never goes back between two readings; figures that belong together may be a few requests
// apart, because the cores go on counting while they are read.
struct Totals {
  struct Shard {
    std::string name;
    std::array<std::uint64_t, shard_cells> cells{};

    // Of a row with the label shard or replica, as CoreSheet::count has it.
    template <class... Values>
    [[nodiscard]] std::uint64_t of(std::type_identity_t<Named<Scope::shard, Values...>> row,
                                   Values... values) const noexcept {
      return cells[row.first() + row.offset(values...)];
    }
  };

  Role role = Role::sidecar;
  std::string name;           // the replica's; empty for a sidecar
  std::vector<Shard> shards;  // the first is `name`
  std::vector<std::uint64_t> cells = std::vector<std::uint64_t>(component_cells);
  std::optional<TopologyFigures> topology;
  std::optional<StoreFigures> store;
  std::optional<OriginFigures> origins;

  // Of any other row.
  template <class... Values>
  [[nodiscard]] std::uint64_t of(std::type_identity_t<Named<Scope::component, Values...>> row,
                                 Values... values) const noexcept {
    return cells[row.first() + row.offset(values...)];
  }
};

}  // namespace ringside::metrics
