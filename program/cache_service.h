#pragma once

#include <memory>
#include <mutex>

#include "base/clock.h"
#include "cache/replica.h"
#include "program/service.h"

namespace ringside::program {

// `ringside cache`.
class CacheService final : public Service {
 public:
  // The clock and the access log must outlive the service.
  [[nodiscard]] static Result<std::unique_ptr<CacheService>> start(
      const Configuration& configuration, const Clock& clock,
      hop::AccessLog* access_log = nullptr);

  [[nodiscard]] std::string title() const override { return "cache " + replica_->name(); }
  [[nodiscard]] Endpoint address() const override { return replica_->address(); }
  [[nodiscard]] std::vector<metrics::Totals> totals() const override;
  [[nodiscard]] Membership membership() const override;
  [[nodiscard]] std::string not_ready() const override { return {}; }
  [[nodiscard]] std::vector<std::string> details() const override;
  [[nodiscard]] Result<void> apply(const Configuration& next) override;
  [[nodiscard]] Result<Membership> propose(const shard::TopologyRequest& request) override;
  [[nodiscard]] Result<void> follow(const k8s::Roster& roster) override;
  [[nodiscard]] PurgeResult purge(const PurgeTarget& target) override;
  void drain() override;
  [[nodiscard]] std::size_t open_connections() const override;
  void stop() override;

 private:
  CacheService() = default;
  // Other members under the present settings: reads no file, and can't fail.
  void publish(const Membership& membership);

  std::mutex control_;        // one change at a time; before `mutex_`
  mutable std::mutex mutex_;  // what is below but for the replica, which is set once
  Configuration configuration_;
  Membership membership_;
  std::unique_ptr<cache::Replica> replica_;
};

}  // namespace ringside::program
