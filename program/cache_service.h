#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cache/replica.h"
#include "program/member_service.h"

namespace ringside::program {

// `ringside cache`.
class CacheService final : public MemberService {
 public:
  // The clock and the access log must outlive the service.
  [[nodiscard]] static Result<std::unique_ptr<CacheService>> start(
      const Configuration& configuration, const Clock& clock, hop::AccessLog* access_log = nullptr);

  [[nodiscard]] std::string title() const override { return "cache " + replica_->name(); }
  [[nodiscard]] Endpoint address() const override { return replica_->address(); }
  [[nodiscard]] std::vector<metrics::Totals> totals() const override;
  [[nodiscard]] MembershipPointer membership() const override {
    return replica_->settings()->membership;
  }
  [[nodiscard]] tier::Self self() const override;
  [[nodiscard]] std::vector<StoredShards> stored_shards(
      const shard::Topology& topology) const override {
    auto stored = replica_->stored_by_shard(topology);
    if (!stored) return {};
    return {{replica_->name(), *std::move(stored)}};
  }
  [[nodiscard]] std::string not_ready() const override;
  [[nodiscard]] std::vector<std::string> details() const override;
  void read_again_by(std::function<void()> read_again) override {
    replica_->topology_news().read_again_by(std::move(read_again));
  }
  [[nodiscard]] PurgeResult purge(const http::PurgeTarget& target) override;
  [[nodiscard]] std::optional<CutRequest> cut_wanted() override;
  void give_all() override;
  [[nodiscard]] std::size_t buckets_to_give() const override { return replica_->buckets_to_give(); }
  void drain() override;
  [[nodiscard]] std::size_t open_connections() const override;
  void stop() override;

 private:
  CacheService(const Configuration& configuration, const Clock& clock)
      : MemberService(configuration), clock_(clock), started_(clock.steady_now()) {}
  // What it waits for before it is ready; empty: nothing.
  [[nodiscard]] std::string awaited() const;
  [[nodiscard]] const std::vector<shard::MemberAt>& listed(
      const Configuration& configuration) const override {
    return configuration.peers;
  }
  void publish(MembershipPointer membership) override;
  [[nodiscard]] Result<void> publish(const Configuration& next,
                                     MembershipPointer membership) override;

  std::mutex purge_;      // one purge at a time, and none once stopped; after `control_`
  bool stopped_ = false;  // of `purge_`
  const Clock& clock_;
  const SteadyPoint started_;
  mutable std::atomic<bool> has_heard_{false};  // or has waited for long enough
  std::unique_ptr<cache::Replica> replica_;     // set once
};

}  // namespace ringside::program
