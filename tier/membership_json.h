#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tier/buckets.h"
#include "tier/membership.h"

namespace ringside::tier {

// A replica, as it tells of itself.
struct Self {
  std::string name;                 // empty: it is none
  std::size_t buckets_away = 0;     // its own, that another one holds
  std::size_t buckets_to_give = 0;  // of others, that it has something of
  std::vector<Peer> leavers{};      // that are no members any more, and may hold something still
  // Of handoffs, since it began. Two looks give the rate.
  struct Handoff {
    std::uint64_t moved_responses = 0;  // into it
    std::uint64_t moved_bytes = 0;
    std::uint64_t fills = 0;
    std::uint64_t refusals = 0;
    std::uint64_t moves_waiting = 0;  // at present
  } handoff{};
};

// The body of `GET /topology`: shard::to_json with each member's address (null: nowhere at present)
// and, where the source tells, `ready`, `terminating` and `placed_in`, the zone that it is in now.
// Where `self` has a name, it tells which replica says so, how many of the buckets are its own (0
// where it is no member, null where the scheme is not by bucket), how far their handoff is, and
// which leavers it knows.
[[nodiscard]] std::string to_json(const Membership& membership, const Self& self = {});

}  // namespace ringside::tier
