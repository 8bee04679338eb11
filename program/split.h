#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "program/admin_pages.h"
#include "shard/topology_json.h"

namespace CLI {
class App;
}

namespace ringside::program {

struct SplitOptions {
  std::string shard{};            // its number, or its name (Shard::at); empty: there is one choice
  std::vector<std::string> at{};  // where it is cut; `\n` stands between the values of a key
  std::vector<std::string> to{};  // who has the new ones; none: who has the least for its weight
  AdminPages pages{};             // of all processes of the tier
};

void add_split_flags(CLI::App& app, SplitOptions& out);

// What `GET /topology` told, with one shard more: what `PUT /topology` is to be asked for. Its
// version is the next one, so that of two who cut at once one is refused. An Error says what can't
// be cut, and why.
[[nodiscard]] Result<shard::TopologyRequest> split_topology(const std::string& answer,
                                                            const SplitOptions& options);

// `ringside split`: cuts a shard of a tier that runs, or places a key of its directory.
[[nodiscard]] Result<void> run_split(const SplitOptions& options);

}  // namespace ringside::program
