#include "k8s/assembly.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/quotation.h"
#include "k8s/api_json.h"

namespace ringside::k8s {
namespace {

using Slices = std::map<std::string, EndpointSlice>;

// What takes requests in the pods of a slice.
class PortChoice {
 public:
  static Outcome<PortChoice> of(std::string_view wanted) {
    const bool is_number =
        !wanted.empty() && wanted.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_number) return PortChoice(wanted, std::nullopt);
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    if (error != std::errc() || number == 0) {
      return Failure{FailureReason::other,
                     fmt::format("{} is no port of the replicas: give a number from 1 to 65535, or "
                                 "the name that it has in their Service",
                                 quotation(wanted)),
                     std::nullopt};
    }
    return PortChoice(wanted, number);
  }

  // Nothing: the slice does not say.
  [[nodiscard]] std::optional<std::uint16_t> in(const EndpointSlice& slice) const {
    if (number_) return number_;
    const std::string_view name = wanted_.empty() ? "http" : wanted_;
    const auto found = std::find_if(slice.ports.begin(), slice.ports.end(),
                                    [&](const NamedPort& port) { return port.name == name; });
    if (found != slice.ports.end()) return found->number;
    if (wanted_.empty() && slice.ports.size() == 1) return slice.ports.front().number;
    return std::nullopt;
  }

 private:
  PortChoice(std::string_view wanted, std::optional<std::uint16_t> number)
      : wanted_(wanted), number_(number) {}

  std::string_view wanted_;
  std::optional<std::uint16_t> number_;
};

// One place where a replica may be.
struct Candidate {
  const PodEndpoint* endpoint = nullptr;
  std::optional<std::uint16_t> port;
};

// The smallest is the best. A total order of all that we use of them, so that the order in which
// slices come does not matter.
auto rank(const Candidate& candidate) {
  const PodEndpoint& endpoint = *candidate.endpoint;
  return std::tuple(endpoint.terminating, !endpoint.ready, !endpoint.serving, !candidate.port,
                    !endpoint.address.is_v4(), endpoint.address, candidate.port,
                    std::string_view(endpoint.zone));
}

using Found = std::unordered_map<std::string_view, Candidate>;  // by pod

// The best of each of those pods.
Found best_of(const Slices& slices, const PortChoice& choice,
              const std::vector<std::string>& names) {
  Found found;
  for (const std::string& name : names) found.emplace(name, Candidate{});
  for (const auto& [name, slice] : slices) {
    const auto port = choice.in(slice);
    for (const PodEndpoint& endpoint : slice.endpoints) {
      const auto at = found.find(endpoint.pod);
      if (at == found.end()) continue;
      const Candidate candidate{&endpoint, port};
      if (!at->second.endpoint || rank(candidate) < rank(at->second)) at->second = candidate;
    }
  }
  return found;
}

Replica replica_of(std::string name, std::uint32_t weight, const Candidate& at) {
  Replica replica;
  replica.name = std::move(name);
  replica.weight = weight;
  if (!at.endpoint) return replica;
  replica.zone = at.endpoint->zone;
  replica.terminating = at.endpoint->terminating;
  if (!at.port) return replica;
  replica.address = Endpoint{at.endpoint->address.text(), *at.port};
  replica.serving = at.endpoint->serving;
  // `ready` alone is always true where the Service has publishNotReadyAddresses.
  replica.ready = at.endpoint->ready && at.endpoint->serving && !at.endpoint->terminating;
  return replica;
}

std::string service_of(const StatefulSet& set, const Target& target) {
  return fmt::format("the Service {} in namespace {}", quotation(set.service),
                     quotation(target.name_space));
}

std::string doubt_about_ports(const StatefulSet& set, const Slices& slices, const Target& target) {
  constexpr std::size_t shown = 8;
  std::set<std::string> ports;
  for (const auto& [name, slice] : slices) {
    for (const NamedPort& port : slice.ports) {
      if (ports.size() == shown) break;
      ports.insert(
          fmt::format("{} ({})", port.name.empty() ? "without a name" : port.name, port.number));
    }
  }
  const std::string remedy = fmt::format("--kubernetes {}/{}:PORT", target.name_space, set.name);
  if (ports.empty()) {
    return fmt::format(
        "{} has no TCP port, so it is not known which one of the pods takes "
        "requests: give it a port named http, or tell the port's number as {}",
        service_of(set, target), remedy);
  }
  return fmt::format(
      "{} has no port named {}, but {}: tell the one that takes requests, by name or "
      "number, as {}",
      service_of(set, target), target.port.empty() ? "http" : quotation(target.port),
      fmt::join(ports, ", "), remedy);
}

// What to tell where no pod of the StatefulSet is anywhere.
std::string doubt_about_pods(const StatefulSet& set, const Slices& slices, const Target& target) {
  if (slices.empty()) {
    return fmt::format(
        "there is no EndpointSlice of {}: is there such a Service, is it the "
        "spec.serviceName of StatefulSet {}, and has it a selector?",
        service_of(set, target), quotation(set.name));
  }
  for (const auto& [name, slice] : slices) {
    if (slice.endpoints.empty()) continue;
    return fmt::format(
        "{} has pods like {} and none that is called {}-{} or the like: does its "
        "selector match the pods of StatefulSet {}?",
        service_of(set, target), quotation(slice.endpoints.front().pod), set.name,
        set.first_ordinal, quotation(set.name));
  }
  return fmt::format(
      "{} has no pods yet: are those of StatefulSet {} starting (`kubectl get "
      "pods`), and does its selector match them?",
      service_of(set, target), quotation(set.name));
}

}  // namespace

Outcome<Assembled> assemble(const StatefulSet& set, const Slices& slices, const Target& target) {
  const auto choice = PortChoice::of(target.port);
  if (!choice) return choice.error();
  const auto weights = weights_of(set);
  if (!weights) return weights.error();
  std::vector<std::string> names = set.replica_names();
  const Found found = best_of(slices, *choice, names);

  Assembled out;
  out.roster.version = set.generation;
  out.roster.replicas.reserve(names.size());
  bool is_anywhere = names.empty();  // a StatefulSet of none has no doubtful pods
  bool lacks_port = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Candidate& at = found.at(names[i]);
    is_anywhere = is_anywhere || at.endpoint;
    lacks_port = lacks_port || (at.endpoint && !at.port);
    out.roster.replicas.push_back(replica_of(names[i], (*weights)[i], at));
  }
  if (!is_anywhere) {
    out.doubt = doubt_about_pods(set, slices, target);
  } else if (lacks_port) {
    out.doubt = doubt_about_ports(set, slices, target);
  }
  return out;
}

}  // namespace ringside::k8s
