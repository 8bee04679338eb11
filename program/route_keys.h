#pragma once

#include <string_view>

#include "base/error.h"
#include "program/configuration.h"
#include "shard/shard_key.h"

namespace ringside::program {

// Whether every route can be asked for by its shard key: a header that a sidecar never passes on as
// it came tells no two requests apart, an id must be in the path, and a fallback must need none.
[[nodiscard]] Result<void> check_route_keys(const Configuration& configuration);

// Whether no sidecar passes on a header of that name as a client sent it.
[[nodiscard]] bool stays_here(const Configuration& configuration, std::string_view header);

}  // namespace ringside::program
