#include "net/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "net/name_lookup.h"

namespace ringside::net {
namespace {

// `addresses` with each family turned by `turn` places; the family that came first stays first.
std::vector<SocketAddress> in_turn(const std::vector<SocketAddress>& addresses, std::size_t turn,
                                   std::uint16_t port) {
  std::vector<SocketAddress> endpoints = addresses;
  for (SocketAddress& endpoint : endpoints) endpoint.port = port;
  const bool first_is_v4 = addresses.front().address.is_v4();
  const auto second = std::stable_partition(
      endpoints.begin(), endpoints.end(),
      [&](const SocketAddress& endpoint) { return endpoint.address.is_v4() == first_is_v4; });
  const auto turned = [&](auto begin, auto end) {
    if (begin == end) return;
    const auto places = turn % static_cast<std::size_t>(end - begin);
    std::rotate(begin, begin + static_cast<std::ptrdiff_t>(places), end);
  };
  turned(endpoints.begin(), second);
  turned(second, endpoints.end());
  return endpoints;
}

}  // namespace

Resolver::Resolver(Core& core, ErrorSource other_side, std::string servers)
    : core_(core), other_side_(other_side), servers_(std::move(servers)) {}

Resolver::~Resolver() {
  for (const auto& [host, known] : known_) {
    if (known->lookup) known->lookup->abandon();
  }
}

Task<Result<std::vector<SocketAddress>>> Resolver::resolve(const Endpoint& name,
                                                           SteadyPoint deadline) {
  auto& row = known_[name.host];
  if (!row) row = std::make_shared<Known>();
  const auto known = row;  // the row may be forgotten while we wait
  bool learned = core_.steady_now() < std::max(known->fresh_until, known->failed_until);
  if (!learned) {
    if (!known->lookup) begin_lookup(known, name.host);
    learned = co_await wait_for_lookup(*known, deadline);
  }
  const bool good = learned && known->failure.empty();
  if (!known->addresses.empty() && (good || core_.steady_now() < known->usable_until)) {
    co_return in_turn(known->addresses, known->turn++, name.port);
  }
  if (learned) {
    co_return Error{ErrorKind::unresolved, other_side_, Retry::yes,
                    fmt::format("cannot resolve {}: {}", name.host, known->failure)};
  }
  co_return Error{ErrorKind::timeout, other_side_, Retry::yes,
                  fmt::format("cannot resolve {}: no answer before the deadline", name.host)};
}

Task<bool> Resolver::wait_for_lookup(Known& known, SteadyPoint deadline) {
  const SteadyPoint now = core_.steady_now();
  if (now < known.usable_until) {
    deadline = std::min(deadline, known.lookup_since + limits::resolve_patience);
  }
  if (deadline <= now) co_return false;
  Waiter waiter(core_);
  known.waiting.push_back(waiter.bell());
  const bool woken = co_await waiter.wait(deadline);
  if (!woken) std::erase(known.waiting, waiter.bell());
  co_return woken;
}

void Resolver::begin_lookup(const std::shared_ptr<Known>& known, const std::string& host) {
  known->lookup_since = core_.steady_now();
  known->lookup = NameLookup::start(core_, host, servers_, [this, known](NameAnswer answer) {
    known->lookup.reset();
    learn(*known, std::move(answer));
    for (const auto& bell : std::exchange(known->waiting, {})) bell->wake();
  });
}

void Resolver::learn(Known& known, NameAnswer answer) const {
  const SteadyPoint now = core_.steady_now();
  known.failure = std::move(answer.reason);
  switch (answer.outcome) {
    case NameAnswer::Outcome::found:
      known.addresses = std::move(answer.addresses);
      known.fresh_until = now + std::clamp<Milliseconds>(answer.ttl, limits::resolve_ttl_least,
                                                         limits::resolve_ttl_most);
      known.usable_until = known.fresh_until + limits::resolve_stale_most;
      known.failed_until = {};
      break;
    case NameAnswer::Outcome::absent:
      known.addresses.clear();
      known.usable_until = {};
      [[fallthrough]];
    case NameAnswer::Outcome::failed:
      known.failed_until = now + limits::resolve_failure_ttl;
      break;
  }
}

bool Resolver::forget_old() {
  const SteadyPoint now = core_.steady_now();
  std::erase_if(known_, [&](const auto& row) {
    const Known& known = *row.second;
    return !known.lookup && known.waiting.empty() && known.usable_until <= now &&
           known.failed_until <= now;
  });
  return !known_.empty();
}

}  // namespace ringside::net
