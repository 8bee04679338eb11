#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "shard/state.h"

namespace ringside::shard {

// A state as `GET /topology` tells it, `PUT /topology` takes it, and files hold it:
// {"shards": [{"at": "", "owner": "cache-0"}, {"at": "m", "owner": "cache-1", "parent": 0}]}
// `owner` and `parent` may be left out; `fallback` is of the scheme `directory`. Where routes have
// schemes of their own, a shard may have a `route`. A `vbucket` has a table instead of shards:
// {"table": [{"member": "cache-0", "buckets": "0-8191"}, …]}
[[nodiscard]] nlohmann::ordered_json to_json(const State& state);

// Unknown keys and wrong types are errors that begin with the place. What the values mean is
// checked where a topology is made of them.
[[nodiscard]] Result<State> read_state(const nlohmann::json& value, const std::string& place);

// A file of `--state`: {"format": 1, "scheme": "range", "state": {…}}.
inline constexpr std::uint64_t state_format = 1;
struct StateFile {
  std::string scheme;
  State state;
};
[[nodiscard]] std::string state_file_text(const StateFile& file);
[[nodiscard]] Result<StateFile> parse_state_file(std::string_view text);

}  // namespace ringside::shard
