#include "shard/directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "shard/mix.h"
#include "shard/quotation.h"
#include "shard/schemes.h"

namespace ringside::shard {
namespace {

// A key is hashed as it comes with a request: with the line feed behind its last value.
std::uint64_t hash_of_text(const std::string& text) noexcept { return hash64(text + '\n'); }

Result<void> check_keys(const State& state) {
  if (auto checked = check_shards(state, directory_keys); !checked) return checked.error();
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < state.shards.size(); ++i) {
    const Shard& shard = state.shards[i];
    if (shard.parent) {
      return invalid_input(place_of(i) + ".parent: a key of a directory has none; leave it out");
    }
    if (!seen.insert(shard.at).second) {
      return invalid_input(fmt::format("{}.at: {} stands twice; a key has one replica", place_of(i),
                                       quotation(shard.at)));
    }
  }
  return {};
}

}  // namespace

Directory::Directory(std::span<const Member> members, const State& state,
                     std::shared_ptr<const Scheme> fallback)
    : fallback_(std::move(fallback)), members_(members.size()) {
  for (std::size_t i = 0; i < state.shards.size(); ++i) {
    const Shard& shard = state.shards[i];
    const auto owner = std::find_if(members.begin(), members.end(), [&](const Member& member) {
      return member.name == shard.owner;
    });
    Placed placed{std::nullopt, coarse_bucket_of(hash_of_text(shard.at))};
    if (owner != members.end()) placed.owner = static_cast<MemberIndex>(owner - members.begin());
    placed_.push_back(placed);
    buckets_.emplace(shard.at, static_cast<Bucket>(directory_buckets + i));
  }
}

Bucket Directory::bucket_for(const ShardKey& key) const noexcept {
  std::string_view text = key.bytes;
  if (text.ends_with('\n')) text.remove_suffix(1);
  const auto found = buckets_.find(text);
  return found != buckets_.end() ? found->second : coarse_bucket_of(key.hash);
}

void Directory::owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const {
  if (bucket < directory_buckets) return fallback_->owners(first_key_in(bucket), n, owners);
  owners.clear();
  const Placed& placed = placed_[bucket - directory_buckets];
  if (n == 0 || members_ == 0) return;
  fallback_->owners(first_key_in(placed.before), n, owners);
  if (!placed.owner) return;
  const auto there = std::find(owners.begin(), owners.end(), *placed.owner);
  if (there != owners.end()) owners.erase(there);
  owners.insert(owners.begin(), *placed.owner);
  if (owners.size() > n) owners.pop_back();
}

std::vector<MemberIndex> Directory::bucket_owners() const {
  if (members_ == 0) return {};
  return first_owners(*this, directory_buckets + placed_.size());
}

std::optional<Bucket> Directory::parent_of(Bucket bucket) const noexcept {
  if (bucket < directory_buckets) return std::nullopt;
  return placed_[bucket - directory_buckets].before;
}

State first_directory() { return {{}, "ring"}; }

std::string roots_of_directory(const State& /*state*/) { return {}; }

Result<State> place_keys(const State& state, const Cut& cut) {
  if (cut.at.empty()) return invalid_input("name the key that is to be placed");
  State out = state;
  std::unordered_map<std::string_view, std::size_t> places;  // views into `state`
  for (std::size_t i = 0; i < state.shards.size(); ++i) places.emplace(state.shards[i].at, i);
  for (std::size_t i = 0; i < cut.at.size(); ++i) {
    const std::string owner = i < cut.owners.size() ? cut.owners[i] : std::string{};
    const auto there = places.find(cut.at[i]);
    if (there == places.end()) {
      out.shards.push_back({cut.at[i], owner, std::nullopt});
    } else if (!cut.only_new) {
      out.shards[there->second].owner = owner;
    }
  }
  if (auto checked = check_keys(out); !checked) return checked.error();
  return out;
}

MemberIndex place_at_first_sight(std::string_view key, std::span<const Member> members) noexcept {
  std::uint64_t weight = 0;
  for (const Member& member : members) weight += member.weight;
  RINGSIDE_CHECK(weight > 0);
  std::uint64_t drawn = mix64(hash64(key)) % weight;
  MemberIndex member = 0;
  while (drawn >= members[member].weight) drawn -= members[member++].weight;
  return member;
}

Result<std::shared_ptr<const Scheme>> make_directory(std::span<const Member> members,
                                                     const State& state) {
  if (auto checked = check_keys(state); !checked) return checked.error();
  const auto entry = find_scheme(state.fallback.empty() ? "ring" : state.fallback);
  if (!entry) return invalid_input("fallback: " + entry.error().message);
  if (entry->has_shards()) {
    return invalid_input(
        fmt::format("fallback: {} has a state of its own; choose a scheme by hash", entry->name));
  }
  if (entry->hashes_otherwise()) {
    return invalid_input(
        fmt::format("fallback: {} hashes keys in a way of its own; choose another", entry->name));
  }
  auto fallback = entry->scheme_of(members, {});
  if (!fallback) return invalid_input("fallback: " + fallback.error().message);
  return std::shared_ptr<const Scheme>(
      std::make_shared<Directory>(members, state, *std::move(fallback)));
}

}  // namespace ringside::shard
