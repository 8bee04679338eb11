#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/limits.h"
#include "base/seldom.h"
#include "geo/country_database.h"
#include "hop/origin_access.h"
#include "hop/peer_proof.h"
#include "hop/upstream.h"
#include "hop/wire.h"
#include "http/hop.h"
#include "metrics/sheet.h"
#include "net/core.h"
#include "net/origin_gates.h"
#include "net/retry_budget.h"
#include "sidecar/health_watch.h"
#include "sidecar/near_cache.h"
#include "sidecar/settings.h"
#include "sidecar/unproven_replicas.h"

namespace ringside::sidecar {

// Settings with what this process derives from them once. Immutable, shared by the cores.
struct Snapshot {
  std::shared_ptr<const Settings> settings;
  http::HopIdentity identity;
  std::shared_ptr<const hop::PeerIdentity> peer_identity;  // null: nobody proves anything
  std::vector<metrics::ShardIndex> shards;  // of the topology's members, in their order
};

// What one core's requests share. Only that core's thread touches it, but for the count of purges.
struct CoreState {
  CoreState(net::Core& the_core, std::shared_ptr<const Snapshot> first, metrics::CoreSheet& counts,
            std::atomic<std::uint64_t>& purge_count, net::OriginGates& gates,
            UnprovenReplicas& unproven, const hop::Wire& wire)
      : core(the_core),
        snapshot(std::move(first)),
        countries(snapshot->settings->countries),
        replicas(wire.upstreams(the_core, ErrorSource::peer)),
        origins(wire.upstreams(the_core, ErrorSource::origin)),
        origin_access(the_core, gates),
        health(the_core, counts, wire.upstreams(the_core, ErrorSource::peer), unproven),
        purges(purge_count),
        near(snapshot->settings->near_cache_bytes, purge_count),
        sheet(counts) {
    follow(snapshot);
  }

  // Takes new settings over.
  void follow(std::shared_ptr<const Snapshot> next) {
    snapshot = std::move(next);
    origins->set_tls(snapshot->settings->tls);
    replicas->introduce_as(snapshot->peer_identity);
    health.introduce_as(snapshot->peer_identity);
    health.follow(snapshot->settings, snapshot->shards);
  }

  net::Core& core;
  std::shared_ptr<const Snapshot> snapshot;  // the newest; a request keeps the one it began with
  geo::CountryMemo countries;
  std::unique_ptr<hop::Upstreams> replicas;
  std::unique_ptr<hop::Upstreams> origins;
  hop::OriginAccess origin_access;
  HealthWatch health;  // of the replicas
  log::Seldom peer_complaints{limits::peer_complaint_interval};
  net::RetryBudget repeats;            // of requests to replicas
  std::atomic<std::uint64_t>& purges;  // answered ones, of all cores together; see NearCache
  NearCache near;
  metrics::CoreSheet& sheet;
};

}  // namespace ringside::sidecar
