#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/replica.h"
#include "shard/state.h"
#include "sidecar/sidecar.h"
#include "tests/simulation/authorities.h"
#include "tests/simulation/origin.h"
#include "tests/simulation/world.h"

namespace ringside::simulation {

struct Shape {
  std::size_t replicas = 3;
  std::size_t sidecars = 1;
  std::size_t cores = 1;     // of each replica and each sidecar
  bool knows_peers = false;  // replicas are told of each other
  std::string scheme = "ring";
  shard::State state = {};  // of the scheme, where it has one
  // Changes what is as it comes otherwise.
  std::function<void(cache::Settings&)> of_replicas = {};
  std::function<void(sidecar::Settings&)> of_sidecars = {};
  std::function<void(cache::Replica::Start&)> of_starts = {};  // of replicas
};

// The same, of members that prove that they know `key`.
[[nodiscard]] Shape with_peer_key(Shape shape, char key = 'k');

// An origin, replicas in front of it and sidecars in front of them.
class SimulatedTier {
 public:
  SimulatedTier(World& world, Shape shape);
  SimulatedTier(World& world, Shape shape, const Endpoint& origin);  // another's, in place of ours

  [[nodiscard]] std::size_t sidecars() const noexcept { return sidecars_.size(); }
  [[nodiscard]] std::size_t replicas() const noexcept { return replicas_.size(); }
  [[nodiscard]] Endpoint address(std::size_t sidecar = 0) const {
    return port_of(*sidecars_[sidecar].machine);
  }
  [[nodiscard]] std::vector<Endpoint> addresses() const;
  [[nodiscard]] SimulatedOrigin& origin() noexcept { return *origin_; }
  [[nodiscard]] World::Machine& sidecar_machine(std::size_t index) noexcept {
    return *sidecars_[index].machine;
  }
  [[nodiscard]] World::Machine& replica_machine(std::size_t index) noexcept {
    return *replicas_[index].machine;
  }
  [[nodiscard]] sidecar::Sidecar& sidecar(std::size_t index = 0) noexcept {
    return *sidecars_[index].process;
  }
  [[nodiscard]] cache::Replica& replica(std::size_t index) noexcept {
    return *replicas_[index].process;
  }
  [[nodiscard]] bool has_replica(std::size_t index) const noexcept {
    return replicas_[index].process != nullptr;
  }
  // The replica that a reply names.
  [[nodiscard]] std::size_t named_in(const std::string& cache_status) const;
  // Answers that are fetched at present, by all replicas, or by one.
  [[nodiscard]] std::size_t flights() const;
  [[nodiscard]] static std::size_t flights_of(const cache::Replica& replica);

  // The process goes without a word; the next on its machine is a new one, with an empty store.
  void crash_replica(std::size_t index);
  void start_replica(std::size_t index);
  void crash_sidecar(std::size_t index);
  void start_sidecar(std::size_t index);

  // Starts one more replica, of which nobody knows until publish().
  void grow();
  // One more member, which is nowhere until start_replica() and publish().
  void announce();
  // That replica is no member any more, of which nobody knows until publish(). It goes on running.
  void remove(std::size_t index);
  // It is to have more or less than before, of which nobody knows until publish().
  void weigh(std::size_t index, std::uint32_t weight);
  // Cuts a shard of the scheme. False: it can't be cut so.
  bool cut(const shard::Cut& how);
  // Whose a key is when everybody knows of all changes.
  [[nodiscard]] std::size_t owner_of(std::string_view key) const;
  // Members are what they are, but their source begins to count again, as a StatefulSet does that
  // was made anew.
  void begin_anew() noexcept { version_ = 1; }
  // Its process is told to end: the others take what it holds.
  void leave(std::size_t index) { replicas_[index].process->give_all(); }
  // Of how many buckets it holds something that others are to take.
  [[nodiscard]] std::size_t buckets_to_give(std::size_t index) const {
    return replicas_[index].process->buckets_to_give();
  }
  // Of how many buckets it is to have what others hold.
  [[nodiscard]] std::size_t buckets_away(std::size_t index) const {
    return replicas_[index].process->sheet().totals().store->buckets_away;
  }
  [[nodiscard]] std::size_t stored_responses(std::size_t index) const {
    return replicas_[index].process->sheet().totals().store->entries;
  }
  // Some replicas can't hear each other from now on, nor answer where they do: others may take over
  // what they still hold (see Authorities). Until join().
  void part() noexcept { authorities_.part(); }
  void join() { authorities_.join(world_.now()); }
  [[nodiscard]] bool has_two_authorities() const noexcept { return authorities_.has_two(); }
  // Whether every member holds what it is to hold, and nobody else anything.
  [[nodiscard]] bool is_settled() const;
  // Tells a sidecar of all members.
  void publish(std::size_t sidecar);
  // Likewise a replica, where they know of each other.
  void tell_replica(std::size_t index);

 private:
  template <class Process>
  struct Place {
    World::Machine* machine;
    std::unique_ptr<Process> process;
  };
  void add_all();
  [[nodiscard]] std::shared_ptr<const sidecar::Settings> settings_of_sidecars() const;
  [[nodiscard]] std::shared_ptr<const cache::Settings> settings_of_replicas() const;
  [[nodiscard]] tier::MembershipPointer membership() const;

  // After each turn.
  void look_at_authorities(const World::Machine& turn);

  World& world_;
  Shape shape_;
  std::unique_ptr<SimulatedOrigin> origin_;
  const Endpoint origin_address_;
  std::vector<Place<cache::Replica>> replicas_;
  std::vector<bool> is_member_;  // of these
  std::vector<std::uint32_t> weights_;
  std::vector<bool> was_started_;
  std::vector<Place<sidecar::Sidecar>> sidecars_;
  std::uint64_t version_ = 1;
  Authorities authorities_;
  bool has_complained_ = false;
  // By which it was not settled when it was last asked. Only a turn of its own can change that, or
  // its end, and asking all of them after each turn takes most of a long wait. Null: to be asked.
  mutable const World::Machine* unsettled_ = nullptr;
};

}  // namespace ringside::simulation
