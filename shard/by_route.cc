#include "shard/by_route.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shard/coarse_buckets.h"
#include "shard/quotation.h"
#include "shard/shard_key.h"

namespace ringside::shard {
namespace {

// What is common to the tier's own scheme and those of routes.
struct Named {
  std::string_view route;
  const SchemeEntry* entry = nullptr;
};

std::vector<Named> all_of(const Schemes& schemes) {
  std::vector<Named> all{{"", &schemes.own}};
  for (const RouteScheme& one : schemes.of_routes) all.push_back({one.route, &one.entry});
  return all;
}

bool is_directory(const SchemeEntry& entry) noexcept { return entry.name == "directory"; }

bool has_hashed_keys(const SchemeEntry& entry) noexcept {
  return !entry.has_shards() || is_directory(entry);
}

// The one before it whose keys by hash lie in the same buckets; nullopt: none.
std::optional<std::size_t> sharing(const std::vector<Named>& all, std::size_t index) {
  for (std::size_t before = 0; before < index && !is_directory(*all[index].entry); ++before) {
    if (all[before].entry->name == all[index].entry->name) return before;
  }
  return std::nullopt;
}

// The buckets of the keys by hash of a scheme.
struct HashedRange {
  std::size_t first = 0;
  std::size_t buckets = 0;
};

// A function of the schemes alone, so that the numbers stay whoever comes and goes. nullopt: it has
// no keys by hash.
std::vector<std::optional<HashedRange>> hashed_ranges(const std::vector<Named>& all) {
  std::size_t parts = 0;
  std::size_t rings = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!has_hashed_keys(*all[i].entry) || sharing(all, i)) continue;
    ++parts;
    rings += all[i].entry->has_arcs ? 1 : 0;
  }
  const std::size_t left = hashed_schemes_most - std::min(hashed_schemes_most, parts);
  const std::size_t more = rings == 0 ? 0 : left / rings;
  std::vector<std::optional<HashedRange>> ranges(all.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!has_hashed_keys(*all[i].entry)) continue;
    if (const auto other = sharing(all, i)) {
      ranges[i] = ranges[*other];
      continue;
    }
    const std::size_t units = 1 + (all[i].entry->has_arcs ? more : 0);
    ranges[i] = HashedRange{next, units * coarse_buckets};
    next += units * coarse_buckets;
  }
  return ranges;
}

std::size_t hashed_buckets(const std::vector<std::optional<HashedRange>>& ranges) {
  std::size_t end = 0;
  for (const auto& one : ranges) end = one ? std::max(end, one->first + one->buckets) : end;
  return end;
}

std::string of_route(std::string_view route) {
  return route.empty() ? "of the tier's own scheme" : fmt::format("of route {}", route);
}

// A scheme counts its own shards alone.
Error scheme_error(const Named& named, const std::string& message) {
  return invalid_input(fmt::format("{}{}: {}", of_route(named.route),
                                   named.entry->has_shards() ? ", whose shards count from 0" : "",
                                   message));
}

// The shards of one route as its scheme numbers them, and the number of each among all.
struct Part {
  State state;
  std::vector<std::size_t> numbers;
};

Part part_of(const State& whole, const Named& named) {
  Part part;
  if (is_directory(*named.entry)) part.state.fallback = whole.fallback;
  if (named.entry->has_table()) part.state.table = whole.table;
  for (std::size_t i = 0; i < whole.shards.size(); ++i) {
    if (whole.shards[i].route != named.route) continue;
    Shard shard = whole.shards[i];
    shard.route.clear();
    if (shard.parent) {
      const auto parent = std::lower_bound(part.numbers.begin(), part.numbers.end(), *shard.parent);
      shard.parent = static_cast<std::size_t>(parent - part.numbers.begin());
    }
    part.state.shards.push_back(std::move(shard));
    part.numbers.push_back(i);
  }
  return part;
}

// That each shard is of a route that has shards, and was cut of one of the same.
Result<void> check_routes(const std::vector<Named>& all, const State& state) {
  for (std::size_t i = 0; i < state.shards.size(); ++i) {
    const Shard& shard = state.shards[i];
    const auto named = std::find_if(all.begin(), all.end(),
                                    [&](const Named& one) { return one.route == shard.route; });
    if (named == all.end() || !named->entry->has_shards()) {
      return invalid_input(
          fmt::format("{}.route: {} has no scheme with shards; leave the shard out",
                      shard::place_of(i), quotation(shard.route)));
    }
    if (shard.parent && state.shards[*shard.parent].route != shard.route) {
      return invalid_input(fmt::format("{}.parent: {} is of another route; name one of its own",
                                       shard::place_of(i), *shard.parent));
    }
  }
  return {};
}

Result<SchemePointer> scheme_of(const Named& named, std::span<const Member> members,
                                const State& state, std::size_t buckets) {
  auto made = named.entry->hashes_otherwise() ? named.entry->make_within(members, buckets)
                                              : named.entry->scheme_of(members, state);
  return made ? made : scheme_error(named, made.error().message);
}

}  // namespace

