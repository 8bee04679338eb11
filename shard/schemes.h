#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shard/topology.h"

namespace ringside::shard {

using SchemePointer = std::shared_ptr<const Scheme>;

// A scheme by its name. It is made of the members as a topology holds them, checked and sorted,
// and, where it has one, of its state.
struct SchemeEntry {
  std::string_view name;
  Result<SchemePointer> (*make)(std::span<const Member> members) =
      nullptr;  // null: may_have_state()
  Result<SchemePointer> (*make_of)(std::span<const Member> members, const State& state) = nullptr;
  State (*first_state)() = nullptr;  // null: an empty one
  // What the numbers of its shards mean: equal as long as shards are only cut or placed.
  std::string (*roots)(const State& state) = nullptr;
  // The state after a cut; requires that its shard is one of them. A number means the same before
  // and after.
  Result<State> (*cut)(const State& state, const Cut& cut) = nullptr;
  // See where_to_cut(); null: shards are never cut by themselves.
  std::optional<std::vector<std::string>> (*where)(const State& state, std::size_t shard,
                                                   std::vector<std::string> keys) = nullptr;

  // Keys lie in its buckets by a hash of its own, or in none. As one of several schemes it is made
  // so that they lie in this many; an Error says for which members it can be one.
  Result<SchemePointer> (*make_within)(std::span<const Member> members,
                                       std::size_t buckets) = nullptr;
  bool has_arcs = false;  // and needs as many as it can have (shard/arcs.h)
  [[nodiscard]] bool hashes_otherwise() const noexcept { return make_within != nullptr; }

  [[nodiscard]] bool may_have_state() const noexcept { return make_of != nullptr; }
  // Whether its state is of shards, which are cut or placed.
  [[nodiscard]] bool has_shards() const noexcept { return cut != nullptr; }
  // Whether its state is a table that is remembered: the keys lie in buckets by their hash.
  [[nodiscard]] bool has_table() const noexcept { return may_have_state() && !has_shards(); }
  [[nodiscard]] Result<SchemePointer> scheme_of(std::span<const Member> members,
                                                const State& state) const;
};

// Every scheme there is, sorted by name.
[[nodiscard]] std::span<const SchemeEntry> all_schemes() noexcept;

// An Error lists the names that there are.
[[nodiscard]] Result<SchemeEntry> find_scheme(std::string_view name);

// A route that has a scheme of its own.
struct RouteScheme {
  std::string route;  // of letters, digits, `-`, `_` and `.`
  SchemeEntry entry;
};

// What a topology goes by: one scheme for all keys, or others for those of some routes
// (shard/by_route.h).
struct Schemes {
  SchemeEntry own;
  std::vector<RouteScheme> of_routes{};  // sorted by route

  // `ring`, or with those of routes `ring,films=range,shops=vbucket`: Topology::scheme().
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool may_have_state() const noexcept;
  [[nodiscard]] bool has_shards() const noexcept;
  // Of a route, or of all others; nullptr: the route has none of its own.
  [[nodiscard]] const SchemeEntry* find(std::string_view route) const noexcept;
  [[nodiscard]] Result<SchemePointer> scheme_of(std::span<const Member> members,
                                                const State& state) const;
  [[nodiscard]] State first_state() const;
  [[nodiscard]] std::string roots(const State& state) const;
};

// Whether a route of that name may have a scheme of its own. An Error names the route.
[[nodiscard]] Result<void> check_scheme_route(std::string_view route);

// Reads what text() writes, in whatever order the routes are.
[[nodiscard]] Result<Schemes> parse_schemes(std::string_view text);

// Keys of a directory that it does not have, and that may be placed in it.
struct Placeable {
  std::string route;             // whose directory it is
  std::size_t first_bucket = 0;  // of coarse_buckets (shard/coarse_buckets.h)
};
[[nodiscard]] std::vector<Placeable> placeable(const Topology& topology);

// Says that shards of it can't be cut, and of which schemes they can.
[[nodiscard]] Error no_shards(std::string_view scheme);

// The state of a topology after a cut. An Error says why it can't be cut so.
[[nodiscard]] Result<State> cut_state(const Topology& topology, const Cut& cut);

// Where a shard that holds these keys (text_of, own_key) is cut in two: Cut::at. A key may stand
// several times, as often as it counts. nullopt: it can't be cut, or its scheme never does that by
// itself.
[[nodiscard]] std::optional<std::vector<std::string>> where_to_cut(const Topology& topology,
                                                                   std::size_t shard,
                                                                   std::vector<std::string> keys);

}  // namespace ringside::shard
