#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "geo/country_database.h"
#include "http/core.h"
#include "http/pool.h"
#include "metrics/sheet.h"
#include "sidecar/near_cache.h"
#include "sidecar/settings.h"

namespace ringside::sidecar {

// Settings with what this process derives from them once. Immutable, shared by the cores.
struct Snapshot {
  std::shared_ptr<const Settings> settings;
  std::vector<metrics::ShardIndex> shards;  // of the topology's members, in their order
};

// What one core's requests share. Only that core's thread touches it, but for the count of purges.
struct CoreState {
  CoreState(http::Core& the_core, std::shared_ptr<const Snapshot> first, metrics::CoreSheet& counts,
            std::atomic<std::uint64_t>& purge_count)
      : core(the_core),
        snapshot(std::move(first)),
        countries(snapshot->settings->countries),
        replicas(the_core, ErrorSource::peer),
        origins(the_core, ErrorSource::origin),
        purges(purge_count),
        near(snapshot->settings->near_cache_bytes, purge_count),
        sheet(counts) {}

  http::Core& core;
  std::shared_ptr<const Snapshot> snapshot;  // the newest; a request keeps the one it began with
  geo::CountryMemo countries;
  http::Pool replicas;
  http::Pool origins;
  std::atomic<std::uint64_t>& purges;  // answered ones, of all cores together; see NearCache
  NearCache near;
  metrics::CoreSheet& sheet;
};

}  // namespace ringside::sidecar
