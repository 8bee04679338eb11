#include "program/cache_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <tuple>
#include <utility>

#include "metrics/sheet.h"
#include "program/peer_keys.h"
#include "program/settings.h"
#include "program/sidecar_service.h"
#include "program/values.h"

namespace ringside::program {

Result<std::unique_ptr<CacheService>> CacheService::start(const Configuration& configuration,
                                                          const Clock& clock,
                                                          hop::AccessLog* access_log) {
  auto membership = first_membership(configuration, configuration.peers);
  if (!membership) return membership.error();
  auto settings = make_cache_settings(configuration, *std::move(membership));
  if (!settings) return settings.error();
  auto keys = load_peer_keys(configuration);
  if (!keys) return keys.error();

  auto started = cache::Replica::start(
      {configuration.name, store_bytes(configuration.memory, configuration.machine),
       with_peer_keys(**settings, *std::move(keys)),
       make_setup(configuration, *configuration.listen, thread_count(configuration), access_log)},
      clock);
  if (!started) return start_failure(started.error(), configuration.place("listen"));
  std::unique_ptr<CacheService> service(new CacheService(configuration, clock));
  service->replica_ = *std::move(started);
  return service;
}

std::vector<metrics::Totals> CacheService::totals() const { return {replica_->sheet().totals()}; }

tier::Self CacheService::self() const {
  const metrics::Totals totals = replica_->sheet().totals();
  tier::Self self{replica_->name(), replica_->buckets_away(), replica_->buckets_to_give(),
                  replica_->leavers()};
  self.handoff.moved_responses = totals.store->moved_responses;
  self.handoff.moved_bytes = totals.store->moved_bytes;
  self.handoff.moves_waiting = totals.store->moves_waiting;
  self.handoff.fills = totals.shards[0].of("ringside_requests_total", metrics::Outcome::peer_fill);
  self.handoff.refusals = totals.of("ringside_refusals_total");
  return self;
}

// A replica that was started waits for those who may hold what it is asked for, and for its first
// members; one that has served goes on.
std::string CacheService::not_ready() const {
  if (has_heard_.load()) return {};
  const bool is_over = clock_.steady_now() - started_ >= limits::holdings_patience;
  std::string why = is_over ? std::string() : awaited();
  if (why.empty()) has_heard_.store(true);
  return why;
}

std::string CacheService::awaited() const {
  {
    const std::lock_guard lock(mutex_);
    if (discovers(configuration_) && membership()->topology->version() == 0) {
      return "the members are not known yet";
    }
  }
  const std::size_t peers = replica_->peers_unheard();
  if (peers == 0) return {};
  return fmt::format("{} other replica{} yet to tell what {}", peers,
                     peers == 1 ? " has" : "s have", peers == 1 ? "it holds" : "they hold");
}

std::vector<std::string> CacheService::details() const {
  const std::lock_guard lock(mutex_);
  const auto& [memory, machine] = std::tie(configuration_.memory, configuration_.machine);
  std::string line = fmt::format("store: {} at most", size_text(store_bytes(memory, machine)));
  if (memory.percent > 0) {
    line += fmt::format(", {}% of {}", memory.percent, size_text(machine.memory_bytes));
  }
  std::vector<std::string> lines = replica_->failing_origins();
  lines.insert(lines.begin(), std::move(line));
  return lines;
}

void CacheService::publish(MembershipPointer membership) {
  replica_->apply(with_members(*replica_->settings(), std::move(membership)));
}

Result<void> CacheService::publish(const Configuration& next, MembershipPointer membership) {
  auto settings = make_cache_settings(next, std::move(membership));
  if (!settings) return settings.error();
  auto keys = load_peer_keys(next);
  if (!keys) return keys.error();
  replica_->apply(with_peer_keys(**settings, *std::move(keys)));
  return {};
}

PurgeResult CacheService::purge(const http::PurgeTarget& target) {
  const std::lock_guard purging(purge_);
  if (stopped_) return {0, {"every replica: this one has stopped"}};
  const auto done = std::make_shared<std::promise<cache::PurgeReport>>();
  replica_->purge(target,
                  [done](cache::PurgeReport report) { done->set_value(std::move(report)); });
  auto report = done->get_future().get();
  return {report.removed, std::move(report.missing)};
}

std::optional<CutRequest> CacheService::cut_wanted() {
  std::unique_lock lock(mutex_);
  const cache::CutTerms terms{configuration_.split_above, configuration_.place_keys};
  lock.unlock();
  return cut_wanted_of(*replica_, terms);
}

void CacheService::give_all() {
  const std::lock_guard control(control_);
  replica_->give_all();
}

void CacheService::drain() {
  const std::lock_guard control(control_);
  replica_->drain();
}

std::size_t CacheService::open_connections() const { return replica_->open_connections(); }

void CacheService::stop() {
  const std::lock_guard control(control_);
  const std::lock_guard purging(purge_);
  stopped_ = true;
  replica_->stop();
}

}  // namespace ringside::program
