#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ringside::cache {

// How many stored responses went here, and the names of the peers that have not confirmed the
// purge.
struct PurgeReport {
  std::size_t removed = 0;
  std::vector<std::string> missing;
};

}  // namespace ringside::cache
