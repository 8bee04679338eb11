#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace ringside::replay {

// What besides a request's target tells its stored answer from others, as far as a log tells it.
struct TierKey {
  bool has_country = true;
  bool has_address = false;           // the client's
  std::string text = "country,path";  // the shard key as it is configured
  std::string unknown;                // why a log does not tell it; empty: it does
};

// The key of a tier by its GET /config. An Error where that is no such page.
[[nodiscard]] Result<TierKey> tier_key_from(std::string_view config);

}  // namespace ringside::replay
