#include "tests/simulation/tier.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"
#include "link/wire.h"
#include "shard/schemes.h"
#include "tier/membership.h"

namespace ringside::simulation {
namespace {

// The control threads of a simulation have nobody to tell.
template <class T>
T started(Result<T> result) {
  RINGSIDE_CHECK(result);
  return *std::move(result);
}

}  // namespace

Shape with_peer_key(Shape shape, char key) {
  const auto keys =
      std::make_shared<const hop::PeerKeys>(*hop::PeerKeys::parse(std::string(32, key)));
  shape.of_replicas = [keys](cache::Settings& settings) { settings.peer_keys = keys; };
  shape.of_sidecars = [keys](sidecar::Settings& settings) { settings.peer_keys = keys; };
  return shape;
}

SimulatedTier::SimulatedTier(World& world, Shape shape)
    : world_(world),
      shape_(std::move(shape)),
      origin_(std::make_unique<SimulatedOrigin>(world, world.add_machine("origin"))),
      origin_address_(origin_->address()) {
  add_all();
}

SimulatedTier::SimulatedTier(World& world, Shape shape, const Endpoint& origin)
    : world_(world), shape_(std::move(shape)), origin_address_(origin) {
  add_all();
}

void SimulatedTier::add_all() {
  if (shape_.knows_peers) {
    world_.at_end_of_turn(
        [this](const World::Machine& of, net::Core&) { look_at_authorities(of); });
  }
  while (replicas_.size() < shape_.replicas) grow();
  for (std::size_t index = 0; index < replicas_.size(); ++index) tell_replica(index);
  while (sidecars_.size() < shape_.sidecars) {
    sidecars_.push_back(
        {&world_.add_machine(fmt::format("sidecar-{}", sidecars_.size())), nullptr});
    start_sidecar(sidecars_.size() - 1);
  }
}

std::vector<Endpoint> SimulatedTier::addresses() const {
  std::vector<Endpoint> all;
  for (std::size_t index = 0; index < sidecars_.size(); ++index) all.push_back(address(index));
  return all;
}

std::size_t SimulatedTier::named_in(const std::string& cache_status) const {
  for (std::size_t index = 0; index < replicas_.size(); ++index) {
    if (cache_status.starts_with(replicas_[index].machine->host.name() + ";")) return index;
  }
  return replicas_.size();
}

std::size_t SimulatedTier::flights() const {
  std::size_t sum = 0;
  for (const auto& place : replicas_) {
    if (place.process) sum += flights_of(*place.process);
  }
  return sum;
}

std::size_t SimulatedTier::flights_of(const cache::Replica& replica) {
  return replica.sheet().totals().store->flights;
}

void SimulatedTier::grow() {
  announce();
  start_replica(replicas_.size() - 1);
}

void SimulatedTier::announce() {
  replicas_.push_back({&world_.add_machine(fmt::format("cache-{}", replicas_.size())), nullptr});
  is_member_.push_back(true);
  weights_.push_back(1);
  was_started_.push_back(false);
  ++version_;
}

void SimulatedTier::remove(std::size_t index) {
  is_member_[index] = false;
  ++version_;
}

void SimulatedTier::weigh(std::size_t index, std::uint32_t weight) {
  weights_[index] = weight;
  ++version_;
}

bool SimulatedTier::cut(const shard::Cut& how) {
  auto state = shard::cut_state(*membership()->topology, how);
  if (!state) return false;
  shape_.state = *std::move(state);
  ++version_;
  return true;
}

std::size_t SimulatedTier::owner_of(std::string_view key) const {
  const auto all = membership();
  const auto owner = all->topology->owner({key, hash64(key)});
  const std::string& name = all->topology->members()[owner].name;
  const auto place = std::find_if(replicas_.begin(), replicas_.end(), [&](const auto& replica) {
    return replica.machine->host.name() == name;
  });
  return static_cast<std::size_t>(place - replicas_.begin());
}

bool SimulatedTier::is_settled() const {
  if (has_two_authorities() || unsettled_ != nullptr) return false;
  for (const auto& [machine, process] : replicas_) {
    if (process == nullptr) continue;
    const auto store = process->sheet().totals().store;
    if (store->buckets_away == 0 && process->buckets_to_give() == 0) continue;
    if (shape_.knows_peers) unsettled_ = machine;
    return false;
  }
  return true;
}

void SimulatedTier::look_at_authorities(const World::Machine& turn) {
  std::vector<const cache::Replica*> all;
  std::optional<std::size_t> at;
  if (unsettled_ == &turn) unsettled_ = nullptr;
  for (const auto& place : replicas_) {
    if (place.machine == &turn) at = all.size();
    all.push_back(place.process.get());
  }
  const auto breach = authorities_.look(all, at, world_.now());
  // What is broken mostly stays so for many turns.
  if (!breach || std::exchange(has_complained_, true)) return;
  world_.note(*breach);
  ADD_FAILURE() << *breach << ", " << world_.now().count() << " us after the world began";
}

void SimulatedTier::publish(std::size_t sidecar) {
  world_.note(fmt::format("sidecar-{} hears of {} members", sidecar,
                          std::count(is_member_.begin(), is_member_.end(), true)));
  sidecars_[sidecar].process->apply(settings_of_sidecars());
}

void SimulatedTier::tell_replica(std::size_t index) {
  if (shape_.knows_peers) replicas_[index].process->apply(settings_of_replicas());
}

void SimulatedTier::crash_replica(std::size_t index) {
  unsettled_ = nullptr;
  world_.kill(*replicas_[index].machine);
  replicas_[index].process.reset();
}

void SimulatedTier::crash_sidecar(std::size_t index) {
  world_.kill(*sidecars_[index].machine);
  sidecars_[index].process.reset();
}

void SimulatedTier::start_replica(std::size_t index) {
  was_started_[index] = true;
  auto& [machine, process] = replicas_[index];
  world_.revive(*machine);
  cache::Replica::Start start;
  start.name = machine->host.name();
  start.setup.wire = &link::wire();
  start.setup.listen = port_of(*machine);
  start.setup.cores = shape_.cores;
  start.settings = settings_of_replicas();
  start.setup.stack = &machine->host;
  start.setup.threads = false;
  if (shape_.of_starts) shape_.of_starts(start);
  process = started(cache::Replica::start(std::move(start), machine->clock));
  world_.run_on(*machine, process->cores());
}

void SimulatedTier::start_sidecar(std::size_t index) {
  auto& [machine, process] = sidecars_[index];
  world_.revive(*machine);
  sidecar::Sidecar::Start start;
  start.setup.wire = &link::wire();
  start.setup.listen = port_of(*machine);
  start.setup.cores = shape_.cores;
  start.settings = settings_of_sidecars();
  start.setup.stack = &machine->host;
  start.setup.threads = false;
  process = started(sidecar::Sidecar::start(std::move(start), machine->clock));
  world_.run_on(*machine, process->cores());
}

std::shared_ptr<const cache::Settings> SimulatedTier::settings_of_replicas() const {
  const http::RouteMatch everything;
  auto settings = std::make_shared<cache::Settings>();
  settings->routes = {{"all", everything, {net::Origin{origin_address_, 1}}}};
  settings->route_table = http::RouteTable::make({everything}).value();
  if (shape_.knows_peers) settings->membership = membership();
  // Without a bound, never, or one at a time.
  constexpr std::size_t fills_most[] = {std::numeric_limits<std::size_t>::max(), 0, 1};
  settings->fills_most = fills_most[world_.seed() % std::size(fills_most)];
  if (shape_.of_replicas) shape_.of_replicas(*settings);
  settings->insecure_peers = settings->peer_keys == nullptr;
  return settings;
}

tier::MembershipPointer SimulatedTier::membership() const {
  std::vector<shard::MemberAt> members;
  for (std::size_t index = 0; index < replicas_.size(); ++index) {
    const auto& place = replicas_[index];
    if (!is_member_[index]) continue;
    // As Kubernetes has it: a member is named first, and is somewhere later.
    const bool is_there = place.process != nullptr || was_started_[index];
    const Endpoint address = is_there ? port_of(*place.machine) : Endpoint{};
    members.push_back({{place.machine->host.name(), weights_[index], ""}, address});
  }
  return tier::make_membership(members, shape_.scheme, version_, shape_.state).value();
}

std::shared_ptr<const sidecar::Settings> SimulatedTier::settings_of_sidecars() const {
  const http::RouteMatch everything;
  auto settings = std::make_shared<sidecar::Settings>();
  sidecar::Route route;
  route.name = "all";
  route.origins = {net::Origin{origin_address_, 1}};
  settings->routes = {std::move(route)};
  settings->route_table = http::RouteTable::make({everything}).value();
  // As the program has it: a replica can say itself that its origin is silent.
  settings->first_byte_timeout =
      limits::connect_timeout + limits::first_byte_timeout + limits::replica_answer_allowance;
  settings->membership = membership();
  if (shape_.of_sidecars) shape_.of_sidecars(*settings);
  return settings;
}

}  // namespace ringside::simulation
