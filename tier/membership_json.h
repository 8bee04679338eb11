#pragma once

#include <string>
#include <string_view>

#include "tier/membership.h"

namespace ringside::tier {

// The body of `GET /topology`: shard::to_json with each member's address (null: nowhere at present)
// and, where the source tells, `ready`, `terminating` and `placed_in`, the zone that it is in now.
// Where `own_name` is not empty, `self` tells which replica says so, and how many of the buckets
// are its own: 0 where it is no member, null where the scheme is not by bucket.
[[nodiscard]] std::string to_json(const Membership& membership, std::string_view own_name = {});

}  // namespace ringside::tier
