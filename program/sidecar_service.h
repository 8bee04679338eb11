#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "program/countries.h"
#include "program/explain_page.h"
#include "program/member_service.h"
#include "sidecar/sidecar.h"

namespace ringside::program {

// `ringside sidecar`.
class SidecarService final : public MemberService {
 public:
  // The clock and the access log must outlive the service.
  [[nodiscard]] static Result<std::unique_ptr<SidecarService>> start(
      const Configuration& configuration, const Clock& clock, hop::AccessLog* access_log = nullptr);

  [[nodiscard]] std::string title() const override { return "sidecar"; }
  [[nodiscard]] Endpoint address() const override { return sidecar_->address(); }
  [[nodiscard]] std::vector<metrics::Totals> totals() const override;
  [[nodiscard]] MembershipPointer membership() const override {
    return sidecar_->settings()->membership;
  }
  [[nodiscard]] std::string not_ready() const override;
  [[nodiscard]] std::vector<std::string> details() const override;
  void read_again_by(std::function<void()> read_again) override {
    sidecar_->topology_news().read_again_by(std::move(read_again));
  }
  [[nodiscard]] PurgeResult purge(const http::PurgeTarget& target) override;
  [[nodiscard]] Result<MembershipPointer> propose(const shard::TopologyRequest& request) override;
  void drain() override;
  [[nodiscard]] std::size_t open_connections() const override;
  void stop() override;
  void add_pages(http::AdminServer& server) override { explain_.serve(server, *sidecar_); }

 private:
  using MemberService::MemberService;
  [[nodiscard]] const std::vector<shard::MemberAt>& listed(
      const Configuration& configuration) const override {
    return configuration.replicas;
  }
  void publish(MembershipPointer membership) override;
  [[nodiscard]] Result<void> publish(const Configuration& next,
                                     MembershipPointer membership) override;

  std::mutex purge_;      // one purge at a time, and none once stopped; after `control_`
  bool stopped_ = false;  // of `purge_`
  Countries countries_;   // of `mutex_`
  ExplainPage explain_;
  std::unique_ptr<sidecar::Sidecar> sidecar_;  // set once
};

// For /readyz: which database is in use.
[[nodiscard]] std::string describe(const Countries& countries);

}  // namespace ringside::program
