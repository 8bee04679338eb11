#include "net/origin_gates.h"

namespace ringside::net {

std::shared_ptr<OriginGate> OriginGates::at(const UpstreamAddress& address) {
  const std::lock_guard lock(mutex_);
  auto& gate = gates_[address];
  if (!gate) gate = std::make_shared<OriginGate>(address, terms_, counts_);
  return gate;
}

void OriginGates::keep(const std::set<UpstreamAddress>& named, std::size_t connections) {
  const std::lock_guard lock(mutex_);
  terms_.connections = connections;
  std::erase_if(gates_, [&](const auto& row) { return !named.contains(row.first); });
  for (const auto& [address, gate] : gates_) gate->set_connections(connections);
}

OriginGates::Figures OriginGates::figures(SteadyPoint now) const {
  Figures out;
  out.queued = counts_->queued.load();
  out.in_use = counts_->in_use.load();
  out.refused_queue_full = counts_->refused_queue_full.load();
  out.refused_queue_timeout = counts_->refused_queue_timeout.load();
  out.refused_circuit_open = counts_->refused_circuit_open.load();
  out.circuits_opened = counts_->circuits_opened.load();
  const std::lock_guard lock(mutex_);
  for (const auto& [address, gate] : gates_) {
    if (gate->circuit(now) != CircuitBreaker::State::closed) ++out.circuits_open;
  }
  return out;
}

std::vector<std::string> OriginGates::failing(SteadyPoint now) const {
  std::vector<std::string> lines;
  const std::lock_guard lock(mutex_);
  for (const auto& [address, gate] : gates_) {
    std::string failure = gate->failure(now);
    if (!failure.empty()) lines.push_back(std::move(failure));
  }
  return lines;
}

}  // namespace ringside::net
