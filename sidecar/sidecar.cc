#include "sidecar/sidecar.h"

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <future>
#include <mutex>

#include "base/limits.h"
#include "http/core.h"
#include "http/server.h"
#include "http/waiter.h"
#include "sidecar/core_state.h"
#include "sidecar/purge.h"
#include "sidecar/session.h"

namespace ringside::sidecar {
namespace {

namespace asio = http::asio;

std::shared_ptr<const Snapshot> make_snapshot(std::shared_ptr<const Settings> settings,
                                              metrics::Sheet& sheet) {
  auto snapshot = std::make_shared<Snapshot>();
  for (const shard::Member& member : settings->topology->members()) {
    snapshot->shards.push_back(sheet.shard(member.name));
  }
  sheet.set_topology(settings->topology->version(), settings->topology->members().size(),
                     settings->topology_id);
  snapshot->settings = std::move(settings);
  return snapshot;
}

http::Task<void> age_pools(CoreState& state) {
  http::Waiter waiter(state.core);
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
        cores("sidecar", start.cores, clock),
        server(cores, [this](http::Connection& client) { return serve(client); }) {
    const auto snapshot = make_snapshot(settings, sheet);
    for (std::size_t index = 0; index < cores.size(); ++index) {
      states.push_back(
          std::make_unique<CoreState>(cores[index], snapshot, sheet.core(index), purges));
      asio::co_spawn(cores[index].context(), age_pools(*states.back()), asio::detached);
    }
  }

  http::Task<void> serve(http::Connection& client) {
    Session session(*states[client.core().index()], client);
    co_await session.run();
  }

  metrics::Sheet sheet;
  mutable std::mutex settings_mutex;
  std::shared_ptr<const Settings> settings;
  std::atomic<std::uint64_t> purges{0};
  // The cores end before what their coroutines use: CoreGroup::stop() waits until they have
  // unwound.
  http::CoreGroup cores;
  std::vector<std::unique_ptr<CoreState>> states;
  http::Server server;
};

Sidecar::Sidecar(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Sidecar::~Sidecar() { stop(); }

Result<std::unique_ptr<Sidecar>> Sidecar::start(Start start, const Clock& clock) {
  const Endpoint listen = start.listen;
  auto impl = std::make_unique<Impl>(std::move(start), clock);
  if (auto listening = impl->server.listen(listen); !listening) return listening.error();
  impl->cores.start();
  return std::unique_ptr<Sidecar>(new Sidecar(std::move(impl)));
}

Endpoint Sidecar::address() const { return impl_->server.address(); }

void Sidecar::apply(std::shared_ptr<const Settings> settings) {
  const auto snapshot = make_snapshot(settings, impl_->sheet);
  {
    const std::lock_guard lock(impl_->settings_mutex);
    impl_->settings = std::move(settings);
  }
  impl_->cores.on_each([&](http::Core& core) {
    CoreState& state = *impl_->states[core.index()];
    if (state.snapshot->settings->countries != snapshot->settings->countries) {
      state.countries.replace(snapshot->settings->countries);
    }
    state.snapshot = snapshot;
  });
}

std::shared_ptr<const Settings> Sidecar::settings() const {
  const std::lock_guard lock(impl_->settings_mutex);
  return impl_->settings;
}

const metrics::Sheet& Sidecar::sheet() const noexcept { return impl_->sheet; }

PurgeReport Sidecar::purge(const std::string& host, const std::string& path_and_query) {
  CoreState& state = *impl_->states.front();
  std::promise<PurgeReport> done;
  asio::co_spawn(
      state.core.context(),
      [&]() -> http::Task<void> {
        const auto snapshot = state.snapshot;
        done.set_value(co_await purge_replicas(state, *snapshot, host, path_and_query));
      },
      asio::detached);
  return done.get_future().get();
}

void Sidecar::drain() { impl_->server.drain(); }

std::size_t Sidecar::open_connections() const noexcept { return impl_->server.open_connections(); }

void Sidecar::stop() { impl_->cores.stop(); }

}  // namespace ringside::sidecar