ByRoute::ByRoute(std::string text, std::vector<RoutePart> parts, const State& state,
                 bool has_members)
    : text_(std::move(text)), parts_(std::move(parts)), has_members_(has_members) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].first_bucket) continue;
    const std::size_t end = (*parts_[i].first_bucket + parts_[i].buckets) / coarse_buckets;
    hashed_.resize(std::max(hashed_.size(), end), i);
  }
  first_shard_ = hashed_.size() * coarse_buckets;
  for (const Shard& shard : state.shards) {
    const auto part = std::find_if(parts_.begin(), parts_.end(),
                                   [&](const RoutePart& one) { return one.route == shard.route; });
    const std::size_t before = part->scheme->first_shard() + part->shards.size();
    part->shards.push_back(static_cast<Bucket>(first_shard_ + shards_.size()));
    shards_.push_back(
        {static_cast<std::size_t>(part - parts_.begin()), static_cast<Bucket>(before)});
  }
}

ByRoute::Place ByRoute::place_of(Bucket bucket) const noexcept {
  if (bucket >= first_shard_) return shards_[bucket - first_shard_];
  const std::size_t index = hashed_[bucket / coarse_buckets];
  const RoutePart& part = parts_[index];
  const std::size_t own = bucket - *part.first_bucket;
  // A number that the scheme has no key for is somebody's too.
  return {index, static_cast<Bucket>(part.own_buckets > 0 ? own % part.own_buckets : own)};
}

Bucket ByRoute::number_of(const RoutePart& part, Bucket bucket) const noexcept {
  const std::size_t first = part.scheme->first_shard();
  if (bucket >= first) return part.shards[bucket - first];
  return static_cast<Bucket>(*part.first_bucket + bucket);
}

// A route that is not known here has the scheme of all others.
Bucket ByRoute::bucket_for(const ShardKey& key) const noexcept {
  const std::size_t end = std::min(key.bytes.find('\n'), key.bytes.size());
  const std::string_view route = key.bytes.substr(0, end);
  const std::string_view rest = key.bytes.substr(std::min(end + 1, key.bytes.size()));
  const auto found = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const RoutePart& one) { return one.route == route; });
  const RoutePart& part = found == parts_.end() ? parts_.front() : *found;
  const ShardKey own{rest, hash64(rest)};
  if (part.own_buckets > 0) {
    return static_cast<Bucket>(*part.first_bucket + part.scheme->bucket_for(own));
  }
  const bool is_by_hash = part.first_bucket && part.scheme->first_shard() == 0;
  if (is_by_hash) return static_cast<Bucket>(*part.first_bucket + coarse_bucket_of(own.hash));
  return number_of(part, part.scheme->bucket_for(own));
}

void ByRoute::owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const {
  const Place place = place_of(bucket);
  const Scheme& scheme = *parts_[place.part].scheme;
  const bool is_by_hash = bucket < first_shard_ && scheme.first_shard() == 0;
  if (is_by_hash && parts_[place.part].own_buckets == 0) {
    return scheme.owners(first_key_in(place.bucket), n, owners);
  }
  scheme.owners_of(place.bucket, n, owners);
}

std::vector<MemberIndex> ByRoute::bucket_owners() const {
  if (!has_members_) return {};
  return first_owners(*this, first_shard_ + shards_.size());
}

std::string ByRoute::own_numbers() const {
  std::string text;
  for (const RoutePart& part : parts_) {
    if (part.own_buckets > 0) append_key_value(text, part.scheme->own_numbers());
  }
  return text;
}

// All who have one were made of the same.
std::vector<TableRow> ByRoute::table_to_keep() const {
  for (const RoutePart& part : parts_) {
    if (auto table = part.scheme->table_to_keep(); !table.empty()) return table;
  }
  return {};
}

std::optional<Bucket> ByRoute::parent_of(Bucket bucket) const noexcept {
  if (bucket < first_shard_) return std::nullopt;
  const Place place = place_of(bucket);
  const RoutePart& part = parts_[place.part];
  const auto parent = part.scheme->parent_of(place.bucket);
  return parent ? std::optional(number_of(part, *parent)) : std::nullopt;
}

