#pragma once

#include <memory>

#include "base/clock.h"
#include "k8s/access.h"
#include "k8s/discovery.h"
#include "k8s/pace.h"
#include "k8s/target.h"

namespace ringside::k8s {

// Follows a StatefulSet and the EndpointSlices of its service (its spec.serviceName) at an API
// server: three threads, two that list and watch and one that assembles rosters of what they know
// and tells the follower. Nothing is told before both are known. `clock` must outlive it. SIGPIPE
// must be ignored (program/signals.h).
[[nodiscard]] std::unique_ptr<Discovery> watch_kubernetes(const Target& target,
                                                          const Access& access, const Clock& clock,
                                                          Discovery::Follower follower,
                                                          const Pace& pace = {});

}  // namespace ringside::k8s
