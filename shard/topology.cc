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

// The canonical form of a topology, of which the id is the hash128. Every number is 32 bits,
// little-endian; every text follows its length in bytes:
//   scheme, count of members, each member's (name, weight, zone) in natural order of the names,
//   count of buckets in the table (0 where the scheme has none), each bucket's owner.
// Fixed for ever: tests/golden/topology_id.csv.
Hash128 id_of(std::string_view scheme, const std::vector<Member>& members,
              const std::vector<MemberIndex>& bucket_owners) {
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
  return hash128(form);
}

}  // namespace

MemberIndex Scheme::owner(const ShardKey& key) const {
  std::vector<MemberIndex> first;
  owners(key, 1, first);
  return first.front();
}

Result<std::shared_ptr<const Topology>> Topology::make(std::vector<Member> members,
                                                       std::string_view scheme,
                                                       std::uint64_t version) {
  const auto entry = find_scheme(scheme);
  if (!entry) return entry.error();
  if (auto sorted = sort_members(members); !sorted) return sorted.error();
  auto rule = entry->make(members);
  if (!rule) return rule.error();

  std::shared_ptr<Topology> topology(new Topology());
  topology->members_ = std::move(members);
  topology->scheme_ = *std::move(rule);
  topology->bucket_owners_ = topology->scheme_->bucket_owners();
  topology->version_ = version;
  topology->id_ = id_of(topology->scheme(), topology->members_, topology->bucket_owners_);
  return std::shared_ptr<const Topology>(std::move(topology));
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
  if (!bucket_owners_.empty()) return bucket_owners_[bucket_of(key.hash)];
  return scheme_->owner(key);
}

void Topology::owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const {
  scheme_->owners(key, n, owners);
}

std::size_t moved_buckets(const Topology& before, const Topology& after) {
  const auto& old_owners = before.bucket_owners();
  const auto& new_owners = after.bucket_owners();
  RINGSIDE_CHECK(!old_owners.empty() || before.members().empty());
  RINGSIDE_CHECK(!new_owners.empty() || after.members().empty());
  if (old_owners.empty() || new_owners.empty()) {
    return old_owners.empty() && new_owners.empty() ? 0 : bucket_count;
  }
  std::vector<std::optional<MemberIndex>> renumbered;
  for (const Member& member : before.members()) renumbered.push_back(after.find(member.name));
  std::size_t moved = 0;
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    if (renumbered[old_owners[bucket]] != new_owners[bucket]) ++moved;
  }
  return moved;
}

}  // namespace ringside::shard
