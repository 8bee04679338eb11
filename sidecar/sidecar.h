#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "hop/half.h"
#include "hop/topology_news.h"
#include "http/purge_target.h"
#include "metrics/sheet.h"
#include "sidecar/explanation.h"
#include "sidecar/purge_report.h"
#include "sidecar/replica_troubles.h"
#include "sidecar/settings.h"

namespace ringside::sidecar {

// The front: takes clients' requests and forwards each to the replica that owns its shard. All
// methods are for the control thread, one at a time.
class Sidecar final : public hop::Half {
 public:
  struct Start {
    std::shared_ptr<const Settings> settings;
    hop::Setup setup;
  };
  // Binds and serves. The clock must outlive the sidecar.
  [[nodiscard]] static Result<std::unique_ptr<Sidecar>> start(Start start, const Clock& clock);
  ~Sidecar();  // stop()

  // Publishes new settings to every core, whole; returns when all have them.
  void apply(std::shared_ptr<const Settings> settings);
  [[nodiscard]] std::shared_ptr<const Settings> settings() const;  // thread-safe
  // What is the matter with replicas.
  [[nodiscard]] const Troubles& troubles() const noexcept;
  // A line for each origin that is left alone because it has failed. Thread-safe.
  [[nodiscard]] std::vector<std::string> failing_origins() const;
  // Hears of the topologies that other members follow. Thread-safe.
  [[nodiscard]] hop::TopologyNews& topology_news() const noexcept;
  // Thread-safe; brings the figures of the origins up to date.
  [[nodiscard]] const metrics::Sheet& sheet() const;

  // Asks every replica to purge it. `end` is told of it once, within the request deadline, on a
  // core's thread, or before this returns: once stopped, no replica is asked and all are missing.
  using PurgeEnd = std::function<void(PurgeReport)>;
  void purge(http::PurgeTarget purged, PurgeEnd end);

  // Tells what would be done with a request now, and does nothing of it. `end` is told as that of
  // purge() is.
  using ExplanationEnd = std::function<void(Explanation)>;
  void explain(ExplainedRequest request, ExplanationEnd end);

  // Forgets what is kept nearby, on every core, for those who purge the replicas themselves: to be
  // called when all of them have. Thread-safe.
  void forget_nearby() noexcept;

 private:
  struct Impl;
  Sidecar(Start start, const Clock& clock);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::sidecar
