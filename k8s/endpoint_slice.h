#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/address.h"

namespace ringside::k8s {

// One pod of a slice. Conditions that are not told are read as the API's documentation says:
// `ready` and `serving` true, `terminating` false; where `serving` alone is missing it is `ready`.
struct PodEndpoint {
  std::string pod;  // the name of its pod
  IpAddress address;
  std::string zone;
  bool ready = true;
  bool serving = true;
  bool terminating = false;
  bool operator==(const PodEndpoint&) const = default;
};

struct NamedPort {
  std::string name;
  std::uint16_t number = 0;
  bool operator==(const NamedPort&) const = default;
};

// What we use of a discovery.k8s.io EndpointSlice, v1 or v1beta1. Endpoints that are no pods, and
// slices of FQDNs, are left out.
struct EndpointSlice {
  std::string name;
  std::string resource_version;
  std::vector<NamedPort> ports;
  std::vector<PodEndpoint> endpoints;
  bool operator==(const EndpointSlice&) const = default;
};

}  // namespace ringside::k8s
