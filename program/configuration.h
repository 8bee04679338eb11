#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "cache/settings.h"
#include "hop/options.h"
#include "http/route_table.h"
#include "k8s/dns_target.h"
#include "k8s/target.h"
#include "net/origin.h"
#include "program/cache_rules.h"
#include "program/machine.h"
#include "program/state_writer.h"
#include "shard/shard_key.h"
#include "shard/topology_json.h"
#include "sidecar/settings.h"

namespace ringside::program {

// The commands that are configured; as bits, so that an option can name those it is for.
enum class Command : unsigned { up = 1, sidecar = 2, cache = 4, shard = 8 };
constexpr std::array<Command, 4> all_commands{Command::up, Command::sidecar, Command::cache,
                                              Command::shard};
[[nodiscard]] std::string_view name(Command command) noexcept;

struct RouteConfiguration {
  std::string name;
  http::RouteMatch match;
  std::vector<net::Origin> origins;            // none: Configuration::origins
  std::optional<shard::KeySpec> shard_key;     // absent: Configuration::shard_key
  std::optional<shard::KeySpec> key_fallback;  // where the path has not what the key takes; or none
  std::string scheme;                          // of its keys; empty: the tier's
  Milliseconds near_ttl{0};                    // of the sidecar's near cache; 0: none
  CacheRules cache;                            // what it leaves out: Configuration::cache
  std::string place;                           // where it was written, for messages
};

constexpr std::size_t replicas_by_default = 10;  // of `up`

// Everything that can be configured, of all commands: what a file says, overlaid by flags, over the
// defaults of the command. What a half takes as it is stands in its own Options. A value; the table
// of program/options.h tells what each means.
struct Configuration : hop::Options, sidecar::Options {
  std::optional<Endpoint> listen;
  Endpoint admin{"127.0.0.1", 9090};
  std::string admin_token_file;          // empty: changes are taken from loopback alone
  std::vector<std::string> admin_hosts;  // in lower case
  std::optional<Endpoint> probe;
  std::string name;
  std::vector<net::Origin> origins;        // none: not given
  std::vector<RouteConfiguration> routes;  // none: one for everything
  CacheRules cache;                        // of all routes, where they don't say otherwise

  // `replicas` is a number for `up`, and a list with addresses for `sidecar`.
  std::optional<std::size_t> replica_count;
  std::vector<shard::MemberAt> replicas;
  std::vector<shard::MemberAt> peers;
  // Where members are discovered instead; one of them at most.
  std::optional<k8s::Target> kubernetes;
  std::string kubeconfig;  // empty: the pod's service account
  std::optional<k8s::DnsTarget> dns;
  std::uint64_t topology_version = 0;  // 0: not given
  std::string scheme = "ring";         // of routes that have none of their own; all: tier_schemes()
  std::string state_file;              // empty: none
  shard::State state;  // what it says; empty: the scheme's first one, where it has one
  std::optional<StateWriter> state_writer;  // absent: `up` itself; else nobody, but by hand
  bool place_keys = false;                  // of a directory, when they are first stored
  cache::SplitWrites split_writes = cache::SplitWrites::log;
  std::size_t split_above = 0;  // stored responses of a shard; 0: none is cut by itself
  shard::KeySpec shard_key = shard::KeySpec::country_and_path();

  std::string peer_key_file;    // empty: none
  bool insecure_peers = false;  // that nobody proves anything is meant
  bool without_link = false;    // HTTP/1.1 alone is spoken between members

  std::string geo;  // empty: the database that was installed beside the program
  bool geo_optional = false;

  StoreMemory memory;
  std::size_t threads = 0;  // 0: one for each core of `machine`
  Machine machine;          // where this is the configuration of; nobody writes it
  log::Level log_level = log::Level::info;
  std::size_t move_rate_mib_s = limits::move_rate_mib_s;
  Milliseconds drain_delay = limits::drain_delay;
  Milliseconds drain_deadline = limits::drain_deadline;
  std::string access_log;  // a path, or `-`; empty: none
  std::string origin_ca;   // empty: what the system believes

  // Where each option that was given was written: "tier.yaml:3: listen" or "--listen".
  std::map<std::string, std::string, std::less<>> places;

  // How a message begins that is about an option: its place, or its flag where it was not given.
  [[nodiscard]] std::string place(std::string_view option) const;
  [[nodiscard]] bool given(std::string_view option) const { return places.contains(option); }
};

// One scheme, for all keys or those of a route.
[[nodiscard]] Result<std::string> parse_scheme(std::string_view text);
// The schemes of the tier and of its routes, as topologies name them (shard::Schemes::text).
[[nodiscard]] std::string tier_schemes(const Configuration& configuration);

// Whether this process writes the state of the scheme, and keeps its file up to date.
[[nodiscard]] bool writes_state(const Configuration& configuration) noexcept;

// Whether the members come from a source that is watched, and not from lists and `PUT /topology`.
[[nodiscard]] bool discovers(const Configuration& configuration) noexcept;
// That source, for messages: "--kubernetes shop/ringside-cache".
[[nodiscard]] std::string source_text(const Configuration& configuration);

[[nodiscard]] Configuration defaults(Command command);

// The threads to start: as configured, else the machine's.
[[nodiscard]] std::size_t thread_count(const Configuration& configuration) noexcept;

// The routes with what they leave out filled in; one named `default` where there are none.
[[nodiscard]] std::vector<RouteConfiguration> effective_routes(const Configuration& configuration);
[[nodiscard]] bool uses_country(const Configuration& configuration);

// What a command's values must be together; each is right by itself already. An Error names the
// place of the one that is to be changed.
[[nodiscard]] Result<void> check(Command command, const Configuration& configuration);

}  // namespace ringside::program
