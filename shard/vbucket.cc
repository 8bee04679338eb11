#include "shard/vbucket.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "shard/rebalance.h"

namespace ringside::shard {
namespace {

// Whose the buckets are while a table is made: of each member those that it has had the longest
// first.
using Hands = std::vector<std::deque<Bucket>>;

// Which of its buckets a member gives.
enum class Given { newest, oldest };

void balance(Hands& hands, std::span<const std::uint32_t> weights, Given given,
             std::vector<MemberIndex>& before) {
  std::vector<std::size_t> counts;
  for (const auto& buckets : hands) counts.push_back(buckets.size());
  for (const BucketMove& move : rebalance(counts, weights)) {
    auto& from = hands[move.from];
    for (std::size_t i = 0; i < move.buckets; ++i) {
      const Bucket bucket = given == Given::newest ? from.back() : from.front();
      given == Given::newest ? from.pop_back() : from.pop_front();
      hands[move.to].push_back(bucket);
      before[bucket] = move.from;
    }
  }
}

}  // namespace

VBucket::VBucket(std::span<const Member> members) : others_(members) {
  if (members.empty()) return;
  before_.assign(bucket_count, 0);
  Hands hands(1);
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    hands.front().push_back(static_cast<Bucket>(bucket));
  }
  std::vector<std::uint32_t> weights{1};
  while (hands.size() < members.size()) {
    hands.emplace_back();
    weights.push_back(1);
    balance(hands, weights, Given::newest, before_);
  }
  // Whom the next member would take the newest from keeps these: it takes the same whatever the
  // weights of the others.
  for (std::size_t i = 0; i < members.size(); ++i) weights[i] = members[i].weight;
  balance(hands, weights, Given::oldest, before_);

  owners_.resize(bucket_count);
  for (MemberIndex member = 0; member < hands.size(); ++member) {
    has_weight_.push_back(members[member].weight > 0);
    for (const Bucket bucket : hands[member]) owners_[bucket] = member;
  }
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
  const auto last = std::find(has_weight_.rbegin(), has_weight_.rend(), true);
  const auto last_member = static_cast<std::size_t>(has_weight_.rend() - last) - 1;
  if (owners_[bucket] == last_member) add(before_[bucket]);
  for (const MemberIndex member : others) add(member);
}

Result<std::shared_ptr<const Scheme>> make_vbucket(std::span<const Member> members) {
  return std::shared_ptr<const Scheme>(std::make_shared<VBucket>(members));
}

}  // namespace ringside::shard
