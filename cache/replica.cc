#include "cache/replica.h"

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "cache/bucket_moves.h"
#include "cache/core_state.h"
#include "cache/full_shards.h"
#include "cache/handler.h"
#include "cache/invalidation.h"
#include "cache/peer_talk.h"
#include "cache/purge_relay.h"
#include "cache/shard_counts.h"
#include "net/core.h"
#include "net/waiter.h"

namespace ringside::cache {
namespace {

Task<void> age_pools(CoreState& state) {
  net::Waiter waiter(state.core);
  bool keeps = false;
  while (!state.core.stopped()) {
    co_await waiter.wait(state.core.steady_now() +
                         (keeps ? limits::pool_sweep : limits::upstream_idle_timeout));
    const bool keeps_peers = state.peers->close_idle();
    keeps = state.origins->close_idle() || keeps_peers;
  }
}

Task<void> purge_for(CoreState& core, http::PurgeTarget purged, Replica::PurgeEnd end) {
  end(co_await purge_everywhere(core, std::move(purged)));
}

}  // namespace

struct Replica::Impl {
  Impl(Start start, net::CoreGroup& the_cores)
      : shared(start.name, start.memory_bytes),
        sheet(metrics::Role::cache, start.name, the_cores.size()),
        settings(start.settings) {
    follow(*start.settings);
    shared.gates.keep(net::origin_addresses(start.settings->routes),
                      start.settings->origin_connections);
    for (std::size_t index = 0; index < the_cores.size(); ++index) {
      net::Core& core = the_cores[index];
      cores.push_back(std::make_unique<CoreState>(core, shared, start.settings, sheet.core(index),
                                                  *start.setup.wire));
      core.spawn(age_pools(*cores.back()));
    }
    cores.front()->core.spawn(talk_to_peers(*cores.front()));
    cores.front()->core.spawn(move_buckets(*cores.front()));
    shared.store.on_pressure([this] { relieve(); });
  }

  // Each core by itself; not again before all have done so.
  void relieve() {
    std::size_t nobody = 0;
    if (!relieving.compare_exchange_strong(nobody, cores.size())) return;
    for (const auto& state : cores) {
      state->core.post([this, &core = *state] {
        core.relieve(cores.size());
        relieving.fetch_sub(1);
      });
    }
  }

  // Of connections from one address that prove nothing. Where nobody has to, all may be members'.
  [[nodiscard]] std::optional<std::size_t> limit_of(net::Core& core) const {
    const Settings& current = *cores[core.index()]->settings;
    return current.insecure_peers ? std::nullopt : std::optional(current.connections_per_address);
  }

  void follow(const Settings& next) {
    const tier::MembershipPointer& of = next.membership;
    // Before others may take what was cut: it is found under its own number then.
    if (of) shared.store.follow(of->topology);
    shared.holders.change([&](tier::Authority& authority) { authority.follow(of); });
    if (!of) return;
    sheet.set_topology(of->topology->version(), of->size(), of->topology_id);
    shared.topologies.follow(of->topology_id);
  }

  Shared shared;
  metrics::Sheet sheet;
  hop::Published<Settings> settings;
  std::vector<std::unique_ptr<CoreState>> cores;
  FullShards full_shards;
  std::atomic<std::size_t> relieving{0};  // cores that have yet to
};

Replica::Replica(Start start, const Clock& clock)
    : Half(start.name, start.setup, clock),
      impl_(std::make_unique<Impl>(std::move(start), cores())) {}

Replica::~Replica() { stop(); }

Result<std::unique_ptr<Replica>> Replica::start(Start start, const Clock& clock) {
  const hop::Setup setup = start.setup;
  std::unique_ptr<Replica> replica(new Replica(std::move(start), clock));
  Impl& impl = *replica->impl_;
  const auto serving = replica->serve(
      setup,
      [&impl](net::Core& core) { return std::make_unique<Handler>(*impl.cores[core.index()]); },
      [&impl](net::Core& core, const IpAddress&) { return impl.limit_of(core); });
  if (!serving) return serving.error();
  return replica;
}

const std::string& Replica::name() const noexcept { return impl_->shared.name; }

void Replica::apply(std::shared_ptr<const Settings> settings) {
  impl_->settings.set(settings);
  impl_->follow(*settings);
  impl_->shared.gates.keep(net::origin_addresses(settings->routes), settings->origin_connections);
  cores().on_each([&](net::Core& core) { impl_->cores[core.index()]->follow(settings); });
}

void Replica::give_all() {
  impl_->shared.holders.change([](tier::Authority& authority) { authority.drain(); });
}

std::size_t Replica::buckets_to_give() const {
  return settings()->move_rate_mib_s > 0 ? impl_->shared.holders.to_be_given() : 0;
}

std::size_t Replica::buckets_away() const { return impl_->shared.holders.away(); }

std::vector<tier::Peer> Replica::leavers() const {
  return impl_->shared.holders.reachable(tier::Authority::Among::leavers);
}

std::optional<std::vector<std::size_t>> Replica::stored_by_shard(
    const shard::Topology& topology) const {
  const auto membership = settings()->membership;
  if (!membership) return std::nullopt;
  return cache::stored_by_shard(impl_->shared.store, *membership->topology, topology);
}

std::size_t Replica::peers_unheard() const { return impl_->shared.holders.unheard(); }

std::optional<shard::Cut> Replica::cut_wanted(const shard::Topology& topology,
                                              const CutTerms& terms) const {
  return impl_->full_shards.cut(topology, impl_->shared.name, terms, impl_->shared.store);
}

std::shared_ptr<const Settings> Replica::settings() const { return impl_->settings.get(); }

std::vector<std::string> Replica::failing_origins() const {
  return impl_->shared.gates.failing(cores()[0].clock().steady_now());
}

const Holders& Replica::holders() const noexcept { return impl_->shared.holders; }

hop::TopologyNews& Replica::topology_news() const noexcept { return impl_->shared.topologies; }

const metrics::Sheet& Replica::sheet() const {
  const Shared& shared = impl_->shared;
  const Store& store = shared.store;
  impl_->sheet.set_store({store.entries(), store.used_bytes(), store.limit_bytes(),
                          store.evictions(), shared.flights.size(), shared.holders.away(),
                          shared.moved.responses.load(), shared.moved.bytes.load(),
                          shared.moved.left_out.load(), shared.moved.waiting.load()});
  const auto origins = impl_->shared.gates.figures(cores()[0].clock().steady_now());
  impl_->sheet.set_origins({origins.queued, origins.in_use, origins.refused_queue_full,
                            origins.refused_queue_timeout, origins.refused_circuit_open,
                            origins.circuits_opened, origins.circuits_open});
  return impl_->sheet;
}

std::size_t Replica::purge(const http::PurgeTarget& purged,
                           const std::optional<tier::PurgeNumber>& number) {
  const SteadyPoint now = cores()[0].clock().steady_now();
  const PurgeLog::Applying applying(impl_->shared.purges, number, now);
  http::PurgeTarget stored = purged;
  if (purged.scope == http::PurgeTarget::Scope::uri) {
    auto target = stored_path_and_query(*settings(), purged.host, purged.path_and_query);
    if (!target) return 0;
    stored.path_and_query = *std::move(target);
  }
  return purge_shared(impl_->shared, purged_prefix(stored));
}

void Replica::purge(http::PurgeTarget purged, PurgeEnd end) {
  if (cores().running()) {
    CoreState& core = *impl_->cores.front();
    return core.core.spawn(purge_for(core, std::move(purged), std::move(end)));
  }
  end({0, {"every replica: this one has stopped"}});
}

}  // namespace ringside::cache
