#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "geo/country_database.h"
#include "http/hop.h"
#include "http1/access_log.h"
#include "http1/origin_access.h"
#include "http1/pool.h"
#include "metrics/sheet.h"
#include "net/core.h"
#include "net/origin_gates.h"
#include "net/retry_budget.h"
#include "sidecar/health_watch.h"
#include "sidecar/near_cache.h"
#include "sidecar/settings.h"

namespace ringside::sidecar {

// Settings with what this process derives from them once. Immutable, shared by the cores.
struct Snapshot {
  std::shared_ptr<const Settings> settings;
  http::HopIdentity identity;
  std::vector<metrics::ShardIndex> shards;  // of the topology's members, in their order
};

// What one core's requests share. Only that core's thread touches it, but for the count of purges.
struct CoreState {
  CoreState(net::Core& the_core, std::shared_ptr<const Snapshot> first, metrics::CoreSheet& counts,
            std::atomic<std::uint64_t>& purge_count, net::OriginGates& gates,
            http::AccessLog::Queue* log)
      : core(the_core),
        snapshot(std::move(first)),
        countries(snapshot->settings->countries),
        replicas(the_core, ErrorSource::peer),
        origins(the_core, ErrorSource::origin),
        origin_access(the_core, gates),
        health(the_core, counts),
        purges(purge_count),
        near(snapshot->settings->near_cache_bytes, purge_count),
        sheet(counts),
        access_log(log) {
    origins.set_tls(snapshot->settings->tls);
    health.follow(snapshot->settings, snapshot->shards);
  }

  net::Core& core;
  std::shared_ptr<const Snapshot> snapshot;  // the newest; a request keeps the one it began with
  geo::CountryMemo countries;
  http::Pool replicas;
  http::Pool origins;
  http::OriginAccess origin_access;
  HealthWatch health;                  // of the replicas
  net::RetryBudget repeats;            // of requests to replicas
  std::atomic<std::uint64_t>& purges;  // answered ones, of all cores together; see NearCache
  NearCache near;
  metrics::CoreSheet& sheet;
  http::AccessLog::Queue* access_log;  // null: none is written
};

}  // namespace ringside::sidecar
