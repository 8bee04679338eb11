#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "program/plan.h"
#include "shard/member.h"

namespace ringside::program {

// What a topology may become.
struct PlanTarget {
  std::string to;      // `11`, `NAME[=HOST:PORT][;weight=N],…`; empty: the members stay
  std::string scheme;  // empty: stays, or is that of `document`
  std::optional<std::string> document{};  // a topology as JSON, instead of `to`
};

// A topology as `GET /topology` tells it or `PUT /topology` takes it; members may be without
// address. An Error names the place.
[[nodiscard]] Result<TopologyPointer> read_topology(std::string_view document);

// The topology that `present` is to become, with the next version. A number takes the last members
// away or adds more of the kind of NAME-0, NAME-1, …; a list is the whole membership. An Error says
// what is wrong and what to write.
[[nodiscard]] Result<TopologyPointer> target_topology(const shard::Topology& present,
                                                      const PlanTarget& target);

// `10%`, `0.5%`: a share, from 0 to 1.
[[nodiscard]] Result<double> parse_share(std::string_view text);

}  // namespace ringside::program
