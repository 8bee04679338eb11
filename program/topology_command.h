#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "program/admin_pages.h"
#include "shard/topology_json.h"

namespace CLI {
class App;
}

namespace ringside::program {

struct TopologyOptions {
  std::string action{};              // get, add, remove or set
  std::vector<std::string> words{};  // what the action takes
  AdminPages pages{};                // of all processes; the first one tells the present topology
};

void add_topology_flags(CLI::App& app, TopologyOptions& out);
// What the action takes is there, as far as that can be told without a tier.
[[nodiscard]] Result<void> check_topology_flags(const TopologyOptions& options);

// What `PUT /topology` is to be asked for. `answer`: what `GET /topology` told; `document`: what is
// to be set. The version is the next one, so that of two who change a topology at once one is
// refused. An Error says what can't be done, and why.
[[nodiscard]] Result<shard::TopologyRequest> with_members_added(
    const std::string& answer, const std::vector<std::string>& members);
[[nodiscard]] Result<shard::TopologyRequest> with_members_removed(
    const std::string& answer, const std::vector<std::string>& names);
[[nodiscard]] Result<shard::TopologyRequest> with_document(const std::string& answer,
                                                           const std::string& document);

// `ringside topology`: prints a tier's topology, or changes it and tells who has taken it.
[[nodiscard]] Result<void> run_topology(const TopologyOptions& options, const Clock& clock);

}  // namespace ringside::program
