#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cache/replica.h"
#include "shard/topology.h"

namespace ringside::program {

// A shard that is to be cut, or keys of a directory that are to be placed: what `POST /split` asks
// of the process that writes the state.
struct CutRequest {
  std::string scheme{};                 // that the asker knows; empty: whichever it is
  std::size_t shards = 0;               // that it knows; 0: whichever there are
  std::optional<std::size_t> number{};  // of the shard; absent: `shard` says which
  std::string shard{};            // a name (Shard::at), or a number; empty: there is one choice
  std::vector<std::string> at{};  // where it is cut (program/key_text.h)
  std::vector<std::string> to{};  // who has the new ones; none: who has the least for its weight
  bool only_new = false;          // see shard::Cut
  // Whose shard it is, where routes have schemes of their own; empty: of the tier's own scheme;
  // absent: `shard` or `number` says it.
  std::optional<std::string> route{};
  bool operator==(const CutRequest&) const = default;
};

// {"scheme": "range", "shards": 2, "shard": "0", "at": ["m"], "to": ["cache-1"], "only_new": true,
// "route": "films"}, each of which may be left out; `"number": 0` is the shard of that number,
// whatever the names are.
[[nodiscard]] std::string to_json(const CutRequest& request);
[[nodiscard]] Result<CutRequest> parse_cut_request(std::string_view text);

// The state after the cut. An Error says what can't be cut, and why; ErrorKind::refused: the asker
// is behind, the shard was cut since.
[[nodiscard]] Result<shard::State> state_after(const shard::Topology& topology,
                                               const CutRequest& request);

// Whether all shards of `present` are still there: who writes the state takes no others.
[[nodiscard]] Result<void> check_shards_kept(const shard::Topology& present,
                                             const shard::Topology& next);

// What a replica asks for, by --split-above and --place-keys.
[[nodiscard]] std::optional<CutRequest> cut_wanted_of(const cache::Replica& replica,
                                                      const cache::CutTerms& terms);

}  // namespace ringside::program
