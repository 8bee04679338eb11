#include "program/sidecar_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "metrics/sheet.h"
#include "program/peer_keys.h"
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
  auto settings = make_sidecar_settings(configuration, *std::move(membership), *countries);
  if (!settings) return settings.error();
  auto keys = load_peer_keys(configuration);
  if (!keys) return keys.error();

  auto started = sidecar::Sidecar::start(
      {with_peer_keys(**settings, *std::move(keys)),
       make_setup(configuration, *configuration.listen, thread_count(configuration), access_log)},
      clock);
  if (!started) return start_failure(started.error(), configuration.place("listen"));
  std::unique_ptr<SidecarService> service(new SidecarService(configuration));
  service->sidecar_ = *std::move(started);
  service->countries_ = *std::move(countries);
  return service;
}

std::vector<metrics::Totals> SidecarService::totals() const { return {sidecar_->sheet().totals()}; }

std::string SidecarService::not_ready() const {
  const auto known = membership();
  const std::lock_guard lock(mutex_);
  // Even one that may ask the origin waits for the first news: else a start would be a surge there.
  if (discovers(configuration_) && known->topology->version() == 0) {
    return "the members are not known yet";
  }
  const auto& addresses = known->addresses;
  const bool nowhere = std::all_of(addresses.begin(), addresses.end(),
                                   [](const Endpoint& address) { return address.host.empty(); });
  if (configuration_.without_replica != sidecar::WithoutReplica::refuse) return "";
  if (!nowhere && sidecar_->troubles().unproven.are_all(*known)) {
    return configuration_.insecure_peers
               ? "every replica wants a proof of membership (see --peer-key-file)"
               : "no replica has proved membership (see --peer-key-file)";
  }
  if (!nowhere && none_can_be_used(sidecar_->troubles(), *known)) return "no replica answers";
  if (!nowhere) return "";
  return addresses.empty() ? "no replica is known" : "no replica is there yet";
}

std::vector<std::string> SidecarService::details() const {
  const auto& [unproven, silent] = sidecar_->troubles();
  const auto members = membership();
  std::vector<std::string> lines;
  for (const auto& more :
       {unproven.lines(*members), silent.lines(*members), sidecar_->failing_origins()}) {
    lines.insert(lines.end(), more.begin(), more.end());
  }
  const std::lock_guard lock(mutex_);
  lines.insert(lines.begin(), describe(countries_));
  return lines;
}

Result<MembershipPointer> SidecarService::propose(const shard::TopologyRequest& request) {
  if (request.members.empty()) {
    const std::lock_guard lock(mutex_);
    const bool asks_origin = configuration_.without_replica == sidecar::WithoutReplica::ask_origin;
    if (!asks_origin && !discovers(configuration_)) {
      return invalid_input(
          "members: without one every request would be refused; name one at least, or start the "
          "sidecar with --without-replica origin");
    }
  }
  return MemberService::propose(request);
}

void SidecarService::publish(MembershipPointer membership) {
  sidecar_->apply(with_members(*sidecar_->settings(), std::move(membership)));
}

Result<void> SidecarService::publish(const Configuration& next, MembershipPointer membership) {
  auto countries = open_countries(next);
  // A database that was never there may go on missing; one that is in use is not given up.
  if (!countries && !(next.geo_optional && !countries_)) return countries.error();
  auto settings =
      make_sidecar_settings(next, std::move(membership), countries ? *countries : Countries{});
  if (!settings) return settings.error();
  auto keys = load_peer_keys(next);
  if (!keys) return keys.error();
  sidecar_->apply(with_peer_keys(**settings, *std::move(keys)));
  const std::lock_guard lock(mutex_);
  countries_ = countries ? *std::move(countries) : Countries{};
  return {};
}

PurgeResult SidecarService::purge(const http::PurgeTarget& target) {
  // Not `control_`: a purge waits for replicas, and a drain must not wait for it.
  const std::lock_guard purging(purge_);
  if (stopped_) return {0, {"every replica: this sidecar has stopped"}};
  const auto done = std::make_shared<std::promise<sidecar::PurgeReport>>();
  sidecar_->purge(target,
                  [done](sidecar::PurgeReport report) { done->set_value(std::move(report)); });
  auto report = done->get_future().get();
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
  explain_.stop();
  sidecar_->stop();
}

}  // namespace ringside::program
