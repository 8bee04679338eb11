#include "shard/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "shard/quotation.h"
#include "shard/schemes.h"

namespace ringside::shard {
namespace {

bool before_by_name(const Member& a, const Member& b) noexcept {
  return std::is_lt(natural_order(a.name, b.name));
}

Result<void> check_member(const Member& member) {
  const auto wrong = [&](std::string_view what, const Error& error) {
    return invalid_input(
        fmt::format("member {}: its {} {}", quotation(member.name), what, error.message));
  };
  if (auto name = check_member_name(member.name); !name) return wrong("name", name.error());
  if (auto weight = check_member_weight(member.weight); !weight) {
    return wrong("weight", weight.error());
  }
  if (auto zone = check_member_zone(member.zone); !zone) return wrong("zone", zone.error());
  return {};
}

// Checks the members and brings them into the order of a topology.
Result<void> sort_members(std::vector<Member>& members) {
  if (members.size() > limits::members) {
    return invalid_input(
        fmt::format("{} members; a topology has at most {}", members.size(), limits::members));
  }
  std::uint64_t weight = 0;
  for (const Member& member : members) {
    if (auto checked = check_member(member); !checked) return checked.error();
    weight += member.weight;
  }
  if (auto checked = check_member_weights(members.size(), weight); !checked) {
    return invalid_input("the members' weights " + checked.error().message);
  }
  std::sort(members.begin(), members.end(), before_by_name);
  const auto same = [](const Member& a, const Member& b) { return a.name == b.name; };
  const auto twice = std::adjacent_find(members.begin(), members.end(), same);
  if (twice != members.end()) {
    return invalid_input(
        fmt::format("member {} stands twice; names are what is hashed, so each "
                    "replica needs its own",
                    quotation(twice->name)));
  }
  return {};
}

void append_u32(std::string& out, std::size_t value) {
  const auto byte = [value](unsigned index) {
    return static_cast<char>(value >> 8 * index & 0xff);
  };
  const std::array<char, 4> bytes{byte(0), byte(1), byte(2), byte(3)};
  out.append(bytes.data(), bytes.size());
}

void append_text(std::string& out, std::string_view text) {
  append_u32(out, text.size());
  out += text;
}

void append_state(std::string& out, const State& state) {
  append_text(out, state.fallback);
  append_u32(out, state.shards.size());
  for (const Shard& shard : state.shards) {
    append_text(out, shard.at);
    append_text(out, shard.owner);
    append_u32(out, shard.parent ? *shard.parent + 1 : 0);
    if (!shard.route.empty()) append_text(out, shard.route);
  }
  if (state.table.empty()) return;
  append_u32(out, state.table.size());
  for (const TableRow& row : state.table) {
    append_text(out, row.member);
    append_text(out, row.buckets);
  }
}

// The canonical form of a topology, of which the id is the hash128. Every number is 32 bits,
// little-endian; every text follows its length in bytes:
//   scheme, count of members, each member's (name, weight, zone) in natural order of the names,
//   count of buckets in the table (0 where the scheme hashes keys in a way of its own), each
//   bucket's owner;
//   where there is a state: its fallback, count of shards, each one's (at, owner, parent's number
//   and 1, or 0, and its route, where it has one), and where it has a table, count of rows, each
//   one's (member, buckets).
// Fixed for ever: tests/golden/topology_id.csv.
Hash128 id_of(std::string_view scheme, const std::vector<Member>& members,
              const std::vector<MemberIndex>& bucket_owners, const State& state) {
  std::string form;
  form.reserve(64 + members.size() * 32 + bucket_owners.size() * 4);
  append_text(form, scheme);
  append_u32(form, members.size());
  for (const Member& member : members) {
    append_text(form, member.name);
    append_u32(form, member.weight);
    append_text(form, member.zone);
  }
  append_u32(form, bucket_owners.size());
  for (const MemberIndex owner : bucket_owners) append_u32(form, owner);
  if (!state.is_empty()) append_state(form, state);
  return hash128(form);
}

// 0: buckets are numbered by the hash of keys alone. Never that of others.
std::uint64_t numbering_of(const Schemes& schemes, const Scheme& scheme, const State& state) {
  const bool has_shards = !schemes.of_routes.empty() || schemes.has_shards();
  const std::string roots = (has_shards ? schemes.roots(state) : "") + scheme.own_numbers();
  if (!has_shards && roots.empty()) return 0;
  std::string form;
  append_text(form, schemes.text());
  append_text(form, roots);
  return hash64(form) | 1;
}

}  // namespace

MemberIndex Scheme::owner(const ShardKey& key) const {
  std::vector<MemberIndex> first;
  owners(key, 1, first);
  return first.front();
}

Result<std::shared_ptr<const Topology>> Topology::make(std::vector<Member> members,
                                                       std::string_view scheme,
                                                       std::uint64_t version, State state) {
  const auto schemes = parse_schemes(scheme);
  if (!schemes) return schemes.error();
  if (auto sorted = sort_members(members); !sorted) return sorted.error();
  if (state.is_empty()) state = schemes->first_state();
  auto rule = schemes->scheme_of(members, state);
  if (!rule) return rule.error();

  std::shared_ptr<Topology> topology(new Topology());
  topology->members_ = std::move(members);
  topology->state_ = std::move(state);
  topology->scheme_ = *std::move(rule);
  topology->bucket_owners_ = topology->scheme_->bucket_owners();
  for (const Member& member : topology->members_) topology->owns_any_.push_back(member.weight > 0);
  for (const MemberIndex owner : topology->bucket_owners_) topology->owns_any_[owner] = true;
  for (const RouteScheme& one : schemes->of_routes) topology->routes_.push_back(one.route);
  topology->version_ = version;
  topology->numbering_ = numbering_of(*schemes, *topology->scheme_, topology->state_);
  topology->is_asked_by_key_ = schemes->own.hashes_otherwise() && schemes->of_routes.empty();
  const auto& table = topology->bucket_owners_;
  topology->id_ =
      id_of(topology->scheme(), topology->members_,
            topology->is_asked_by_key_ ? std::vector<MemberIndex>{} : table, topology->state_);
  return std::shared_ptr<const Topology>(std::move(topology));
}

bool Topology::extends(const Topology& before) const noexcept {
  if (numbering_ != before.numbering_) return false;
  const auto& old_shards = before.state_.shards;
  if (old_shards.size() > state_.shards.size()) return false;
  return std::equal(old_shards.begin(), old_shards.end(), state_.shards.begin(),
                    [](const Shard& old_one, const Shard& one) {
                      const bool is_same = one.at == old_one.at;
                      const bool was_split = one.at.starts_with(old_one.at + "_");
                      return one.parent == old_one.parent && one.route == old_one.route &&
                             (is_same || was_split);
                    });
}

State Topology::state_with_owners() const {
  State state = state_;
  const auto schemes = parse_schemes(scheme());
  if (!schemes || bucket_owners_.empty()) return state;
  for (std::size_t i = 0; i < state.shards.size(); ++i) {
    Shard& shard = state.shards[i];
    const SchemeEntry* const entry = schemes->find(shard.route);
    if (entry == nullptr || entry->name == "directory") continue;  // whose keys stay where they are
    shard.owner = members_[bucket_owners_[first_shard() + i]].name;
  }
  return state;
}

State Topology::state_to_keep() const {
  State state = state_;
  if (auto table = scheme_->table_to_keep(); !table.empty()) state.table = std::move(table);
  return state;
}

std::string_view Topology::scheme_route(std::string_view route) const noexcept {
  return std::binary_search(routes_.begin(), routes_.end(), route) ? route : std::string_view{};
}

std::string_view Topology::own_key(std::string_view key) const noexcept {
  if (routes_.empty()) return key;
  return key.substr(std::min(key.find('\n') + 1, key.size()));
}

std::optional<MemberIndex> Topology::find(std::string_view member_name) const noexcept {
  const auto found = std::lower_bound(members_.begin(), members_.end(), member_name,
                                      [](const Member& member, std::string_view name) {
                                        return std::is_lt(natural_order(member.name, name));
                                      });
  if (found == members_.end() || found->name != member_name) return std::nullopt;
  return static_cast<MemberIndex>(found - members_.begin());
}

MemberIndex Topology::owner(const ShardKey& key) const {
  RINGSIDE_CHECK(!members_.empty());
  return is_asked_by_key_ ? scheme_->owner(key) : bucket_owners_[bucket_for(key)];
}

void Topology::owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const {
  scheme_->owners(key, n, owners);
}

std::vector<Move> diff(const Topology& before, const Topology& after) {
  const auto& old_owners = before.bucket_owners();
  const auto& new_owners = after.bucket_owners();
  RINGSIDE_CHECK(!old_owners.empty() || before.members().empty());
  RINGSIDE_CHECK(!new_owners.empty() || after.members().empty());
  const bool are_the_same = before.numbering() == after.numbering();
  std::vector<std::optional<MemberIndex>> renumbered;
  for (const Member& member : before.members()) renumbered.push_back(after.find(member.name));
  const auto owner_before = [&](std::size_t bucket) -> std::optional<MemberIndex> {
    while (are_the_same && bucket >= old_owners.size() && !old_owners.empty()) {
      const auto parent = after.parent_of(static_cast<Bucket>(bucket));
      if (!parent) return std::nullopt;
      bucket = *parent;
    }
    return are_the_same && bucket < old_owners.size() ? std::optional(old_owners[bucket])
                                                      : std::nullopt;
  };
  std::vector<Move> moves;
  for (std::size_t i = 0; i < std::max(old_owners.size(), new_owners.size()); ++i) {
    const auto from = owner_before(i);
    const auto to = i < new_owners.size() ? std::optional(new_owners[i]) : std::nullopt;
    const bool is_still_there = from && to && renumbered[*from] == to;
    if (!is_still_there) moves.push_back({static_cast<Bucket>(i), from, to});
  }
  return moves;
}

std::size_t moved_buckets(const Topology& before, const Topology& after) {
  return diff(before, after).size();
}

}  // namespace ringside::shard
