#include "program/cache_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "http1/wire.h"
#include "metrics/sheet.h"
#include "program/settings.h"
#include "program/sidecar_service.h"
#include "program/values.h"

namespace ringside::program {

Result<std::unique_ptr<CacheService>> CacheService::start(const Configuration& configuration,
                                                          const Clock& clock,
                                                          hop::AccessLog* access_log) {
  auto membership = first_membership(configuration, configuration.peers);
  if (!membership) return membership.error();
  auto settings = make_cache_settings(configuration, *membership);
  if (!settings) return settings.error();

  auto started = cache::Replica::start(
      {configuration.name,
       store_bytes(configuration.memory, configuration.machine),
       *settings,
       {*configuration.listen, thread_count(configuration), &http::wire(), access_log}},
      clock);
  if (!started) return start_failure(started.error());
  std::unique_ptr<CacheService> service(new CacheService());
  service->replica_ = *std::move(started);
  service->configuration_ = configuration;
  service->membership_ = *std::move(membership);
  return service;
}

std::vector<metrics::Totals> CacheService::totals() const { return {replica_->sheet().totals()}; }

Membership CacheService::membership() const {
  const std::lock_guard lock(mutex_);
  return membership_;
}

std::vector<std::string> CacheService::details() const {
  const std::lock_guard lock(mutex_);
  const auto& [memory, machine] = std::tie(configuration_.memory, configuration_.machine);
  std::string line = fmt::format("store: {} at most", size_text(store_bytes(memory, machine)));
  if (memory.percent > 0) {
    line += fmt::format(", {}% of {}", memory.percent, size_text(machine.memory_bytes));
  }
  return {std::move(line)};
}

void CacheService::publish(const Membership& membership) {
  replica_->apply(with_members(*replica_->settings(), membership));
  const std::lock_guard lock(mutex_);
  membership_ = membership;
}

Result<void> CacheService::apply(const Configuration& next) {
  const std::lock_guard control(control_);
  auto membership = discovers(next) ? with_scheme(membership_, next.scheme)
                                    : reloaded_membership(membership_, configuration_.peers,
                                                          next.peers, configuration_, next);
  if (!membership) return membership.error();
  auto settings = make_cache_settings(next, *membership);
  if (!settings) return settings.error();
  replica_->apply(*std::move(settings));
  const std::lock_guard lock(mutex_);
  configuration_ = next;
  membership_ = *std::move(membership);
  return {};
}

Result<Membership> CacheService::propose(const shard::TopologyRequest& request) {
  const std::lock_guard control(control_);
  if (discovers(configuration_)) return not_ours_to_change(configuration_);
  auto membership = next_membership(membership_, request);
  if (!membership) return membership.error();
  publish(*membership);
  return membership;
}

Result<void> CacheService::follow(const k8s::Roster& roster) {
  const std::lock_guard control(control_);
  auto membership = discovered_membership(membership_, roster, configuration_.scheme);
  if (!membership) return membership.error();
  publish(*membership);
  return {};
}

PurgeResult CacheService::purge(const PurgeTarget& target) {
  if (target.everything) return {replica_->purge_all(), {}};
  return {replica_->purge(target.host, target.path_and_query), {}};
}

void CacheService::drain() {
  const std::lock_guard control(control_);
  replica_->drain();
}

std::size_t CacheService::open_connections() const { return replica_->open_connections(); }

void CacheService::stop() {
  const std::lock_guard control(control_);
  replica_->stop();
}

}  // namespace ringside::program
