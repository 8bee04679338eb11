#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/hash.h"
#include "base/limits.h"
#include "base/seldom.h"
#include "cache/bucket_source.h"
#include "cache/flight_table.h"
#include "cache/holders.h"
#include "cache/missed_purges.h"
#include "cache/own_purges.h"
#include "cache/purge_log.h"
#include "cache/settings.h"
#include "cache/stalled.h"
#include "cache/store.h"
#include "cache/uncacheable_keys.h"
#include "hop/origin_access.h"
#include "hop/peer_proof.h"
#include "hop/topology_news.h"
#include "hop/upstream.h"
#include "hop/wire.h"
#include "http/hop.h"
#include "metrics/sheet.h"
#include "net/core.h"
#include "net/origin_gates.h"

namespace ringside::cache {

// What all cores of a replica share. Each part is thread-safe by itself.
struct Shared {
  Shared(std::string replica_name, std::size_t memory_bytes)
      : name(std::move(replica_name)),
        mark(http::random_mark()),
        store(memory_bytes),
        holders(name, hash64(mark) | 1) {}
  const std::string name;
  const std::string mark;  // stays, whatever the settings call us
  Store store;
  FlightTable flights;
  UncacheableKeys uncacheable;
  MissedPurges missed;
  Holders holders;
  PurgeLog purges;
  OwnPurges own_purges{mark};
  hop::TopologyNews topologies;
  BucketSource source{store, flights, uncacheable, holders};
  // Of other replicas, into this one.
  struct Moved {
    std::atomic<std::uint64_t> responses{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> left_out{0};  // responses that were not stored
    std::atomic<std::uint64_t> waiting{0};   // moves, until there is room
  };
  Moved moved;
  net::OriginGates gates;
};

// Removes what `prefix` begins (see Store::purge) and keeps later requests from joining what was
// fetched before.
inline std::size_t purge_shared(Shared& shared, std::string_view prefix) {
  const std::size_t removed = shared.store.purge(prefix);
  shared.flights.forget_all();
  return removed;
}

// Stores what a flight has brought, unless something has made it worthless meanwhile: an
// invalidation marks the flight first and takes the stripe's lock after it to erase, so that put,
// under that lock, either sees the mark or comes before the erasing.
inline void keep_fetched(Shared& shared, const Flight& flight, StoredPointer response,
                         std::size_t variants_most) {
  shared.store.put(flight.key(), std::move(response), flight.purges_seen(), variants_most,
                   &flight.outdated_mark());
}

// What is stored for the key's URI, whatever the shard key, and what is being fetched for it, is
// not valid any more (RFC 9111 §4.4). Returns how many stored responses went.
inline std::size_t invalidate_shared(Shared& shared, const CacheKey& key) {
  shared.flights.forget_uri(key);
  return shared.store.erase_uri(key);
}

// What one core's requests share. Only that core's thread touches it.
struct CoreState {
  CoreState(net::Core& the_core, Shared& the_shared, std::shared_ptr<const Settings> first,
            metrics::CoreSheet& counts, const hop::Wire& wire)
      : core(the_core),
        shared(the_shared),
        settings(std::move(first)),
        peers(wire.members(the_core, [&counts](LinkEvent event) { counts.count_link(event); })),
        origins(wire.upstreams(the_core, ErrorSource::origin)),
        origin_access(the_core, the_shared.gates),
        sheet(counts) {
    follow(settings);
  }

  // Takes new settings over.
  void follow(std::shared_ptr<const Settings> next) {
    settings = std::move(next);
    identity = http::HopIdentity(shared.name, settings->via_name, shared.mark);
    peer_identity.reset();
    if (settings->peer_keys) {
      peer_identity = std::make_shared<const hop::PeerIdentity>(
          hop::PeerIdentity{hop::PeerRole::replica, shared.name, settings->peer_keys});
    }
    peers->introduce_as(peer_identity);
    origins->set_tls(settings->tls);
    origin_access.forget();
  }

  // Clients hold too much that is not stored: cuts a part of them (see
  // limits::pinned_share_divisor).
  void relieve(std::size_t cores) {
    const std::size_t most = shared.store.pinned_most_bytes();
    const std::size_t pinned = shared.store.memory().pinned_bytes();
    if (pinned > most) stalled.cut((pinned - most) / cores + 1, core.steady_now());
  }

  net::Core& core;
  Shared& shared;
  std::shared_ptr<const Settings> settings;  // the newest; a request keeps what it began with
  http::HopIdentity identity;                // by them
  std::shared_ptr<const hop::PeerIdentity> peer_identity;  // likewise; null: nobody proves anything
  log::Seldom peer_complaints{limits::peer_complaint_interval};
  std::unique_ptr<hop::Upstreams> peers;
  std::unique_ptr<hop::Upstreams> origins;
  hop::OriginAccess origin_access;
  metrics::CoreSheet& sheet;
  StalledList stalled;
  std::size_t refreshes = 0;  // in the background, at this moment
  std::size_t fills = 0;      // requests to holders that wait for a head, at this moment
  // Holders that had not heard of a purge when limits::purges_patience was over: until when nobody
  // waits for that.
  std::map<std::string, SteadyPoint, std::less<>> behind_until{};
};

}  // namespace ringside::cache
