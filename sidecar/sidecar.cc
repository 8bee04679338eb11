#include "sidecar/sidecar.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "http/hop.h"
#include "net/core.h"
#include "net/waiter.h"
#include "sidecar/core_state.h"
#include "sidecar/handler.h"
#include "sidecar/purge.h"

namespace ringside::sidecar {
namespace {

std::shared_ptr<const Snapshot> make_snapshot(std::shared_ptr<const Settings> settings,
                                              Shared& shared, metrics::Sheet& sheet) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->identity = http::HopIdentity(settings->name, settings->via_name, shared.mark);
  if (settings->peer_keys) {
    snapshot->peer_identity = std::make_shared<const hop::PeerIdentity>(
        hop::PeerIdentity{hop::PeerRole::sidecar, fmt::format("{}-{}", settings->name, shared.mark),
                          settings->peer_keys});
  }
  for (const shard::Member& member : settings->membership->topology->members()) {
    snapshot->shards.push_back(sheet.shard(member.name));
  }
  const tier::Membership& membership = *settings->membership;
  snapshot->missed = shared.missed.follow(membership);
  sheet.set_topology(membership.topology->version(), membership.size(), membership.topology_id);
  shared.topologies.follow(membership.topology_id);
  snapshot->settings = std::move(settings);
  return snapshot;
}

Task<void> age_pools(CoreState& state) {
  net::Waiter waiter(state.core);
  bool keeps = false;
  while (!state.core.stopped()) {
    co_await waiter.wait(state.core.steady_now() +
                         (keeps ? limits::pool_sweep : limits::upstream_idle_timeout));
    const bool keeps_replicas = state.replicas->close_idle();
    keeps = state.origins->close_idle() || keeps_replicas;
  }
}

struct Explaining {
  const ExplainedRequest request;
  const Sidecar::ExplanationEnd end;
  NearExplanation near{};
};

// From the last core, whose near cache is its own as all are, to the first.
Task<void> explain_for(const std::vector<std::unique_ptr<CoreState>>& cores, std::size_t index,
                       std::shared_ptr<Explaining> explaining) {
  CoreState& state = *cores[index];
  look_nearby(state, explaining->request, explaining->near);
  if (index > 0) {
    cores[index - 1]->core.spawn(explain_for(cores, index - 1, std::move(explaining)));
    co_return;
  }
  auto explanation = co_await explain(state, explaining->request);
  explanation.near = explaining->near;
  explaining->end(std::move(explanation));
}

Task<void> purge_for(CoreState& state, http::PurgeTarget purged, Sidecar::PurgeEnd end) {
  const auto snapshot = state.snapshot;
  auto report = co_await purge_replicas(state, *snapshot, purged);
  end(std::move(report));
}

}  // namespace

struct Sidecar::Impl {
  Impl(const Start& start, net::CoreGroup& the_cores)
      : sheet(metrics::Role::sidecar, "", the_cores.size()), settings(start.settings) {
    const auto snapshot = make_snapshot(start.settings, shared, sheet);
    shared.gates.keep(net::origin_addresses(start.settings->routes),
                      start.settings->origin_connections);
    for (std::size_t index = 0; index < the_cores.size(); ++index) {
      net::Core& core = the_cores[index];
      cores.push_back(std::make_unique<CoreState>(core, shared, snapshot, sheet.core(index),
                                                  *start.setup.wire));
      core.spawn(age_pools(*cores.back()));
      core.spawn(cores.back()->health.run());
    }
  }

  // Behind those who are believed about others there are many clients.
  [[nodiscard]] std::optional<std::size_t> limit_of(net::Core& core, const IpAddress& from) const {
    const Settings& current = *cores[core.index()]->snapshot->settings;
    const bool proxy =
        any_contains(current.trusted, from) || any_contains(current.proxied_from, from);
    return proxy ? std::nullopt : std::optional(current.connections_per_address);
  }

  Shared shared;
  metrics::Sheet sheet;
  hop::Published<Settings> settings;
  std::vector<std::unique_ptr<CoreState>> cores;
};

Sidecar::Sidecar(Start start, const Clock& clock)
    : Half("sidecar", start.setup, clock), impl_(std::make_unique<Impl>(start, cores())) {}

Sidecar::~Sidecar() { stop(); }

Result<std::unique_ptr<Sidecar>> Sidecar::start(Start start, const Clock& clock) {
  const hop::Setup setup = start.setup;
  std::unique_ptr<Sidecar> sidecar(new Sidecar(std::move(start), clock));
  Impl& impl = *sidecar->impl_;
  const auto serving = sidecar->serve(
      setup,
      [&impl](net::Core& core) { return std::make_unique<Handler>(*impl.cores[core.index()]); },
      [&impl](net::Core& core, const IpAddress& from) { return impl.limit_of(core, from); });
  if (!serving) return serving.error();
  return sidecar;
}

void Sidecar::apply(std::shared_ptr<const Settings> settings) {
  const auto snapshot = make_snapshot(settings, impl_->shared, impl_->sheet);
  impl_->settings.set(std::move(settings));
  const Settings& applied = *snapshot->settings;
  impl_->shared.gates.keep(net::origin_addresses(applied.routes), applied.origin_connections);
  cores().on_each([&](net::Core& core) {
    CoreState& state = *impl_->cores[core.index()];
    state.origin_access.forget();
    if (state.snapshot->settings->countries != snapshot->settings->countries) {
      state.countries.replace(snapshot->settings->countries);
    }
    state.follow(snapshot);
  });
}

std::shared_ptr<const Settings> Sidecar::settings() const { return impl_->settings.get(); }

const Troubles& Sidecar::troubles() const noexcept { return impl_->shared.troubles; }

std::vector<std::string> Sidecar::failing_origins() const {
  return impl_->shared.gates.failing(cores()[0].clock().steady_now());
}

hop::TopologyNews& Sidecar::topology_news() const noexcept { return impl_->shared.topologies; }

const metrics::Sheet& Sidecar::sheet() const {
  const auto origins = impl_->shared.gates.figures(cores()[0].clock().steady_now());
  impl_->sheet.set_origins({origins.queued, origins.in_use, origins.refused_queue_full,
                            origins.refused_queue_timeout, origins.refused_circuit_open,
                            origins.circuits_opened, origins.circuits_open});
  return impl_->sheet;
}

void Sidecar::purge(http::PurgeTarget purged, PurgeEnd end) {
  CoreState& state = *impl_->cores.front();
  if (cores().running()) {
    state.core.spawn(purge_for(state, std::move(purged), std::move(end)));
    return;
  }
  PurgeReport report;
  for (const auto& member : settings()->membership->topology->members()) {
    report.missing.push_back(member.name + ": not asked, this sidecar has stopped");
  }
  end(std::move(report));
}

void Sidecar::explain(ExplainedRequest request, ExplanationEnd end) {
  if (cores().running()) {
    const std::size_t last = impl_->cores.size() - 1;
    auto explaining = std::make_shared<Explaining>(Explaining{std::move(request), std::move(end)});
    impl_->cores[last]->core.spawn(explain_for(impl_->cores, last, std::move(explaining)));
    return;
  }
  Explanation explanation;
  explanation.failure =
      Error{ErrorKind::internal, ErrorSource::ourselves, Retry::no, "this sidecar has stopped"};
  end(std::move(explanation));
}

void Sidecar::forget_nearby() noexcept { impl_->shared.forgotten.forget_everything(); }

}  // namespace ringside::sidecar
