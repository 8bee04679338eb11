#include "cache/replica.h"

#include <mutex>
#include <vector>

#include "cache/core_state.h"
#include "cache/invalidation.h"
#include "cache/session.h"
#include "http1/server.h"
#include "net/core.h"
#include "net/stack.h"
#include "net/waiter.h"

namespace ringside::cache {
namespace {

Task<void> age_pools(CoreState& state) {
  net::Waiter waiter(state.core);
  while (!state.core.stopped()) {
    co_await waiter.wait(state.core.steady_now() + limits::pool_sweep);
    state.origins.close_idle();
  }
}

}  // namespace

struct Replica::Impl {
  Impl(Start start, const Clock& clock)
      : shared(start.name, start.memory_bytes),
        sheet(metrics::Role::cache, start.name, start.cores),
        settings(std::move(start.settings)),
        cores(start.name, start.cores, clock, start.stack ? *start.stack : net::kernel_stack()),
        server(cores, [this](http::Connection& client) { return serve(client); }) {
    show_topology();
    shared.gates.keep(net::origin_addresses(settings->routes), settings->origin_connections);
    for (std::size_t index = 0; index < cores.size(); ++index) {
      states.push_back(std::make_unique<CoreState>(
          cores[index], shared, settings, sheet.core(index),
          start.access_log ? &start.access_log->queue(index) : nullptr));
      cores[index].spawn(age_pools(*states.back()));
    }
  }

  Task<void> serve(http::Connection& client) {
    Session session(*states[client.core().index()], client);
    co_await session.run();
  }

  void show_topology() {
    const auto& membership = settings->membership;
    if (!membership) return;
    sheet.set_topology(membership->topology->version(), membership->size(),
                       membership->topology_id);
  }

  Shared shared;
  metrics::Sheet sheet;
  mutable std::mutex settings_mutex;
  std::shared_ptr<const Settings> settings;
  // The cores end before what their coroutines use: CoreGroup::stop() waits until they have
  // unwound.
  net::CoreGroup cores;
  std::vector<std::unique_ptr<CoreState>> states;
  http::Server server;
};

Replica::Replica(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Replica::~Replica() { stop(); }

Result<std::unique_ptr<Replica>> Replica::start(Start start, const Clock& clock) {
  const Endpoint listen = start.listen;
  const bool threads = start.threads;
  auto impl = std::make_unique<Impl>(std::move(start), clock);
  if (auto listening = impl->server.listen(listen); !listening) return listening.error();
  if (threads) {
    impl->cores.start();
  } else {
    impl->cores.start_without_threads();
  }
  return std::unique_ptr<Replica>(new Replica(std::move(impl)));
}

const std::string& Replica::name() const noexcept { return impl_->shared.identity.name; }

Endpoint Replica::address() const { return impl_->server.address(); }

void Replica::apply(std::shared_ptr<const Settings> settings) {
  {
    const std::lock_guard lock(impl_->settings_mutex);
    impl_->settings = settings;
    impl_->show_topology();
  }
  impl_->shared.gates.keep(net::origin_addresses(settings->routes), settings->origin_connections);
  impl_->cores.on_each([&](net::Core& core) { impl_->states[core.index()]->follow(settings); });
}

std::shared_ptr<const Settings> Replica::settings() const {
  const std::lock_guard lock(impl_->settings_mutex);
  return impl_->settings;
}

const metrics::Sheet& Replica::sheet() const {
  const Store& store = impl_->shared.store;
  impl_->sheet.set_store({store.entries(), store.used_bytes(), store.limit_bytes(),
                          store.evictions(), impl_->shared.flights.size()});
  const auto origins = impl_->shared.gates.figures(impl_->cores[0].steady_now());
  impl_->sheet.set_origins({origins.queued, origins.in_use, origins.refused_queue_full,
                            origins.refused_queue_timeout, origins.refused_circuit_open,
                            origins.circuits_opened, origins.circuits_open});
  return impl_->sheet;
}

std::size_t Replica::purge(std::string_view host, std::string_view path_and_query) {
  const auto stored = stored_path_and_query(*settings(), host, path_and_query);
  return stored ? purge_shared(impl_->shared, uri_prefix(host, *stored)) : 0;
}

std::size_t Replica::purge_all() { return purge_shared(impl_->shared, {}); }

void Replica::drain() { impl_->server.drain(); }

std::size_t Replica::open_connections() const noexcept { return impl_->server.open_connections(); }

void Replica::stop() { impl_->cores.stop(); }

net::CoreGroup& Replica::cores() noexcept { return impl_->cores; }

}  // namespace ringside::cache
