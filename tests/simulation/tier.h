#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/replica.h"
#include "http1/connection.h"
#include "http1/server.h"
#include "sidecar/sidecar.h"
#include "tests/simulation/world.h"

namespace ringside::simulation {

// What the origin says of a target: of a few bytes, or of more than any buffer holds.
[[nodiscard]] std::string body_of(std::string_view target);

// Answers every GET with the target's body, and counts.
class SimulatedOrigin {
 public:
  explicit SimulatedOrigin(World& world);
  ~SimulatedOrigin() { cores_.stop(); }

  [[nodiscard]] Endpoint address() const { return server_.address(); }
  [[nodiscard]] const SimulatedHost& host() const noexcept { return machine_.host; }
  // By target.
  [[nodiscard]] const std::map<std::string, std::size_t>& fetches() const noexcept {
    return fetches_;
  }

 private:
  Task<void> serve(http::Connection& connection);

  World::Machine& machine_;
  std::map<std::string, std::size_t> fetches_;
  net::CoreGroup cores_;
  http::Server server_;
};

// Some clients, who share a list of targets, each asking for one after the other.
class SimulatedClients {
 public:
  SimulatedClients(World& world, const Endpoint& to, std::vector<std::string> targets,
                   std::size_t clients);
  ~SimulatedClients() { cores_.stop(); }

  // Whole answers.
  [[nodiscard]] std::size_t answered() const noexcept { return answered_; }
  [[nodiscard]] bool all_answered() const noexcept { return answered_ == targets_.size(); }
  // What was asked again, since the connection broke before the answer was whole.
  [[nodiscard]] std::size_t repeats() const noexcept { return repeats_; }
  // Whole answers that are not what the origin says.
  [[nodiscard]] const std::vector<std::string>& wrong() const noexcept { return wrong_; }

 private:
  Task<void> work();
  Task<Result<void>> ask(std::unique_ptr<http::Connection>& connection, const std::string& target);

  World& world_;
  World::Machine& machine_;
  const Endpoint to_;
  const std::vector<std::string> targets_;
  std::size_t next_ = 0;
  std::size_t answered_ = 0;
  std::size_t repeats_ = 0;
  std::vector<std::string> wrong_;
  net::CoreGroup cores_;
};

// An origin, replicas in front of it and a sidecar in front of them.
class SimulatedTier {
 public:
  SimulatedTier(World& world, std::size_t replicas);

  [[nodiscard]] Endpoint address() const { return sidecar_->address(); }
  [[nodiscard]] const SimulatedOrigin& origin() const noexcept { return origin_; }
  [[nodiscard]] World::Machine& sidecar_machine() noexcept { return sidecar_machine_; }
  [[nodiscard]] World::Machine& replica_machine(std::size_t index) noexcept {
    return *replica_machines_[index];
  }

 private:
  void add_replica(const std::string& name);
  void add_sidecar();

  World& world_;
  SimulatedOrigin origin_;
  World::Machine& sidecar_machine_;
  std::vector<World::Machine*> replica_machines_;
  std::vector<std::unique_ptr<cache::Replica>> replicas_;
  std::unique_ptr<sidecar::Sidecar> sidecar_;
};

}  // namespace ringside::simulation
