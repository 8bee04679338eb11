#include "k8s/api_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/limits.h"
#include "base/quotation.h"

namespace ringside::k8s {
namespace {

// Ordinals are int32 in the API.
constexpr std::uint64_t ordinal_most = std::numeric_limits<std::int32_t>::max();

std::uint64_t read_replicas(const std::string& set, const ApiField& replicas) {
  const std::uint64_t count = replicas.count().value_or(1);
  if (count > limits::members) {
    replicas.whole().fail(malformed(fmt::format(
        "StatefulSet {} has spec.replicas {}; a tier has at most {}: run `kubectl scale` on it",
        quotation(set), count, limits::members)));
  }
  return count;
}

std::uint64_t read_first_ordinal(const ApiField& start) {
  const std::uint64_t ordinal = start.count().value_or(0);
  if (ordinal > ordinal_most) start.fail(fmt::format("is {}, beyond an int32", ordinal));
  return ordinal;
}

std::string read_service(const std::string& set, const ApiField& service) {
  std::string name = service.text();
  if (name.empty()) {
    service.whole().fail(malformed(fmt::format(
        "StatefulSet {} has no spec.serviceName, so nothing tells where its pods are: create it "
        "anew with the name of a headless Service, as k8s/base has it",
        quotation(set))));
  }
  return name;
}

// The pod that an endpoint is; empty: none of ours. Nobody but the endpoints' controller should
// write slices of a service, but who may can name pods of any namespace.
std::string read_pod(const ApiField& target, const std::string& name_space) {
  if (target.at("kind").text() != "Pod") return {};
  const std::string other = target.at("namespace").text();
  if (!other.empty() && !name_space.empty() && other != name_space) return {};
  return target.at("name").needed_text();
}

std::string read_zone(const ApiField& endpoint) {
  ApiField zone = endpoint.at("zone");
  if (zone.is_absent())
    zone = endpoint.at("topology").at("topology.kubernetes.io/zone");  // v1beta1
  std::string text = zone.text();
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (text.size() > limits::member_zone_size_bytes || !is_plain) {
    zone.fail(fmt::format("is {}; a zone has at most {} bytes of visible ASCII", quotation(text),
                          limits::member_zone_size_bytes));
  }
  return text;
}

std::optional<PodEndpoint> read_endpoint(const ApiField& endpoint, const std::string& name_space) {
  PodEndpoint out;
  out.pod = read_pod(endpoint.at("targetRef"), name_space);
  // Nothing is said of addresses behind the first, and no consumer looks at them.
  const auto addresses = endpoint.at("addresses").elements();
  if (addresses.empty()) endpoint.at("addresses").fail("is missing or empty");
  if (out.pod.empty() || addresses.empty()) return std::nullopt;
  const auto address = IpAddress::try_parse(addresses[0].text());
  if (!address) {
    addresses[0].fail(fmt::format("is {}, no IP address", quotation(addresses[0].text())));
    return std::nullopt;
  }
  out.address = *address;
  out.zone = read_zone(endpoint);
  const ApiField conditions = endpoint.at("conditions");
  out.ready = conditions.at("ready").truth().value_or(true);
  out.serving = conditions.at("serving").truth().value_or(out.ready);
  out.terminating = conditions.at("terminating").truth().value_or(false);
  return out;
}

// Nothing: a port that is not TCP's, or, without a number, all ports.
std::optional<NamedPort> read_port(const ApiField& port) {
  const std::string protocol = port.at("protocol").text();
  std::string name = port.at("name").text();
  const auto number = port.at("port").count();
  if (!number || (!protocol.empty() && protocol != "TCP")) return std::nullopt;
  if (*number == 0 || *number > std::numeric_limits<std::uint16_t>::max()) {
    port.at("port").fail(fmt::format("is {}, no port", *number));
    return std::nullopt;
  }
  return NamedPort{std::move(name), static_cast<std::uint16_t>(*number)};
}

void want_kind(const ApiField& object, std::string_view kind) {
  const ApiField field = object.at("kind");
  if (const std::string text = field.text(); text != kind) {
    field.fail(fmt::format("is {}, not {}", quotation(text), kind));
  }
}

WatchEvent::Type read_type(const ApiField& type) {
  using Type = WatchEvent::Type;
  constexpr std::array<std::pair<std::string_view, Type>, 5> types{{
      {"ADDED", Type::added},
      {"MODIFIED", Type::modified},
      {"DELETED", Type::deleted},
      {"BOOKMARK", Type::bookmark},
      {"ERROR", Type::error},
  }};
  const std::string text = type.text();
  for (const auto& [word, value] : types) {
    if (text == word) return value;
  }
  type.fail(fmt::format("is {}, no event that is known", quotation(text)));
  return Type::bookmark;
}

}  // namespace

StatefulSet read_stateful_set(const ApiField& object) {
  StatefulSet set;
  const ApiField metadata = object.at("metadata");
  set.name = metadata.at("name").needed_text();
  set.resource_version = metadata.at("resourceVersion").needed_text();
  set.generation = metadata.at("generation").count().value_or(0);
  set.weight = metadata.at("annotations").at(weight_annotation).text();
  const ApiField spec = object.at("spec");
  set.replicas = read_replicas(set.name, spec.at("replicas"));
  set.first_ordinal = read_first_ordinal(spec.at("ordinals").at("start"));
  set.service = read_service(set.name, spec.at("serviceName"));
  return set;
}

std::optional<EndpointSlice> read_endpoint_slice(const ApiField& object) {
  EndpointSlice slice;
  const ApiField metadata = object.at("metadata");
  slice.name = metadata.at("name").needed_text();
  slice.resource_version = metadata.at("resourceVersion").needed_text();
  const std::string type = object.at("addressType").needed_text();
  if (type != "IPv4" && type != "IPv6") return std::nullopt;
  const std::string name_space = metadata.at("namespace").text();
  for (const ApiField& port : object.at("ports").elements()) {
    if (auto read = read_port(port)) slice.ports.push_back(*std::move(read));
  }
  for (const ApiField& endpoint : object.at("endpoints").elements()) {
    if (auto read = read_endpoint(endpoint, name_space)) {
      slice.endpoints.push_back(*std::move(read));
    }
  }
  return slice;
}

ApiList read_list(const ApiField& whole, std::string_view kind) {
  want_kind(whole, fmt::format("{}List", kind));
  const ApiField metadata = whole.at("metadata");
  ApiList list{metadata.at("resourceVersion").needed_text(), whole.at("items").elements()};
  // Nobody asked for pages; what is missing must not be taken for deleted.
  if (!metadata.at("continue").text().empty()) {
    metadata.at("continue").fail("says that this is not the whole list");
  }
  return list;
}

WatchEvent read_event(const ApiField& whole, std::string_view kind) {
  WatchEvent event{read_type(whole.at("type")), "", whole.at("object")};
  if (event.type == WatchEvent::Type::error) return event;
  want_kind(event.object, kind);
  event.resource_version = event.object.at("metadata").at("resourceVersion").needed_text();
  return event;
}

}  // namespace ringside::k8s
