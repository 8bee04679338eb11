#pragma once

#include <memory>
#include <mutex>

#include "base/clock.h"
#include "program/countries.h"
#include "program/service.h"
#include "sidecar/sidecar.h"

namespace ringside::program {

// `ringside sidecar`.
class SidecarService final : public Service {
 public:
  // The clock and the access log must outlive the service.
  [[nodiscard]] static Result<std::unique_ptr<SidecarService>> start(
      const Configuration& configuration, const Clock& clock,
      hop::AccessLog* access_log = nullptr);

  [[nodiscard]] std::string title() const override { return "sidecar"; }
  [[nodiscard]] Endpoint address() const override { return sidecar_->address(); }
  [[nodiscard]] std::vector<metrics::Totals> totals() const override;
  [[nodiscard]] Membership membership() const override;
  [[nodiscard]] std::string not_ready() const override;
  [[nodiscard]] std::vector<std::string> details() const override;
  [[nodiscard]] Result<void> apply(const Configuration& next) override;
  [[nodiscard]] Result<Membership> propose(const shard::TopologyRequest& request) override;
  [[nodiscard]] Result<void> follow(const k8s::Roster& roster) override;
  [[nodiscard]] PurgeResult purge(const PurgeTarget& target) override;
  void drain() override;
  [[nodiscard]] std::size_t open_connections() const override;
  void stop() override;

 private:
  SidecarService() = default;
  // Other members under the present settings: reads no file, and can't fail.
  void publish(const Membership& membership);

  std::mutex control_;        // one change at a time; before `mutex_`
  std::mutex purge_;          // one purge at a time, and none once stopped; after `control_`
  bool stopped_ = false;      // of `purge_`
  mutable std::mutex mutex_;  // what is below but for the sidecar, which is set once
  Configuration configuration_;
  Membership membership_;
  Countries countries_;
  std::unique_ptr<sidecar::Sidecar> sidecar_;
};

// For /readyz: which database is in use.
[[nodiscard]] std::string describe(const Countries& countries);

}  // namespace ringside::program
