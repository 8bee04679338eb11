#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "k8s/failure.h"

namespace ringside::k8s {

// The annotation that gives replicas their weights: `2` for all, or `cache-0=2,cache-3=4` by name
// (others have 1). One of weight 0 stays a replica and owns nothing.
inline constexpr std::string_view weight_annotation = "ringside.dev/weight";

// What we use of an apps/v1 StatefulSet.
struct StatefulSet {
  std::string name;
  std::string resource_version;
  std::uint64_t generation = 0;     // of its spec: the topology's version
  std::uint64_t replicas = 1;       // spec.replicas
  std::uint64_t first_ordinal = 0;  // spec.ordinals.start
  std::string service;              // spec.serviceName: the headless service
  std::string weight;               // the annotation as it stands; empty: none
  bool operator==(const StatefulSet&) const = default;

  // NAME-0 …, as many as there are to be.
  [[nodiscard]] std::vector<std::string> replica_names() const;
};

// The weights of those names. An annotation that makes no sense: a failure that names the remedy.
[[nodiscard]] Outcome<std::vector<std::uint32_t>> weights_of(const StatefulSet& set);

}  // namespace ringside::k8s
