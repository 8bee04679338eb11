#include "sidecar/sidecar.h"

#include <atomic>
#include <future>
#include <mutex>

#include "base/limits.h"
#include "http/hop.h"
#include "http1/server.h"
#include "net/core.h"
#include "net/stack.h"
#include "net/waiter.h"
#include "sidecar/core_state.h"
#include "sidecar/purge.h"
#include "sidecar/session.h"

namespace ringside::sidecar {
namespace {

std::shared_ptr<const Snapshot> make_snapshot(std::shared_ptr<const Settings> settings,
                                              std::string_view mark, metrics::Sheet& sheet) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->identity = http::HopIdentity(settings->name, mark);
  for (const shard::Member& member : settings->membership->topology->members()) {
    snapshot->shards.push_back(sheet.shard(member.name));
  }
  const tier::Membership& membership = *settings->membership;
  sheet.set_topology(membership.topology->version(), membership.size(), membership.topology_id);
  snapshot->settings = std::move(settings);
  return snapshot;
}

Task<void> age_pools(CoreState& state) {
  net::Waiter waiter(state.core);
  while (!state.core.stopped()) {
    co_await waiter.wait(state.core.steady_now() + limits::pool_sweep);
    state.replicas.close_idle();
    state.origins.close_idle();
  }
}

}  // namespace

struct Sidecar::Impl {
  Impl(Start start, const Clock& clock)
      : sheet(metrics::Role::sidecar, "", start.cores),
        settings(std::move(start.settings)),
        cores("sidecar", start.cores, clock, start.stack ? *start.stack : net::kernel_stack()),
        server(
            cores, [this](http::Connection& client) { return serve(client); },
            [this](net::Core& core, const IpAddress& from) { return limit_of(core, from); }) {
    const auto snapshot = make_snapshot(settings, mark, sheet);
    gates.keep(net::origin_addresses(settings->routes), settings->origin_connections);
    for (std::size_t index = 0; index < cores.size(); ++index) {
      states.push_back(std::make_unique<CoreState>(
          cores[index], snapshot, sheet.core(index), purges, gates,
          start.access_log ? &start.access_log->queue(index) : nullptr));
      cores[index].spawn(age_pools(*states.back()));
      cores[index].spawn(states.back()->health.run());
    }
  }

  // Behind those who are believed about others there are many clients.
  [[nodiscard]] std::optional<std::size_t> limit_of(net::Core& core, const IpAddress& from) const {
    const Settings& current = *states[core.index()]->snapshot->settings;
    const bool proxy =
        any_contains(current.trusted, from) || any_contains(current.proxied_from, from);
    return proxy ? std::nullopt : std::optional(current.connections_per_address);
  }

  Task<void> serve(http::Connection& client) {
    Session session(*states[client.core().index()], client);
    co_await session.run();
  }

  const std::string mark = http::random_mark();  // stays, whatever the settings call us
  metrics::Sheet sheet;
  mutable std::mutex settings_mutex;
  std::shared_ptr<const Settings> settings;
  std::atomic<std::uint64_t> purges{0};
  net::OriginGates gates;
  // The cores end before what their coroutines use: CoreGroup::stop() waits until they have
  // unwound.
  net::CoreGroup cores;
  std::vector<std::unique_ptr<CoreState>> states;
  http::Server server;
};

Sidecar::Sidecar(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Sidecar::~Sidecar() { stop(); }

Result<std::unique_ptr<Sidecar>> Sidecar::start(Start start, const Clock& clock) {
  const Endpoint listen = start.listen;
  const bool threads = start.threads;
  auto impl = std::make_unique<Impl>(std::move(start), clock);
  if (auto listening = impl->server.listen(listen); !listening) return listening.error();
  if (threads) {
    impl->cores.start();
  } else {
    impl->cores.start_without_threads();
  }
  return std::unique_ptr<Sidecar>(new Sidecar(std::move(impl)));
}

Endpoint Sidecar::address() const { return impl_->server.address(); }

void Sidecar::apply(std::shared_ptr<const Settings> settings) {
  const auto snapshot = make_snapshot(settings, impl_->mark, impl_->sheet);
  {
    const std::lock_guard lock(impl_->settings_mutex);
    impl_->settings = std::move(settings);
  }
  const Settings& applied = *snapshot->settings;
  impl_->gates.keep(net::origin_addresses(applied.routes), applied.origin_connections);
  impl_->cores.on_each([&](net::Core& core) {
    CoreState& state = *impl_->states[core.index()];
    state.origin_access.forget();
    if (state.snapshot->settings->countries != snapshot->settings->countries) {
      state.countries.replace(snapshot->settings->countries);
    }
    state.origins.set_tls(snapshot->settings->tls);
    state.health.follow(snapshot->settings, snapshot->shards);
    state.snapshot = snapshot;
  });
}

std::shared_ptr<const Settings> Sidecar::settings() const {
  const std::lock_guard lock(impl_->settings_mutex);
  return impl_->settings;
}

const metrics::Sheet& Sidecar::sheet() const {
  const auto origins = impl_->gates.figures(impl_->cores[0].steady_now());
  impl_->sheet.set_origins({origins.queued, origins.in_use, origins.refused_queue_full,
                            origins.refused_queue_timeout, origins.refused_circuit_open,
                            origins.circuits_opened, origins.circuits_open});
  return impl_->sheet;
}

PurgeReport Sidecar::purge(const std::string& host, const std::string& path_and_query) {
  CoreState& state = *impl_->states.front();
  if (!impl_->cores.running()) {
    PurgeReport report;
    for (const auto& member : settings()->membership->topology->members()) {
      report.missing.push_back(member.name + ": not asked, this sidecar has stopped");
    }
    return report;
  }
  std::promise<PurgeReport> done;
  const auto ask = [&]() -> Task<void> {
    const auto snapshot = state.snapshot;
    done.set_value(co_await purge_replicas(state, *snapshot, host, path_and_query));
  };
  state.core.spawn(ask());
  return done.get_future().get();
}

void Sidecar::forget_nearby() noexcept { impl_->purges.fetch_add(1); }

void Sidecar::drain() { impl_->server.drain(); }

std::size_t Sidecar::open_connections() const noexcept { return impl_->server.open_connections(); }

void Sidecar::stop() { impl_->cores.stop(); }

net::CoreGroup& Sidecar::cores() noexcept { return impl_->cores; }

}  // namespace ringside::sidecar
