#include "program/sidecar_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "http1/wire.h"
#include "metrics/sheet.h"
#include "program/settings.h"

namespace ringside::program {

std::string describe(const Countries& countries) {
  if (!countries) return "countries: no database, every country is ZZ";
  return fmt::format("countries: {}, {}", countries->path(), countries->description());
}

Result<std::unique_ptr<SidecarService>> SidecarService::start(const Configuration& configuration,
                                                              const Clock& clock,
                                                              hop::AccessLog* access_log) {
  auto countries = open_countries_at_start(configuration);
  if (!countries) return countries.error();
  auto membership = first_membership(configuration, configuration.replicas);
  if (!membership) return membership.error();
  auto settings = make_sidecar_settings(configuration, *membership, *countries);
  if (!settings) return settings.error();

  auto started = sidecar::Sidecar::start(
      {*settings, {*configuration.listen, thread_count(configuration), &http::wire(), access_log}},
      clock);
  if (!started) return start_failure(started.error());
  std::unique_ptr<SidecarService> service(new SidecarService());
  service->sidecar_ = *std::move(started);
  service->configuration_ = configuration;
  service->membership_ = *std::move(membership);
  service->countries_ = *std::move(countries);
  return service;
}

std::vector<metrics::Totals> SidecarService::totals() const { return {sidecar_->sheet().totals()}; }

Membership SidecarService::membership() const {
  const std::lock_guard lock(mutex_);
  return membership_;
}

std::string SidecarService::not_ready() const {
  const std::lock_guard lock(mutex_);
  // Even one that may ask the origin waits for the first news: else a start would be a surge there.
  if (discovers(configuration_) && membership_.topology->version() == 0) {
    return "the members are not known yet";
  }
  const bool nowhere = std::all_of(membership_.addresses.begin(), membership_.addresses.end(),
                                   [](const Endpoint& address) { return address.host.empty(); });
  const bool without = nowhere && configuration_.without_replica == sidecar::WithoutReplica::refuse;
  if (!without) return "";
  return membership_.addresses.empty() ? "no replica is known" : "no replica is there yet";
}

std::vector<std::string> SidecarService::details() const {
  const std::lock_guard lock(mutex_);
  return {describe(countries_)};
}

void SidecarService::publish(const Membership& membership) {
  sidecar_->apply(with_members(*sidecar_->settings(), membership));
  const std::lock_guard lock(mutex_);
  membership_ = membership;
}

Result<void> SidecarService::apply(const Configuration& next) {
  const std::lock_guard control(control_);
  auto countries = open_countries(next);
  // A database that was never there may go on missing; one that is in use is not given up.
  if (!countries && !(next.geo_optional && !countries_)) return countries.error();
  auto membership = discovers(next) ? with_scheme(membership_, next.scheme)
                                    : reloaded_membership(membership_, configuration_.replicas,
                                                          next.replicas, configuration_, next);
  if (!membership) return membership.error();
  auto settings = make_sidecar_settings(next, *membership, countries ? *countries : Countries{});
  if (!settings) return settings.error();
  sidecar_->apply(*std::move(settings));
  const std::lock_guard lock(mutex_);
  configuration_ = next;
  membership_ = *std::move(membership);
  countries_ = countries ? *std::move(countries) : Countries{};
  return {};
}

Result<Membership> SidecarService::propose(const shard::TopologyRequest& request) {
  const std::lock_guard control(control_);
  if (discovers(configuration_)) return not_ours_to_change(configuration_);
  auto membership = next_membership(membership_, request);
  if (!membership) return membership.error();
  publish(*membership);
  return membership;
}

Result<void> SidecarService::follow(const k8s::Roster& roster) {
  const std::lock_guard control(control_);
  auto membership = discovered_membership(membership_, roster, configuration_.scheme);
  if (!membership) return membership.error();
  publish(*membership);
  return {};
}

PurgeResult SidecarService::purge(const PurgeTarget& target) {
  // Not `control_`: a purge waits for replicas, and a drain must not wait for it.
  const std::lock_guard purging(purge_);
  if (stopped_) return {0, {"every replica: this sidecar has stopped"}};
  // `PURGE *` is everything of every host, whichever it names.
  auto report = target.everything ? sidecar_->purge("localhost", "*")
                                  : sidecar_->purge(target.host, target.path_and_query);
  return {report.removed, std::move(report.missing)};
}

void SidecarService::drain() {
  const std::lock_guard control(control_);
  sidecar_->drain();
}

std::size_t SidecarService::open_connections() const { return sidecar_->open_connections(); }

void SidecarService::stop() {
  const std::lock_guard control(control_);
  const std::lock_guard purging(purge_);
  stopped_ = true;
  sidecar_->stop();
}

}  // namespace ringside::program
