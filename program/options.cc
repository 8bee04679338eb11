#include "program/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "program/member_source.h"
#include "program/values.h"
#include "shard/member.h"
#include "shard/quotation.h"
#include "shard/schemes.h"

namespace ringside::program {
namespace {

using Form = Option::Form;

constexpr unsigned for_up = static_cast<unsigned>(Command::up);
constexpr unsigned for_sidecar = static_cast<unsigned>(Command::sidecar);
constexpr unsigned for_cache = static_cast<unsigned>(Command::cache);
constexpr unsigned for_shard = static_cast<unsigned>(Command::shard);
constexpr unsigned for_servers = for_up | for_sidecar | for_cache;

// Parses with `parse` and puts the value into `field`.
template <auto field, auto parse>
Result<void> set_field(Configuration& configuration, std::string_view text) {
  auto value = parse(text);
  if (!value) return value.error();
  configuration.*field = *std::move(value);
  return {};
}

Result<void> set_name(Configuration& configuration, std::string_view text) {
  if (auto checked = shard::check_member_name(text); !checked) return checked.error();
  configuration.name = text;
  return {};
}

// A number or a list: which of them a command can use is checked when all is known.
Result<void> set_replicas(Configuration& configuration, std::string_view text) {
  configuration.replica_count.reset();
  configuration.replicas.clear();
  if (text.find('=') == std::string_view::npos) {
    const auto count = parse_number(text, 1, limits::members);
    if (!count) return invalid_input(count.error().message + ", or NAME=HOST:PORT,…");
    configuration.replica_count = static_cast<std::size_t>(*count);
    return {};
  }
  return set_field<&Configuration::replicas, parse_members>(configuration, text);
}

Result<void> set_topology_version(Configuration& configuration, std::string_view text) {
  const auto version = parse_number(text, 1, std::uint64_t{1} << 62);
  if (!version) return version.error();
  configuration.topology_version = *version;
  return {};
}

Result<void> set_scheme(Configuration& configuration, std::string_view text) {
  if (const auto entry = shard::find_scheme(text); !entry) return entry.error();
  configuration.scheme = text;
  return {};
}

Result<std::string> parse_file_name(std::string_view text) {
  const bool control = std::any_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (!text.empty() && !control) return std::string(text);
  return invalid_input(fmt::format("{} can't be a file's name; write one", shard::quotation(text)));
}

Result<void> set_without_replica(Configuration& configuration, std::string_view text) {
  if (text == "refuse") {
    configuration.without_replica = sidecar::WithoutReplica::refuse;
  } else if (text == "origin") {
    configuration.without_replica = sidecar::WithoutReplica::ask_origin;
  } else {
    return invalid_input(
        fmt::format("{} is neither; write refuse or origin", shard::quotation(text)));
  }
  return {};
}

// Connections that the pools of all cores could not have make no sense.
Result<void> set_connections_per_address(Configuration& configuration, std::string_view text) {
  const auto connections = parse_number(text, 1, limits::connections_per_core);
  if (!connections) return connections.error();
  configuration.connections_per_address = static_cast<std::size_t>(*connections);
  return {};
}

Result<void> set_origin_ca(Configuration& configuration, std::string_view text) {
  if (text.empty()) return invalid_input("name a file with certificates in PEM format");
  configuration.origin_ca = text;
  return {};
}

Result<void> set_origin_connections(Configuration& configuration, std::string_view text) {
  const auto connections =
      parse_number(text, 1, limits::threads * limits::upstream_connections_per_address);
  if (!connections) return connections.error();
  configuration.origin_connections = static_cast<std::size_t>(*connections);
  return {};
}

Result<void> set_threads(Configuration& configuration, std::string_view text) {
  const auto threads = parse_number(text, 1, limits::threads);
  if (!threads) return threads.error();
  configuration.threads = static_cast<std::size_t>(*threads);
  return {};
}

using C = Configuration;

constexpr auto options = std::to_array<Option>({
    {"listen", for_servers, Form::text, "ADDRESS:PORT",
     "Where clients connect; port 0 takes a free one", set_field<&C::listen, Endpoint::parse>},
    {"admin", for_servers, Form::text, "ADDRESS:PORT",
     "Where administrators and Prometheus connect (default 127.0.0.1:9090)",
     set_field<&C::admin, Endpoint::parse>},
    {"name", for_cache, Form::text, "NAME",
     "The replica's stable name, such as cache-0; it is hashed", set_name},
    {"origin", for_servers, Form::list, "URL,...",
     "http[s]://HOST[:PORT][;weight=N],… of routes that name none",
     set_field<&C::origins, parse_origins>},
    {"origin-ca", for_servers, Form::text, "FILE",
     "Certificates (PEM) that https:// origins are checked with (default: the system's)",
     set_origin_ca},
    {"origin-connections", for_servers, Form::text, "N",
     "Requests at once to each origin, of a whole process; more wait (default 256)",
     set_origin_connections},
    {"replicas", for_up | for_sidecar | for_shard, Form::list, "N|NAME=HOST:PORT,...",
     "up: how many (default 10). sidecar: NAME=HOST:PORT[;weight=N][;zone=Z],…", set_replicas},
    {"peers", for_cache, Form::list, "NAME=HOST:PORT,...",
     "Every replica of the tier, this one too, as in the sidecar's --replicas",
     set_field<&C::peers, parse_members>},
    {"kubernetes", for_sidecar | for_cache, Form::text, "[NS/]NAME[:PORT]",
     "The StatefulSet whose pods are the replicas, instead of a list",
     set_field<&C::kubernetes, parse_kubernetes_target>},
    {"kubeconfig", for_sidecar | for_cache, Form::text, "FILE",
     "How the API server is reached (default: by the pod's service account)",
     set_field<&C::kubeconfig, parse_file_name>},
    {"dns", for_sidecar | for_cache, Form::text, "NAME[:PORT]",
     "The headless service whose DNS records name the replicas, instead of a list",
     set_field<&C::dns, parse_dns_target>},
    {"topology-version", for_sidecar | for_cache, Form::text, "N",
     "The version of the members given; newer ones win", set_topology_version},
    {"scheme", for_servers | for_shard, Form::text, "NAME",
     "How buckets get their replicas (default ring)", set_scheme},
    {"shard-key", for_up | for_sidecar | for_shard, Form::list, "PART,...",
     "Of country, ip, path, query, host, header:NAME, cookie:NAME (default country,path)",
     set_field<&C::shard_key, shard::KeySpec::parse>},
    {"geo", for_up | for_sidecar | for_shard, Form::text, "FILE",
     "Country database in MaxMind's format (default: the one installed beside the program)",
     set_field<&C::geo, parse_file_name>},
    {"geo-optional", for_up | for_sidecar | for_shard, Form::on_off, "",
     "Run without a country database: every country is ZZ",
     set_field<&C::geo_optional, parse_switch>},
    {"trust", for_up | for_sidecar, Form::list, "NET,...",
     "Whose Forwarded and X-Forwarded-For are believed (default: none; up: loopback)",
     set_field<&C::trust, parse_networks>},
    {"proxied-from", for_up | for_sidecar, Form::list, "NET,...",
     "Whose connections begin with a PROXY protocol header (default: nobody's)",
     set_field<&C::proxied_from, parse_networks>},
    {"connections-per-address", for_up | for_sidecar, Form::text, "N",
     "From one client's address, a thread; trusted ones are free (default 4096)",
     set_connections_per_address},
    {"country-header", for_servers, Form::text, "NAME",
     "The header that tells the origin the country (default X-Country)",
     set_field<&C::country_header, parse_field_name>},
    {"without-replica", for_up | for_sidecar, Form::text, "refuse|origin",
     "What to do with a request that no replica can take (default refuse: 503)",
     set_without_replica},
    {"purge-from", for_servers, Form::list, "NET,...",
     "Whose PURGE requests are obeyed (default: nobody's; up: loopback's)",
     set_field<&C::purge_from, parse_networks>},
    {"memory", for_up | for_cache, Form::text, "SIZE|N%",
     "Of a replica's store (default 256MiB), N%: of what the container has; up: of each",
     set_field<&C::memory, parse_store_memory>},
    {"threads", for_servers, Form::text, "N",
     "One core each (default: the container's); up: the sidecar's, replicas have one", set_threads},
    {"log-level", for_servers, Form::text, "LEVEL", "debug, info, warning or error (default info)",
     set_field<&C::log_level, parse_level>},
    {"connect-timeout", for_servers, Form::text, "TIME", "To one upstream address (default 1s)",
     set_field<&C::connect_timeout, parse_duration>},
    {"first-byte-timeout", for_servers, Form::text, "TIME",
     "From a request's end to the answer's head (default 30s)",
     set_field<&C::first_byte_timeout, parse_duration>},
    {"request-deadline", for_servers, Form::text, "TIME",
     "For choosing, connecting, asking and failing over together (default 1m)",
     set_field<&C::request_deadline, parse_duration>},
    {"drain-delay", for_servers, Form::text, "TIME",
     "For so long after SIGTERM only /readyz changes (default 0ms)",
     set_field<&C::drain_delay, parse_delay>},
    {"drain-deadline", for_servers, Form::text, "TIME",
     "How long requests in flight may take after the delay (default 30s)",
     set_field<&C::drain_deadline, parse_duration>},
    {"access-log", for_servers, Form::text, "FILE|-",
     "A line for each request, in the Combined Log Format (default: none); up: the sidecar's",
     set_field<&C::access_log, parse_file_name>},
});

}  // namespace

std::string Option::key() const {
  std::string out(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

std::span<const Option> all_options() noexcept { return options; }

Result<void> set_from_flag(Configuration& configuration, const Option& option,
                           std::string_view text) {
  std::string place = fmt::format("--{}", option.name);
  auto set = option.set(configuration, text);
  if (!set) return invalid_input(fmt::format("{}: {}", place, set.error().message));
  configuration.places.insert_or_assign(std::string(option.name), std::move(place));
  return {};
}

}  // namespace ringside::program
