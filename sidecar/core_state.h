#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "geo/country_database.h"
#include "hop/origin_access.h"
#include "hop/peer_proof.h"
#include "hop/topology_news.h"
#include "hop/upstream.h"
#include "hop/wire.h"
#include "http/hop.h"
#include "metrics/sheet.h"
#include "net/core.h"
#include "net/origin_gates.h"
#include "net/retry_budget.h"
#include "sidecar/forgotten.h"
#include "sidecar/health_watch.h"
#include "sidecar/method_allowance.h"
#include "sidecar/missed.h"
#include "sidecar/near_cache.h"
#include "sidecar/purge_issuer.h"
#include "sidecar/purge_lines.h"
#include "sidecar/replica_troubles.h"
#include "sidecar/settings.h"

namespace ringside::sidecar {

// Settings with what this process derives from them once. Immutable, shared by the cores.
struct Snapshot {
  std::shared_ptr<const Settings> settings;
  http::HopIdentity identity;
  std::shared_ptr<const hop::PeerIdentity> peer_identity;  // null: nobody proves anything
  std::vector<metrics::ShardIndex> shards;  // of the topology's members, in their order
  MissedPointers missed;                    // likewise
};

// What all cores of a sidecar share. Each part is thread-safe by itself.
struct Shared {
  const std::string mark = http::random_mark();  // stays, whatever the settings call us
  PurgeIssuer purges{mark};                      // and invalidations
  ForgottenTable forgotten;                      // see NearCache
  MissedTable missed{mark, purges.issued()};
  net::OriginGates gates;
  Troubles troubles;
  hop::TopologyNews topologies;
  PurgeLines purge_lines;
};

// What one core's requests share. Only that core's thread touches it.
struct CoreState {
  CoreState(net::Core& the_core, Shared& the_shared, std::shared_ptr<const Snapshot> first,
            metrics::CoreSheet& counts, const hop::Wire& wire)
      : core(the_core),
        shared(the_shared),
        snapshot(std::move(first)),
        countries(snapshot->settings->countries),
        replicas(wire.members(the_core, [&counts](LinkEvent event) { counts.count_link(event); })),
        origins(wire.upstreams(the_core, ErrorSource::origin)),
        origin_access(the_core, the_shared.gates),
        health(the_core, counts, wire.upstreams(the_core, ErrorSource::peer), repeats,
               the_shared.troubles),
        near(snapshot->settings->near_cache_bytes, the_shared.forgotten),
        sheet(counts) {
    follow(snapshot);
  }

  // Takes new settings over.
  void follow(std::shared_ptr<const Snapshot> next) {
    snapshot = std::move(next);
    origins->set_tls(snapshot->settings->tls);
    replicas->introduce_as(snapshot->peer_identity);
    health.introduce_as(snapshot->peer_identity);
    health.follow(snapshot->settings, snapshot->shards, snapshot->missed);
  }

  net::Core& core;
  Shared& shared;
  std::shared_ptr<const Snapshot> snapshot;  // the newest; a request keeps the one it began with
  geo::CountryMemo countries;
  std::unique_ptr<hop::Upstreams> replicas;
  std::unique_ptr<hop::Upstreams> origins;
  hop::OriginAccess origin_access;
  net::RetryBudget repeats;  // of requests to replicas
  HealthWatch health;        // of the replicas
  NearCache near;
  MethodAllowance rare_methods;
  metrics::CoreSheet& sheet;
};

}  // namespace ringside::sidecar
