#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "net/origin_gate.h"

namespace ringside::net {

// The gates of all origins of a component, whose cores share them: what protects an origin knows
// all the requests that go there. Thread-safe.
class OriginGates {
 public:
  explicit OriginGates(const OriginGate::Terms& terms = {}) : terms_(terms) {}

  // The origin's gate; made when it is first asked for.
  [[nodiscard]] std::shared_ptr<OriginGate> at(const UpstreamAddress& address);
  // New settings: forgets the gates of origins that they do not name, and changes the cap.
  void keep(const std::set<UpstreamAddress>& named, std::size_t connections);

  // At some moment, of all origins together.
  struct Figures {
    std::uint64_t queued = 0;
    std::uint64_t in_use = 0;
    std::uint64_t refused_queue_full = 0;
    std::uint64_t refused_queue_timeout = 0;
    std::uint64_t refused_circuit_open = 0;
    std::uint64_t circuits_opened = 0;
    std::uint64_t circuits_open = 0;  // open or half-open now
  };
  [[nodiscard]] Figures figures(SteadyPoint now) const;
  // A line for each origin that is left alone because it has failed.
  [[nodiscard]] std::vector<std::string> failing(SteadyPoint now) const;

 private:
  const std::shared_ptr<OriginCounts> counts_ = std::make_shared<OriginCounts>();
  mutable std::mutex mutex_;  // of all below
  OriginGate::Terms terms_;
  std::map<UpstreamAddress, std::shared_ptr<OriginGate>> gates_;
};

}  // namespace ringside::net
