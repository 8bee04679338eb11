#pragma once

#include <string>

#include "base/error.h"
#include "program/admin_pages.h"
#include "program/shard_cut.h"
#include "shard/topology_json.h"

namespace CLI {
class App;
}

namespace ringside::program {

struct SplitOptions {
  CutRequest cut{};
  AdminPages pages{};  // of all processes of the tier, or of the one that writes the state first
};

void add_split_flags(CLI::App& app, SplitOptions& out);

// What `GET /topology` told, with one shard more: what `PUT /topology` is to be asked for. Its
// version is the next one, so that of two who cut at once one is refused. An Error says what can't
// be cut, and why.
[[nodiscard]] Result<shard::TopologyRequest> split_topology(const std::string& answer,
                                                            const SplitOptions& options);

// `ringside split`: cuts a shard of a tier that runs, or places a key of its directory. The process
// that writes the state does it; where there is none, each process is told.
[[nodiscard]] Result<void> run_split(const SplitOptions& options);

}  // namespace ringside::program
