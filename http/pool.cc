#include "http/pool.h"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>

#include "base/limits.h"

namespace ringside::http {
namespace {

// A socket or resolver in the making, broken off by its deadline or by the core's stop.
template <class Cancellable>
class Attempt final : public Closable, private Deadline {
 public:
  Attempt(Core& core, Cancellable& what, SteadyPoint deadline)
      : Deadline(core.deadlines()), what_(what) {
    core.add(*this);
    Deadline::set(deadline);
    if (core.stopped()) broken_off_ = true;
  }
  void close() noexcept override {
    broken_off_ = true;
    what_.cancel();
  }
  [[nodiscard]] bool broken_off() const noexcept { return broken_off_; }

 private:
  void expire() noexcept override { close(); }
  Cancellable& what_;
  bool broken_off_ = false;
};

struct ConnectingSocket {
  Socket socket;
  void cancel() noexcept {
    boost::system::error_code ignored;
    socket.cancel(ignored);
  }
};

using Resolver = asio::ip::basic_resolver<tcp, Executor>;

}  // namespace

Pool::Pool(Core& core, ErrorSource other_side) : core_(core), other_side_(other_side) {}

std::optional<Pool::Lease> Pool::take_idle(const Endpoint& address, bool must_be_alive) {
  const auto found = idle_.find(address);
  if (found == idle_.end()) return std::nullopt;
  // The youngest first: it is the least likely to have been closed, and the rest can age away.
  while (!found->second.empty()) {
    auto connection = std::move(found->second.back().connection);
    found->second.pop_back();
    if (must_be_alive && connection->is_stale()) continue;
    return Lease{std::move(connection), true};
  }
  return std::nullopt;
}

void Pool::give_back(const Endpoint& address, std::unique_ptr<Connection> connection) {
  auto& idle = idle_[address];
  if (idle.size() >= limits::idle_upstream_per_address || core_.draining()) return;
  connection->clear_deadline();
  idle.push_back({std::move(connection), core_.steady_now()});
}

void Pool::close_idle() {
  const SteadyPoint oldest = core_.steady_now() - limits::upstream_idle_timeout;
  for (auto row = idle_.begin(); row != idle_.end();) {
    auto& idle = row->second;
    while (!idle.empty() && idle.front().since <= oldest) idle.pop_front();
    row = idle.empty() ? idle_.erase(row) : std::next(row);
  }
  std::erase_if(resolved_, [&](const auto& row) { return row.second.until <= core_.steady_now(); });
}

Task<Result<std::vector<tcp::endpoint>>> Pool::resolve(const Endpoint& address,
                                                       SteadyPoint deadline) {
  boost::system::error_code code;
  const auto ip = asio::ip::make_address(address.host, code);
  if (!code) co_return std::vector<tcp::endpoint>{tcp::endpoint(ip, address.port)};
  const auto known = resolved_.find(address);
  if (known != resolved_.end() && known->second.until > core_.steady_now()) {
    co_return known->second.endpoints;
  }
  Resolver resolver(core_.executor());
  Attempt attempt(core_, resolver, deadline);
  const auto [failed, results] =
      co_await resolver.async_resolve(address.host, std::to_string(address.port), use_task);
  if (failed || attempt.broken_off()) {
    co_return Error{attempt.broken_off() ? ErrorKind::timeout : ErrorKind::refused, other_side_,
                    Retry::yes,
                    fmt::format("cannot resolve {}: {}", address.host, failed.message())};
  }
  std::vector<tcp::endpoint> endpoints;
  for (const auto& result : results) endpoints.push_back(result.endpoint());
  resolved_[address] = {endpoints, core_.steady_now() + limits::resolve_cache_ttl};
  co_return endpoints;
}

Task<Result<std::unique_ptr<Connection>>> Pool::open(const tcp::endpoint& endpoint,
                                                     SteadyPoint deadline) {
  ConnectingSocket connecting{Socket(core_.executor())};
  Attempt attempt(core_, connecting, deadline);
  const auto where = [&] {
    return Endpoint{endpoint.address().to_string(), endpoint.port()}.text();
  };
  if (!attempt.broken_off()) {
    const auto [code] = co_await connecting.socket.async_connect(endpoint, use_task);
    if (!code) {
      co_return std::make_unique<Connection>(core_, std::move(connecting.socket), other_side_,
                                             limits::upstream_buffer_start_bytes);
    }
    if (!attempt.broken_off()) {
      co_return Error{ErrorKind::refused, other_side_, Retry::yes,
                      fmt::format("cannot connect to {}: {}", where(), code.message())};
    }
  }
  co_return Error{ErrorKind::timeout, other_side_, Retry::yes,
                  fmt::format("no connection to {} before the deadline", where())};
}

Task<Result<Pool::Lease>> Pool::connect(const Endpoint& address, SteadyPoint deadline) {
  const auto endpoints = co_await resolve(address, deadline);
  if (!endpoints) co_return endpoints.error();
  Error last{ErrorKind::refused, other_side_, Retry::yes, address.host + " has no address"};
  for (const tcp::endpoint& endpoint : *endpoints) {
    auto opened = co_await open(endpoint, deadline);
    if (opened) co_return Lease{std::move(*opened), false};
    last = opened.error();
    if (core_.steady_now() >= deadline) break;
  }
  co_return last;
}

}  // namespace ringside::http