Result<SchemePointer> make_by_route(const Schemes& schemes, std::span<const Member> members,
                                    const State& state) {
  const std::vector<Named> all = all_of(schemes);
  const auto ranges = hashed_ranges(all);
  const std::size_t hashed = hashed_buckets(ranges);
  if (hashed > hashed_schemes_most * coarse_buckets) {
    return invalid_input(
        fmt::format("routes have {} schemes by hash or directories together; at most {}, so let "
                    "some of them have the same",
                    hashed / coarse_buckets, hashed_schemes_most));
  }
  if (auto checked = check_shards(state, bucket_count - hashed); !checked) return checked.error();
  if (auto checked = check_routes(all, state); !checked) return checked.error();
  if (!state.fallback.empty() && placeable_by_route(schemes).empty()) {
    return invalid_input("fallback: no scheme of these is a directory; leave it out");
  }
  const bool has_table =
      std::any_of(all.begin(), all.end(), [](const Named& one) { return one.entry->has_table(); });
  if (!state.table.empty() && !has_table) {
    return invalid_input("table: no scheme of these is a vbucket; leave it out");
  }
  std::vector<RoutePart> parts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const HashedRange range = ranges[i].value_or(HashedRange{});
    auto scheme = scheme_of(all[i], members, part_of(state, all[i]).state, range.buckets);
    if (!scheme) return scheme.error();
    RoutePart part{std::string(all[i].route), *std::move(scheme)};
    if (ranges[i]) part.first_bucket = range.first;
    part.buckets = range.buckets;
    if (all[i].entry->hashes_otherwise()) part.own_buckets = part.scheme->bucket_owners().size();
    parts.push_back(std::move(part));
  }
  return SchemePointer(
      std::make_shared<ByRoute>(schemes.text(), std::move(parts), state, !members.empty()));
}

State first_state_by_route(const Schemes& schemes) {
  State state;
  for (const Named& one : all_of(schemes)) {
    if (!one.entry->has_shards()) continue;
    const State first = one.entry->first_state();
    if (!first.fallback.empty()) state.fallback = first.fallback;
    const std::size_t before = state.shards.size();
    for (Shard shard : first.shards) {
      shard.route = one.route;
      if (shard.parent) *shard.parent += before;
      state.shards.push_back(std::move(shard));
    }
  }
  return state;
}

std::string roots_by_route(const Schemes& schemes, const State& state) {
  std::string roots;
  for (const Named& one : all_of(schemes)) {
    if (!one.entry->has_shards()) continue;
    const Part part = part_of(state, one);
    append_key_value(roots, one.entry->roots(part.state));
    for (std::size_t i = 0; i < part.numbers.size() && !is_directory(*one.entry); ++i) {
      if (!part.state.shards[i].parent) append_key_value(roots, std::to_string(part.numbers[i]));
    }
  }
  return roots;
}

namespace {

// Whose shard a cut is of; an Error: nobody's that has shards.
Result<Named> cut_one(const std::vector<Named>& all, const State& state, const Cut& cut) {
  const bool is_numbered = !cut.route && cut.shard < state.shards.size();
  const std::string route = is_numbered ? state.shards[cut.shard].route : cut.route.value_or("");
  const auto named =
      std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.route == route; });
  if (named == all.end()) {
    return invalid_input(fmt::format("route {} has no scheme of its own", quotation(route)));
  }
  if (!named->entry->has_shards()) return no_shards(named->entry->name);
  return *named;
}

}  // namespace

Result<State> cut_by_route(const Schemes& schemes, const State& state, const Cut& cut) {
  const std::vector<Named> all = all_of(schemes);
  const auto named = cut_one(all, state, cut);
  if (!named) return named.error();
  const Part part = part_of(state, *named);
  Cut own = cut;
  own.route.reset();
  const auto place = std::find(part.numbers.begin(), part.numbers.end(), cut.shard);
  if (place == part.numbers.end() && !is_directory(*named->entry)) {
    return invalid_input(fmt::format("shard {} is not {}", cut.shard, of_route(named->route)));
  }
  own.shard =
      place == part.numbers.end() ? 0 : static_cast<std::size_t>(place - part.numbers.begin());
  const auto after = named->entry->cut(part.state, own);
  if (!after) return scheme_error(*named, after.error().message);
  State out = state;
  std::vector<std::size_t> numbers = part.numbers;
  for (std::size_t i = 0; i < after->shards.size(); ++i) {
    Shard shard = after->shards[i];
    shard.route = named->route;
    if (shard.parent) shard.parent = numbers[*shard.parent];
    if (i < part.numbers.size()) {
      out.shards[numbers[i]] = std::move(shard);
    } else {
      numbers.push_back(out.shards.size());
      out.shards.push_back(std::move(shard));
    }
  }
  const std::size_t most = bucket_count - hashed_buckets(hashed_ranges(all));
  if (auto checked = check_shards(out, most); !checked) return checked.error();
  return out;
}

std::optional<std::vector<std::string>> where_to_cut_by_route(const Schemes& schemes,
                                                              const State& state, std::size_t shard,
                                                              std::vector<std::string> keys) {
  const auto named = cut_one(all_of(schemes), state, {shard, {}, {}});
  if (!named || named->entry->where == nullptr) return std::nullopt;
  const Part part = part_of(state, *named);
  const auto place = std::find(part.numbers.begin(), part.numbers.end(), shard);
  return named->entry->where(part.state, static_cast<std::size_t>(place - part.numbers.begin()),
                             std::move(keys));
}

std::vector<Placeable> placeable_by_route(const Schemes& schemes) {
  std::vector<Placeable> out;
  const std::vector<Named> all = all_of(schemes);
  const auto ranges = hashed_ranges(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_directory(*all[i].entry)) out.push_back({std::string(all[i].route), ranges[i]->first});
  }
  return out;
}

}  // namespace ringside::shard
