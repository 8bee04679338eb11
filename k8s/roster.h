#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/address.h"

namespace ringside::k8s {

// One replica as its source tells of it now. Name and weight make it a member; all else is beside
// the topology and never changes who owns what.
struct Replica {
  std::string name;
  std::uint32_t weight = 1;
  Endpoint address;          // host empty: it is nowhere at present, not yet or no more
  std::string zone;          // empty: not told
  bool ready = false;        // may be sent new requests
  bool serving = false;      // still answers; with `terminating`: what it has in hand
  bool terminating = false;  // is about to end
  bool operator==(const Replica&) const = default;
};

// All replicas, members whether they are there or not.
struct Roster {
  std::uint64_t version = 0;  // as the source numbers it; 0: it does not
  std::vector<Replica> replicas;
  bool operator==(const Roster&) const = default;
};

}  // namespace ringside::k8s
