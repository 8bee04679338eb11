#include "http1/admin_server.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "http1/admin_handler.h"
#include "http1/conversation.h"
#include "http1/server.h"
#include "http1/spare_descriptors.h"

namespace ringside::http {
namespace {

constexpr TurnTerms admin_terms{.idle = limits::admin_idle_timeout,
                                .head = limits::admin_io_timeout,
                                .io = limits::admin_io_timeout,
                                .linger = limits::admin_linger_timeout,
                                .linger_size_bytes = 2 * limits::admin_body_size_bytes};

}  // namespace

struct AdminServer::Impl {
  void add(std::string method, std::string path, AdminSite::Route route);
  Task<void> serve(Connection& client);
  void count(bool one_more);
  // Until all have gone, but not for who takes longer than an answer may.
  void wait_until_left();
  // No descriptor is left for who comes.
  void make_room();

  AdminSite site;
  bool started = false;
  bool needs_workers = false;
  SystemClock clock;
  net::CoreGroup cores{"admin", 1, clock};
  Server server{cores,
                [this](Connection& client) { return serve(client); },
                // A crowd that comes at once has room until those that make room for it are gone.
                {.connections_per_core = 2 * limits::admin_connections,
                 .make_room = [this] { make_room(); }}};
  SpareDescriptors spares;

  std::mutex mutex;  // of what follows
  std::condition_variable left;
  std::size_t connected = 0;
};

void AdminServer::Impl::add(std::string method, std::string path, AdminSite::Route route) {
  RINGSIDE_CHECK(!started);
  needs_workers = needs_workers || !route.quick;
  const bool is_new =
      site.routes[std::move(path)].emplace(std::move(method), std::move(route)).second;
  RINGSIDE_CHECK(is_new);
}

void AdminServer::Impl::count(bool one_more) {
  const std::lock_guard lock(mutex);
  connected += one_more ? 1 : std::size_t(-1);
  if (connected == 0) left.notify_all();
}

Task<void> AdminServer::Impl::serve(Connection& client) {
  count(true);
  {
    AdminHandler handler(site, client);
    co_await converse(client, handler, nullptr, admin_terms);
  }
  client.core().post([this] { spares.fill(); });  // once its descriptor is free
  count(false);
}

void AdminServer::Impl::make_room() {
  if (!spares.release()) site.crowd.make_room();
}

void AdminServer::Impl::wait_until_left() {
  std::unique_lock lock(mutex);
  left.wait_for(lock, limits::admin_io_timeout, [this] { return connected == 0; });
}

AdminServer::AdminServer() : impl_(std::make_unique<Impl>()) {}

AdminServer::~AdminServer() { stop(); }

void AdminServer::on(std::string method, std::string path, Handler handler) {
  impl_->add(std::move(method), std::move(path), {std::move(handler), false});
}

void AdminServer::on_quick(std::string method, std::string path, Handler handler) {
  impl_->add(std::move(method), std::move(path), {std::move(handler), true});
}

void AdminServer::set_access(const AdminAccess& access) {
  impl_->cores.on_each([&](net::Core&) { impl_->site.access = access; });
}

Result<void> AdminServer::start(const Endpoint& listen) {
  RINGSIDE_CHECK(!impl_->started);
  if (const auto listening = impl_->server.listen(listen); !listening) {
    return listening.error();
  }
  impl_->started = true;
  impl_->spares.fill();
  if (impl_->needs_workers) impl_->site.workers.start();
  impl_->cores.start();
  return {};
}

Endpoint AdminServer::address() const { return impl_->server.address(); }

// 1. Nothing is accepted any more, and whoever is still asking is closed.
// 2. What the workers were given is answered.
// 3. The answers go out: to a client that does not read, for limits::admin_io_timeout.
// 4. With the connections gone, so is the thread.
void AdminServer::stop() {
  RINGSIDE_CHECK(!impl_->site.workers.include_caller());  // not from a handler
  if (!impl_->cores.running()) return;
  impl_->server.drain();
  impl_->cores.on_each([this](net::Core&) { impl_->site.crowd.dismiss(); });
  impl_->site.workers.stop();
  impl_->wait_until_left();
  impl_->cores.stop();
}

}  // namespace ringside::http
