#pragma once

#include <map>
#include <string>

#include "k8s/endpoint_slice.h"
#include "k8s/failure.h"
#include "k8s/roster.h"
#include "k8s/stateful_set.h"
#include "k8s/target.h"

namespace ringside::k8s {

struct Assembled {
  Roster roster;
  std::string doubt;  // what seems wrong and has no error of its own, with the remedy; else empty
};

// THE rule that makes a roster of a StatefulSet and the slices of its service. Members are the
// StatefulSet's names, all of them and no others; a slice only tells where they are. Of several
// endpoints of one pod (slices may overlap while they are rewritten, and in dual-stack clusters
// each family has its own) the best is taken: not terminating before terminating, ready before not,
// serving before not, one whose port is known before others, IPv4 before IPv6, then the smaller
// address and port, so that every process takes the same.
//
// Ready is what is ready, serves and does not end: where a Service has publishNotReadyAddresses the
// API calls all of its endpoints ready. A replica whose place or port is not known is neither ready
// nor serving.
[[nodiscard]] Outcome<Assembled> assemble(const StatefulSet& set,
                                          const std::map<std::string, EndpointSlice>& slices,
                                          const Target& target);

}  // namespace ringside::k8s
