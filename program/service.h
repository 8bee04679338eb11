#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "http/purge_target.h"
#include "http1/admin_server.h"
#include "k8s/roster.h"
#include "metrics/totals.h"
#include "program/configuration.h"
#include "program/membership.h"
#include "program/shard_cut.h"
#include "program/shared_state.h"
#include "program/stored_shards.h"
#include "shard/topology_json.h"
#include "tier/membership_json.h"

namespace ringside::program {

struct PurgeResult {
  std::size_t removed = 0;
  std::vector<std::string> missing;  // replicas that did not confirm
};

// What a process runs: a sidecar, a cache replica or a whole tier. Process drives it and serves its
// admin pages. Thread-safe: changes wait for each other, questions don't wait for changes.
class Service {
 public:
  virtual ~Service() = default;

  [[nodiscard]] virtual std::string title() const = 0;                    // "cache cache-3"
  [[nodiscard]] virtual Endpoint address() const = 0;                     // where clients connect
  [[nodiscard]] virtual std::vector<metrics::Totals> totals() const = 0;  // of its components
  // What it was told last of the tier; never null.
  [[nodiscard]] virtual MembershipPointer membership() const = 0;
  // The replica that this process is.
  [[nodiscard]] virtual tier::Self self() const { return {}; }
  // Of the replicas in it, by the shards of that topology, which is the one that they follow or
  // cuts shards of it. Those that follow another one are left out.
  [[nodiscard]] virtual std::vector<StoredShards> stored_shards(
      const shard::Topology& /*topology*/) const {
    return {};
  }
  // Why requests can't be answered now; empty: they can.
  [[nodiscard]] virtual std::string not_ready() const = 0;
  // One line each for /readyz.
  [[nodiscard]] virtual std::vector<std::string> details() const = 0;

  // Publishes a checked configuration whole, or changes nothing and says why. What
  // keep_fixed() names is as it was.
  [[nodiscard]] virtual Result<void> apply(const Configuration& next) = 0;
  // Membership from `PUT /topology`; refused where the members are discovered.
  [[nodiscard]] virtual Result<MembershipPointer> propose(
      const shard::TopologyRequest& request) = 0;
  // Cuts a shard, or places a key. Only where this process writes the state.
  [[nodiscard]] virtual Result<MembershipPointer> cut(const CutRequest& request) = 0;
  // The state that its writer published; refused where it is of another scheme.
  [[nodiscard]] virtual Result<void> follow_state(const shard::TopologyRequest& published) = 0;
  // Where the state is kept that every process of the tier writes; before the service is asked for
  // a cut. It must live until share_state(nullptr).
  virtual void share_state(SharedState* /*shared*/) {}
  // Reads it, and follows it; where nobody has written any yet, writes the one in use.
  // ErrorKind::refused: another process was first.
  [[nodiscard]] virtual Result<void> follow_shared() { return {}; }
  // Keeps the table of the scheme that has one (shard/vbucket.h), so that the next change of the
  // members goes from what the tier has now. Only where this process writes the state; elsewhere,
  // and where it is kept already, nothing. What can't be written is tried again with the next call.
  virtual void keep_table() {}
  // What is to be asked of the writer for shards of ours that are too full.
  [[nodiscard]] virtual std::optional<CutRequest> cut_wanted() { return std::nullopt; }
  // Membership from the source that is watched.
  [[nodiscard]] virtual Result<void> follow(const k8s::Roster& roster) = 0;
  // Who reads the source of the members again where peers tell of an unknown topology (see
  // hop::TopologyNews); empty: nobody any more.
  virtual void read_again_by(std::function<void()> /*read_again*/) {}
  [[nodiscard]] virtual PurgeResult purge(const http::PurgeTarget& target) = 0;

  // What it holds is given to other processes, while it goes on serving; of how many buckets there
  // is something to be given.
  virtual void give_all() {}
  [[nodiscard]] virtual std::size_t buckets_to_give() const { return 0; }
  virtual void drain() = 0;
  [[nodiscard]] virtual std::size_t open_connections() const = 0;
  virtual void stop() = 0;

  // The admin pages that only this service has.
  virtual void add_pages(http::AdminServer& /*server*/) {}
};

// Why `PUT /topology` is refused where the members are discovered.
[[nodiscard]] inline Error not_ours_to_change(const Configuration& configuration) {
  return Error{ErrorKind::refused, ErrorSource::client, Retry::no,
               "the members come from " + source_text(configuration) +
                   "; change them there, such as by `kubectl scale`"};
}

// Why a state is refused that another process writes.
[[nodiscard]] inline Error not_ours_to_cut(const Configuration& configuration) {
  if (!configuration.state_writer) {
    return Error{ErrorKind::refused, ErrorSource::client, Retry::no,
                 "state: nobody writes which shards there are; give the addresses of all processes "
                 "to `ringside split --admin`, or set --state-writer"};
  }
  const std::string writer = configuration.state_writer->text();
  return Error{ErrorKind::refused, ErrorSource::client, Retry::no,
               fmt::format("state: {} writes which shards there are; ask there, such as by "
                           "`ringside split --admin {}`",
                           writer, writer)};
}

// The error of a component that did not start: a port in use and its like are failures, not wrong
// usage. `place` is of the option that tells where it listens.
[[nodiscard]] inline Error start_failure(Error error, const std::string& place = {}) {
  error.kind = ErrorKind::internal;
  if (!place.empty()) error.message = place + ": " + error.message;
  return error;
}

}  // namespace ringside::program
