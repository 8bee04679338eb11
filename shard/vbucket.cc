#include "shard/vbucket.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "shard/rebalance.h"

namespace ringside::shard {
namespace {

// Which of its buckets a member gives.
enum class Given { newest, oldest };

void give(std::vector<Bucket>& from, std::size_t count, Given given, std::vector<Bucket>& to) {
  const auto taken = static_cast<std::ptrdiff_t>(count);
  if (given == Given::oldest) {
    to.insert(to.end(), from.begin(), from.begin() + taken);
    from.erase(from.begin(), from.begin() + taken);
  } else {
    to.insert(to.end(), from.rbegin(), from.rbegin() + taken);
    from.erase(from.end() - taken, from.end());
  }
}

// The hands from `members` on are of members that left. Who gives all gives the oldest first: they
// came from the others in order, and in that order they go back.
void balance(BucketHands& hands, std::span<const std::uint32_t> weights, Given of_who_stays,
             std::size_t members, std::vector<MemberIndex>& before) {
  std::vector<std::size_t> counts;
  for (const auto& buckets : hands) counts.push_back(buckets.size());
  for (const BucketMove& move : rebalance(counts, weights)) {
    auto& to = hands[move.to];
    give(hands[move.from], move.buckets, weights[move.from] == 0 ? Given::oldest : of_who_stays,
         to);
    if (move.from >= members) continue;
    const auto first_given = to.end() - static_cast<std::ptrdiff_t>(move.buckets);
    std::for_each(first_given, to.end(), [&](Bucket bucket) { before[bucket] = move.from; });
  }
}

void note_owners(const BucketHands& hands, std::vector<MemberIndex>& owners) {
  for (MemberIndex member = 0; member < hands.size(); ++member) {
    for (const Bucket bucket : hands[member]) owners[bucket] = member;
  }
}

Result<VBucket::Table> table_of_members(std::span<const Member> members) {
  if (members.empty()) return VBucket::Table{};
  VBucket::Table table{{}, std::vector<MemberIndex>(bucket_count)};
  table.hands.emplace_back();
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    table.hands.front().push_back(static_cast<Bucket>(bucket));
  }
  std::vector<std::uint32_t> weights{1};
  while (table.hands.size() < members.size()) {
    table.hands.emplace_back();
    weights.push_back(1);
    balance(table.hands, weights, Given::newest, members.size(), table.before);
  }
  // Whom the next member would take the newest from keeps these: it takes the same whatever the
  // weights of the others.
  for (std::size_t i = 0; i < members.size(); ++i) weights[i] = members[i].weight;
  balance(table.hands, weights, Given::oldest, members.size(), table.before);

  MemberIndex last = 0;
  for (MemberIndex member = 0; member < members.size(); ++member) {
    if (members[member].weight > 0) last = member;
  }
  for (MemberIndex member = 0; member < members.size(); ++member) {
    if (member == last) continue;
    for (const Bucket bucket : table.hands[member]) table.before[bucket] = member;
  }
  return table;
}

Result<VBucket::Table> table_of_state(std::span<const Member> members, const State& state) {
  auto read = read_table(state.table);
  if (!read) return read.error();
  if (members.empty()) return VBucket::Table{};
  VBucket::Table table{BucketHands(members.size()), std::vector<MemberIndex>(bucket_count)};
  std::vector<std::uint32_t> weights;
  for (const Member& member : members) weights.push_back(member.weight);
  for (std::size_t row = 0; row < read->size(); ++row) {
    const auto member = std::find_if(members.begin(), members.end(), [&](const Member& one) {
      return one.name == state.table[row].member;
    });
    if (member != members.end()) {
      table.hands[static_cast<std::size_t>(member - members.begin())] = std::move((*read)[row]);
    } else {
      table.hands.push_back(std::move((*read)[row]));
      weights.push_back(0);
    }
  }
  balance(table.hands, weights, Given::newest, members.size(), table.before);
  table.hands.resize(members.size());
  note_owners(table.hands, table.before);
  return table;
}

}  // namespace

VBucket::VBucket(std::span<const Member> members, Table table)
    : table_(table_rows(members, table.hands)), before_(std::move(table.before)), others_(members) {
  for (const Member& member : members) has_weight_.push_back(member.weight > 0);
  if (members.empty()) return;
  owners_.resize(bucket_count);
  note_owners(table.hands, owners_);
}

void VBucket::owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const {
  owners.clear();
  if (owners_.empty() || n == 0) return;
  const Bucket bucket = bucket_of(key.hash);
  std::vector<MemberIndex> others;
  others_.owners(key, n, others);
  const auto add = [&](MemberIndex member) {
    const bool is_there = std::find(owners.begin(), owners.end(), member) != owners.end();
    if (owners.size() < n && has_weight_[member] && !is_there) owners.push_back(member);
  };
  add(owners_[bucket]);
  add(before_[bucket]);
  for (const MemberIndex member : others) add(member);
}

Result<std::shared_ptr<const Scheme>> make_vbucket(std::span<const Member> members,
                                                   const State& state) {
  if (state.has_shards()) {
    return invalid_input("shards: the scheme vbucket has a table and no shards; leave them out");
  }
  auto table = state.table.empty() ? table_of_members(members) : table_of_state(members, state);
  if (!table) return table.error();
  return std::shared_ptr<const Scheme>(std::make_shared<VBucket>(members, *std::move(table)));
}

}  // namespace ringside::shard
