#include "program/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "program/member_source.h"
#include "program/membership.h"
#include "program/options.h"
#include "program/route_conditions.h"
#include "program/route_keys.h"
#include "shard/schemes.h"

namespace ringside::program {
namespace {

Error missing(const Configuration& configuration, std::string_view option, std::string_view why,
              std::string_view remedy) {
  const bool is_sentence = !configuration.given(option) && why.starts_with("is ");
  return invalid_input(
      fmt::format("{}{} {}; {}", configuration.place(option), is_sentence ? "" : ":", why, remedy));
}

Result<void> check_origins(const Configuration& configuration) {
  for (const RouteConfiguration& route : effective_routes(configuration)) {
    if (!route.origins.empty()) continue;
    if (configuration.routes.empty()) {
      return missing(configuration, "origin", "is missing", "give --origin http://HOST[:PORT]");
    }
    return invalid_input(
        fmt::format("{}: route {} has no origin; give it one, or --origin for all that have none",
                    route.place, route.name));
  }
  return {};
}

// Where the members come from: `list` is the option of those who name them.
Result<void> check_source(const Configuration& configuration, std::string_view list,
                          bool list_is_given) {
  if (configuration.kubernetes && configuration.dns) {
    return missing(configuration, "dns", "excludes --kubernetes", "give one of them");
  }
  if (!discovers(configuration)) return {};
  if (list_is_given) {
    return missing(configuration, list, fmt::format("excludes {}", source_text(configuration)),
                   "give one of them: the members are either listed or discovered");
  }
  if (configuration.topology_version != 0) {
    return missing(
        configuration, "topology-version",
        fmt::format("excludes {}, which numbers the topologies itself", source_text(configuration)),
        "leave it out");
  }
  return {};
}

// `named`: the members that are spoken to, or spoken of.
Result<void> check_peer_key(const Configuration& configuration, bool named) {
  const bool has_file = !configuration.peer_key_file.empty();
  if (has_file && configuration.insecure_peers) {
    return missing(configuration, "insecure-peers", "excludes --peer-key-file", "give one of them");
  }
  if (has_file || configuration.insecure_peers || !named) return {};
  return missing(
      configuration, "peer-key-file", "is missing",
      "give all of the tier a file with the same key (`(umask 077 && openssl rand -hex "
      "32 > FILE)` makes one), or --insecure-peers where nobody else reaches the replicas");
}

// Nobody follows itself, and a file beside the ConfigMap would be another source of the same.
Result<void> check_state(const Configuration& configuration) {
  const auto& writer = configuration.state_writer;
  if (writer && writer->at && writer->at == configuration.admin) {
    return missing(configuration, "state-writer", "is this process's own admin address",
                   "write self if this process writes the shards, else the address of the one "
                   "that does");
  }
  if (!writer || !writer->config_map || configuration.state_file.empty()) return {};
  return missing(configuration, "state", "excludes --state-writer configmap:NAME",
                 "leave it out: the ConfigMap has the shards");
}

Result<void> check_sidecar(const Configuration& configuration) {
  if (configuration.replica_count) {
    return missing(configuration, "replicas", "is a number, but a sidecar must know the addresses",
                   "write NAME=HOST:PORT,…");
  }
  auto source = check_source(configuration, "replicas", !configuration.replicas.empty());
  if (!source) return source.error();
  const bool asks_origin = configuration.without_replica == sidecar::WithoutReplica::ask_origin;
  if (configuration.replicas.empty() && !discovers(configuration) && !asks_origin) {
    return missing(configuration, "replicas", "no replica is given",
                   "give --replicas NAME=HOST:PORT,…, --kubernetes, --dns, or --without-replica "
                   "origin");
  }
  if (asks_origin) {
    auto origins = check_origins(configuration);
    if (!origins) return origins.error();
  }
  if (auto state = check_state(configuration); !state) return state.error();
  return check_peer_key(configuration, true);
}

// Without a writer a replica would ask for cuts that nobody makes.
Result<void> check_splits(const Configuration& configuration) {
  const bool cuts = configuration.split_above > 0;
  if ((!cuts && !configuration.place_keys) || configuration.state_writer) return {};
  return missing(configuration, cuts ? "split-above" : "place-keys",
                 "needs to know who writes which shards there are",
                 "give --state-writer self to one process of the tier, and that one's admin "
                 "address to all others, or configmap:NAME to all");
}

Result<void> check_cache(const Configuration& configuration) {
  const auto& peers = configuration.peers;
  auto source = check_source(configuration, "peers", !peers.empty());
  if (!source) return source.error();
  const bool lists_itself = std::any_of(peers.begin(), peers.end(), [&](const auto& peer) {
    return peer.member.name == configuration.name;
  });
  if (!peers.empty() && !lists_itself) {
    return missing(configuration, "peers", fmt::format("{} is not among them", configuration.name),
                   "list every replica of the tier, this one too");
  }
  if (auto origins = check_origins(configuration); !origins) return origins.error();
  if (auto splits = check_splits(configuration); !splits) return splits.error();
  if (auto state = check_state(configuration); !state) return state.error();
  return check_peer_key(configuration, !peers.empty() || discovers(configuration));
}

Result<void> check_up(const Configuration& configuration) {
  if (!configuration.replicas.empty()) {
    return missing(configuration, "replicas", "is a list of addresses, but `up` starts its own",
                   "write a number, or use `ringside sidecar`");
  }
  if (configuration.memory.percent > 0) {
    return missing(
        configuration, "memory",
        fmt::format("{}% is a share, but `up` runs several replicas", configuration.memory.percent),
        "write a size, which each of them gets, such as 256MiB");
  }
  return {};
}

Result<void> check_routes(const Configuration& configuration) {
  std::vector<http::RouteMatch> matches;
  std::set<std::string_view> names;
  for (const RouteConfiguration& route : configuration.routes) {
    matches.push_back(route.match);
    if (!names.insert(route.name).second) {
      return invalid_input(fmt::format("{}: another route is named {} too; give each its own name",
                                       route.place, route.name));
    }
  }
  if (const auto table = http::RouteTable::make(matches); !table) {
    return invalid_input(
        fmt::format("{}: {}", configuration.place("routes"), table.error().message));
  }
  return check_route_conditions(configuration);
}

// Without their state, whose errors are others'.
Result<void> check_schemes(const Configuration& configuration) {
  const std::string schemes = tier_schemes(configuration);
  if (schemes == configuration.scheme) return {};
  for (const RouteConfiguration& route : configuration.routes) {
    if (route.scheme.empty()) continue;
    if (auto named = shard::check_scheme_route(route.name); !named) {
      return invalid_input(fmt::format("{}: scheme: {}", route.place, named.error().message));
    }
  }
  const auto made = tier::make_membership({}, schemes, 1);
  if (made) return {};
  return invalid_input(
      fmt::format("{}: scheme: {}", configuration.place("routes"), made.error().message));
}

Result<void> check_rules(const Configuration& configuration) {
  for (const RouteConfiguration& route : effective_routes(configuration)) {
    const RouteFacts facts{route.name, route.near_ttl.count() > 0, configuration.country_header};
    if (auto checked = check_cache_rules(route.cache, facts); !checked) return checked.error();
  }
  return {};
}

// Listening is bound to an address, and a name may have several: nothing is looked up for it.
Result<void> check_listener(const Configuration& configuration, std::string_view option,
                            const Endpoint& at) {
  if (at.host == "localhost" || IpAddress::try_parse(at.host)) return {};
  return invalid_input(fmt::format("{}: {} is a name; give an IP address, such as 0.0.0.0 or [::]",
                                   configuration.place(option), at.host));
}

// Options that a command can't do without.
Result<void> check_needed(Command command, const Configuration& configuration) {
  for (const Option& option : all_options()) {
    if (!option.is_needed_by(command) || !option.value.show(configuration).is_null()) continue;
    return missing(configuration, option.name, "is missing",
                   fmt::format("give --{} {}", option.name, option.value_name));
  }
  return {};
}

// Whether each listener has an address of its own.
Result<void> check_apart(const Configuration& configuration) {
  std::map<Endpoint, std::string_view> taken{{configuration.admin, "admin"}};
  for (const auto& [option, at] :
       {std::pair{"listen", configuration.listen}, {"probe", configuration.probe}}) {
    if (!at || at->port == 0) continue;
    const auto [other, is_new] = taken.emplace(*at, option);
    if (is_new) continue;
    return invalid_input(fmt::format("{}: {} is the address of --{} too; give another port",
                                     configuration.place(option), at->text(), other->second));
  }
  return {};
}

Result<void> check_listeners(Command command, const Configuration& configuration) {
  if (command == Command::shard) return {};
  if (configuration.listen) {
    auto listen = check_listener(configuration, "listen", *configuration.listen);
    if (!listen) return listen.error();
  }
  if (configuration.probe) {
    auto probe = check_listener(configuration, "probe", *configuration.probe);
    if (!probe) return probe.error();
  }
  if (auto admin = check_listener(configuration, "admin", configuration.admin); !admin) {
    return admin.error();
  }
  return check_apart(configuration);
}

Result<void> check_members(const Configuration& configuration, std::string_view option,
                           const std::vector<shard::MemberAt>& members) {
  for (const shard::MemberAt& one : members) {
    if (one.address.port != 0) continue;
    return invalid_input(fmt::format("{}: {}: nobody is reached at port 0; write the replica's",
                                     configuration.place(option), one.member.name));
  }
  const std::string schemes = tier_schemes(configuration);
  if (const auto made = tier::make_membership(members, schemes, 1); !made) {
    return invalid_input(fmt::format("{}: {}", configuration.place(option), made.error().message));
  }
  const auto made = tier::make_membership(members, schemes, 1, configuration.state);
  if (made) return {};
  return invalid_input(fmt::format("{}: {}: {}", configuration.place("state"),
                                   configuration.state_file, made.error().message));
}

}  // namespace

std::string_view name(Command command) noexcept {
  switch (command) {
    case Command::up:
      return "up";
    case Command::sidecar:
      return "sidecar";
    case Command::cache:
      return "cache";
    case Command::shard:
      return "shard";
  }
  return "ringside";
}

std::string Configuration::place(std::string_view option) const {
  const auto found = places.find(option);
  return found == places.end() ? fmt::format("--{}", option) : found->second;
}

Result<std::string> parse_scheme(std::string_view text) {
  if (const auto entry = shard::find_scheme(text); !entry) return entry.error();
  return std::string(text);
}

std::string tier_schemes(const Configuration& configuration) {
  std::map<std::string_view, std::string_view> of_routes;  // sorted, as shard::Schemes::text() is
  for (const RouteConfiguration& route : configuration.routes) {
    if (!route.scheme.empty()) of_routes.emplace(route.name, route.scheme);
  }
  std::string text = configuration.scheme;
  for (const auto& [route, scheme] : of_routes) text += fmt::format(",{}={}", route, scheme);
  return text;
}

bool writes_state(const Configuration& configuration) noexcept {
  return configuration.state_writer && !configuration.state_writer->at;
}

bool discovers(const Configuration& configuration) noexcept {
  return configuration.kubernetes.has_value() || configuration.dns.has_value();
}

std::string source_text(const Configuration& configuration) {
  if (configuration.kubernetes) return "--kubernetes " + target_text(*configuration.kubernetes);
  if (configuration.dns) return "--dns " + target_text(*configuration.dns);
  return "the configuration";
}

Configuration defaults(Command command) {
  Configuration out;
  if (command != Command::up) return out;
  constexpr std::uint16_t port = 8080;
  out.listen = Endpoint{"127.0.0.1", port};
  out.replica_count = replicas_by_default;
  out.state_writer = StateWriter{};
  for (const char* const loopback : {"127.0.0.0/8", "::1"}) {
    out.trusted.push_back(*Network::parse(loopback));
    out.purge_from.push_back(*Network::parse(loopback));
  }
  return out;
}

std::size_t thread_count(const Configuration& configuration) noexcept {
  if (configuration.threads != 0) return configuration.threads;
  return std::clamp<std::size_t>(configuration.machine.cores, 1, limits::threads);
}

std::vector<RouteConfiguration> effective_routes(const Configuration& configuration) {
  std::vector<RouteConfiguration> routes = configuration.routes;
  if (routes.empty()) {
    RouteConfiguration& all = routes.emplace_back();
    all.name = "default";
    all.place = configuration.place("routes");
  }
  // Where all paths are of one route, no spelling gets past another one's rules.
  const bool tells_paths_apart =
      std::any_of(routes.begin(), routes.end(), [](const RouteConfiguration& route) {
        return route.match.path_prefix != "/" || route.match.path_regex;
      });
  // `/account;x.css` is no path below /account, and an origin that cuts parameters gives the
  // account.
  const bool has_regex = std::any_of(
      routes.begin(), routes.end(),
      [](const RouteConfiguration& route) { return route.match.path_regex.has_value(); });
  for (RouteConfiguration& route : routes) {
    if (route.origins.empty()) route.origins = configuration.origins;
    if (!route.shard_key) route.shard_key = configuration.shard_key;
    route.cache = merged(configuration.cache, route.cache);
    if (!tells_paths_apart) continue;
    http::PathRules& paths = route.cache.values.paths;
    paths.merge_slashes = paths.merge_slashes.value_or(true);
    paths.refuses_escaped_slashes = paths.refuses_escaped_slashes.value_or(true);
    if (has_regex) paths.refuses_parameters = paths.refuses_parameters.value_or(true);
  }
  share_forms(routes);
  return routes;
}

bool uses_country(const Configuration& configuration) {
  const auto routes = effective_routes(configuration);
  return std::any_of(routes.begin(), routes.end(), [](const RouteConfiguration& route) {
    constexpr auto country = shard::KeyPart::Kind::country;
    return route.shard_key->uses(country) ||
           (route.key_fallback && route.key_fallback->uses(country));
  });
}

Result<void> check(Command command, const Configuration& configuration) {
  if (auto routes = check_routes(configuration); !routes) return routes.error();
  if (auto schemes = check_schemes(configuration); !schemes) return schemes.error();
  if (auto rules = check_rules(configuration); !rules) return rules.error();
  if (auto listeners = check_listeners(command, configuration); !listeners) {
    return listeners.error();
  }
  if (command == Command::cache) {
    auto peers = check_members(configuration, "peers", configuration.peers);
    if (!peers) return peers.error();
  } else {
    if (auto keys = check_route_keys(configuration); !keys) return keys.error();
    auto replicas = check_members(configuration, "replicas", configuration.replicas);
    if (!replicas) return replicas.error();
  }
  if (auto needed = check_needed(command, configuration); !needed) return needed.error();
  switch (command) {
    case Command::up:
      return check_up(configuration);
    case Command::sidecar:
      return check_sidecar(configuration);
    case Command::cache:
      return check_cache(configuration);
    case Command::shard:
      break;
  }
  return {};
}

}  // namespace ringside::program
