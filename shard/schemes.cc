#include "shard/schemes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "shard/ascending.h"
#include "shard/by_route.h"
#include "shard/directory.h"
#include "shard/jedis_ring.h"
#include "shard/jump.h"
#include "shard/maglev.h"
#include "shard/modulo.h"
#include "shard/nginx.h"
#include "shard/quotation.h"
#include "shard/range.h"
#include "shard/rendezvous.h"
#include "shard/ring.h"
#include "shard/simple_sha1.h"
#include "shard/split_tree.h"
#include "shard/vbucket.h"

namespace ringside::shard {
namespace {

using Make = Result<SchemePointer>(std::span<const Member>);
using MakeWithin = Result<SchemePointer>(std::span<const Member>, std::size_t);

constexpr SchemeEntry with_own_hash(std::string_view name, Make* make, MakeWithin* make_within) {
  SchemeEntry entry{name, make};
  entry.make_within = make_within;
  return entry;
}

constexpr SchemeEntry with_arcs(std::string_view name, Make* make, MakeWithin* make_within) {
  SchemeEntry entry = with_own_hash(name, make, make_within);
  entry.has_arcs = true;
  return entry;
}

constexpr auto entries = std::to_array<SchemeEntry>({
    {"ascending", nullptr, make_ascending, first_ranges, roots_of_ranges, open_next,
     where_the_next_opens},
    {"directory", nullptr, make_directory, first_directory, roots_of_directory, place_keys},
    with_arcs("jedis-ring", make_jedis_ring, make_jedis_ring_within),
    {"jump", make_jump},
    {"maglev", make_maglev},
    {"modulo", make_modulo},
    with_arcs("nginx", make_nginx, make_nginx_within),
    {"range", nullptr, make_range, first_ranges, roots_of_ranges, cut_range, where_to_halve},
    {"rendezvous", make_rendezvous},
    {"ring", make_ring},
    with_own_hash("simple-sha1", make_simple_sha1, make_simple_sha1_within),
    {"split-tree", nullptr, make_split_tree, first_tree, roots_of_tree, split_leaf, where_to_split},
    {"vbucket", nullptr, make_vbucket},
});

}  // namespace

Result<SchemePointer> SchemeEntry::scheme_of(std::span<const Member> members,
                                             const State& state) const {
  if (!state.table.empty() && !has_table()) {
    return invalid_input(
        fmt::format("table: the scheme {} has none; leave it out, or choose vbucket", name));
  }
  if (may_have_state()) return make_of(members, state);
  if (!state.is_empty()) {
    return invalid_input(
        fmt::format("state: the scheme {} has none; leave it out, or choose another scheme", name));
  }
  return make(members);
}

std::span<const SchemeEntry> all_schemes() noexcept { return entries; }

Result<SchemeEntry> find_scheme(std::string_view name) {
  for (const SchemeEntry& entry : entries) {
    if (entry.name == name) return entry;
  }
  return invalid_input(fmt::format("there is no scheme {}; choose one of {}", quotation(name),
                                   fmt::join(scheme_names(), ", ")));
}

std::string Schemes::text() const {
  std::string text(own.name);
  for (const RouteScheme& one : of_routes) {
    text.append(",").append(one.route).append("=").append(one.entry.name);
  }
  return text;
}

bool Schemes::may_have_state() const noexcept {
  return own.may_have_state() ||
         std::any_of(of_routes.begin(), of_routes.end(),
                     [](const RouteScheme& one) { return one.entry.may_have_state(); });
}

bool Schemes::has_shards() const noexcept {
  return own.has_shards() ||
         std::any_of(of_routes.begin(), of_routes.end(),
                     [](const RouteScheme& one) { return one.entry.has_shards(); });
}

const SchemeEntry* Schemes::find(std::string_view route) const noexcept {
  if (route.empty()) return &own;
  const auto found = std::find_if(of_routes.begin(), of_routes.end(),
                                  [&](const RouteScheme& one) { return one.route == route; });
  return found == of_routes.end() ? nullptr : &found->entry;
}

Result<SchemePointer> Schemes::scheme_of(std::span<const Member> members,
                                         const State& state) const {
  if (!of_routes.empty()) return make_by_route(*this, members, state);
  for (std::size_t i = 0; i < state.shards.size(); ++i) {
    if (state.shards[i].route.empty()) continue;
    return invalid_input(
        fmt::format("{}.route: no route has a scheme of its own; leave it out", place_of(i)));
  }
  return own.scheme_of(members, state);
}

State Schemes::first_state() const {
  if (!of_routes.empty()) return first_state_by_route(*this);
  return own.first_state != nullptr ? own.first_state() : State{};
}

std::string Schemes::roots(const State& state) const {
  return of_routes.empty() ? own.roots(state) : roots_by_route(*this, state);
}

Result<void> check_scheme_route(std::string_view route) {
  const bool is_plain = std::all_of(route.begin(), route.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  if (!route.empty() && is_plain) return {};
  return invalid_input(
      fmt::format("route {}: one that has a scheme of its own needs a name of letters, digits, -, "
                  "_ and .",
                  quotation(route)));
}

namespace {

Result<RouteScheme> parse_route_scheme(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return invalid_input(fmt::format("{} names no route; write ROUTE=SCHEME", quotation(text)));
  }
  const std::string_view route = text.substr(0, equals);
  if (auto checked = check_scheme_route(route); !checked) return checked.error();
  const auto entry = find_scheme(text.substr(equals + 1));
  if (!entry) return entry.error();
  return RouteScheme{std::string(route), *entry};
}

}  // namespace

Result<Schemes> parse_schemes(std::string_view text) {
  const std::size_t end = std::min(text.find(','), text.size());
  const auto own = find_scheme(text.substr(0, end));
  if (!own) return own.error();
  Schemes schemes{*own};
  for (std::size_t at = end; at < text.size();) {
    const std::size_t next = std::min(text.find(',', at + 1), text.size());
    auto one = parse_route_scheme(text.substr(at + 1, next - at - 1));
    if (!one) return one.error();
    if (schemes.of_routes.size() == limits::routes) {
      return invalid_input(
          fmt::format("more than {} routes have schemes of their own", limits::routes));
    }
    if (schemes.find(one->route) != nullptr) {
      return invalid_input(fmt::format("route {} has two schemes; give it one", one->route));
    }
    schemes.of_routes.push_back(*std::move(one));
    at = next;
  }
  std::sort(schemes.of_routes.begin(), schemes.of_routes.end(),
            [](const RouteScheme& a, const RouteScheme& b) { return a.route < b.route; });
  return schemes;
}

std::vector<Placeable> placeable(const Topology& topology) {
  const auto schemes = parse_schemes(topology.scheme());
  if (!schemes) return {};
  if (!schemes->of_routes.empty()) return placeable_by_route(*schemes);
  return schemes->own.name == "directory" ? std::vector<Placeable>{{"", 0}}
                                          : std::vector<Placeable>{};
}

Error no_shards(std::string_view scheme) {
  std::vector<std::string_view> with;
  for (const SchemeEntry& entry : entries) {
    if (entry.has_shards()) with.push_back(entry.name);
  }
  return invalid_input(fmt::format(
      "the scheme {} has no shards to split; add replicas, or choose one of {} as --scheme", scheme,
      fmt::join(with, ", ")));
}

Result<State> cut_state(const Topology& topology, const Cut& cut) {
  const auto schemes = parse_schemes(topology.scheme());
  if (!schemes) return schemes.error();
  if (!schemes->has_shards()) return no_shards(topology.scheme());
  const State& state = topology.state();
  if (cut.shard >= std::max<std::size_t>(state.shards.size(), 1)) {
    return invalid_input(
        fmt::format("there is no shard {}; there are {}", cut.shard, state.shards.size()));
  }
  // All other shards stay where they are.
  const State named = topology.state_with_owners();
  return schemes->of_routes.empty() ? schemes->own.cut(named, cut)
                                    : cut_by_route(*schemes, named, cut);
}

std::optional<std::vector<std::string>> where_to_cut(const Topology& topology, std::size_t shard,
                                                     std::vector<std::string> keys) {
  const auto schemes = parse_schemes(topology.scheme());
  const State& state = topology.state();
  if (!schemes || shard >= state.shards.size()) return std::nullopt;
  if (!schemes->of_routes.empty()) {
    return where_to_cut_by_route(*schemes, state, shard, std::move(keys));
  }
  return schemes->own.where == nullptr ? std::nullopt
                                       : schemes->own.where(state, shard, std::move(keys));
}

std::vector<std::string_view> scheme_names() {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const SchemeEntry& entry : entries) names.push_back(entry.name);
  return names;
}

}  // namespace ringside::shard
