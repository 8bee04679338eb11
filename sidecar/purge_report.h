#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ringside::sidecar {

struct PurgeReport {
  std::size_t removed = 0;           // stored responses, on all replicas together
  std::vector<std::string> missing;  // replicas that did not confirm, and why
};

}  // namespace ringside::sidecar
