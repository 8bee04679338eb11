#include "program/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/log.h"
#include "k8s/dns_discovery.h"
#include "k8s/kubernetes_discovery.h"
#include "k8s/service_account.h"
#include "program/kubeconfig.h"

namespace ringside::program {
namespace {

// Empty where there is no such variable. Nothing in this process changes the environment.
std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Result<k8s::Access> kubernetes_access(const Configuration& configuration, std::string_view option,
                                      std::string& name_space) {
  if (!configuration.kubeconfig.empty()) {
    auto read = read_kubeconfig(configuration.kubeconfig);
    if (!read) {
      return invalid_input(
          fmt::format("{}: {}", configuration.place("kubeconfig"), read.error().message));
    }
    if (name_space.empty()) name_space = read->name_space;
    return std::move(read->access);
  }
  auto access = k8s::service_account_access(environment, k8s::service_account_folder);
  if (!access) {
    return invalid_input(
        fmt::format("{}: {}", configuration.place(option), access.error().message));
  }
  if (name_space.empty()) {
    auto own = k8s::service_account_namespace(k8s::service_account_folder);
    if (!own) {
      return invalid_input(fmt::format("{}: {}", configuration.place(option), own.error().message));
    }
    name_space = *std::move(own);
  }
  return access;
}

Result<std::unique_ptr<k8s::Discovery>> start_discovery(const Configuration& configuration,
                                                        Service& service, const Clock& clock) {
  auto follower = [&service](const k8s::Roster& roster) {
    const auto followed = service.follow(roster);
    if (!followed) {
      log::error("what was discovered is refused, the members stay: {}", followed.error().message);
    }
  };
  if (configuration.kubernetes) {
    k8s::Target target = *configuration.kubernetes;
    auto access = kubernetes_access(configuration, "kubernetes", target.name_space);
    if (!access) return access.error();
    return k8s::watch_kubernetes(target, *access, clock, follower);
  }
  if (configuration.dns) return k8s::watch_dns(*configuration.dns, clock, follower);
  return std::unique_ptr<k8s::Discovery>();
}

std::string discovery_line(std::string_view source, const k8s::DiscoveryFigures& figures,
                           TimePoint now) {
  if (figures.in_touch) return fmt::format("{}: {}", source, figures.words);
  if (!figures.last_answer) return fmt::format("{}: no answer yet: {}", source, figures.words);
  const auto away = std::max(now - *figures.last_answer, Milliseconds{0});
  return fmt::format("{}: away for {} s, the last members stay: {}", source,
                     std::chrono::duration_cast<Seconds>(away).count(), figures.words);
}

metrics::OperationFigures::Discovery discovery_figures(const k8s::DiscoveryFigures& figures,
                                                       const Membership& membership) {
  metrics::OperationFigures::Discovery out;
  out.in_touch = figures.in_touch;
  if (figures.last_answer) {
    out.last_answer_timestamp_seconds =
        std::chrono::duration<double>(figures.last_answer->time_since_epoch()).count();
  }
  out.topologies = figures.rosters;
  out.read_again = figures.read_again;
  out.replicas_ready = membership.ready_members();
  for (std::size_t index = 0; index < k8s::failure_reasons.size(); ++index) {
    out.failures.emplace_back(k8s::name(k8s::failure_reasons[index]), figures.failures[index]);
  }
  return out;
}

}  // namespace ringside::program
