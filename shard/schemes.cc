#include "shard/schemes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "shard/ascending.h"
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

constexpr auto entries = std::to_array<SchemeEntry>({
    {"ascending", nullptr, make_ascending, first_ranges, roots_of_ranges, open_next,
     where_the_next_opens},
    {"directory", nullptr, make_directory, first_directory, roots_of_directory, place_keys},
    {"jedis-ring", make_jedis_ring},
    {"jump", make_jump},
    {"maglev", make_maglev},
    {"modulo", make_modulo},
    {"nginx", make_nginx},
    {"range", nullptr, make_range, first_ranges, roots_of_ranges, cut_range, where_to_halve},
    {"rendezvous", make_rendezvous},
    {"ring", make_ring},
    {"simple-sha1", make_simple_sha1},
    {"split-tree", nullptr, make_split_tree, first_tree, roots_of_tree, split_leaf, where_to_split},
    {"vbucket", make_vbucket},
});

}  // namespace

Result<SchemePointer> SchemeEntry::scheme_of(std::span<const Member> members,
                                             const State& state) const {
  if (has_state()) return make_of(members, state);
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

Error no_shards(std::string_view scheme) {
  std::vector<std::string_view> with;
  for (const SchemeEntry& entry : entries) {
    if (entry.has_state()) with.push_back(entry.name);
  }
  return invalid_input(fmt::format(
      "the scheme {} has no shards to split; add replicas, or choose one of {} as --scheme", scheme,
      fmt::join(with, ", ")));
}

Result<State> cut_state(const Topology& topology, const Cut& cut) {
  const auto entry = find_scheme(topology.scheme());
  if (!entry) return entry.error();
  if (!entry->has_state()) return no_shards(entry->name);
  const State& state = topology.state();
  if (cut.shard >= std::max<std::size_t>(state.shards.size(), 1)) {
    return invalid_input(fmt::format("there is no shard {}; they go from 0 to {}", cut.shard,
                                     state.shards.size() - 1));
  }
  return entry->cut(state, cut);
}

std::optional<std::vector<std::string>> where_to_cut(const Topology& topology, std::size_t shard,
                                                     std::vector<std::string> keys) {
  const auto entry = find_scheme(topology.scheme());
  if (!entry || entry->where == nullptr || shard >= topology.state().shards.size()) {
    return std::nullopt;
  }
  return entry->where(topology.state(), shard, std::move(keys));
}

std::vector<std::string_view> scheme_names() {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const SchemeEntry& entry : entries) names.push_back(entry.name);
  return names;
}

}  // namespace ringside::shard
