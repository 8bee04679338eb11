#include "tier/takers.h"

#include <algorithm>
#include <utility>

namespace ringside::tier {
namespace {

constexpr shard::MemberIndex nobody = ~shard::MemberIndex{0};

}  // namespace

void Takers::follow(const MembershipPointer& membership) {
  const bool is_by_bucket = membership && !membership->topology->bucket_owners().empty();
  membership_ = is_by_bucket ? membership : nullptr;
  is_out_.assign(membership_ ? membership_->size() : 0, false);
  compute();
}

bool Takers::leave_out(const std::function<bool(const std::string& member)>& is_left_out) {
  if (!membership_) return false;
  std::vector<bool> is_out;
  for (shard::MemberIndex i = 0; i < membership_->size(); ++i) {
    is_out.push_back(is_left_out(membership_->name(i)));
  }
  if (is_out == is_out_) return false;
  is_out_ = std::move(is_out);
  compute();
  return true;
}

void Takers::compute() {
  by_bucket_.clear();
  if (!membership_) return;
  const shard::Topology& topology = *membership_->topology;
  by_bucket_ = topology.bucket_owners();
  const std::size_t buckets = by_bucket_.size();
  by_bucket_.resize(shard::bucket_count, nobody);
  // The first so many owners have one among them that is not out.
  const auto asked = static_cast<std::size_t>(std::count(is_out_.begin(), is_out_.end(), true)) + 1;
  if (asked == 1) return;
  std::vector<shard::MemberIndex> owners;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    if (!is_out_[by_bucket_[bucket]]) continue;
    topology.owners_of(static_cast<shard::Bucket>(bucket), asked, owners);
    const auto taker = std::find_if(owners.begin(), owners.end(),
                                    [&](shard::MemberIndex member) { return !is_out_[member]; });
    by_bucket_[bucket] = taker == owners.end() ? nobody : *taker;
  }
}

const std::string* Takers::of(shard::Bucket bucket) const noexcept {
  if (by_bucket_.empty() || by_bucket_[bucket] == nobody) return nullptr;
  return &membership_->name(by_bucket_[bucket]);
}

bool Takers::is(std::string_view member, shard::Bucket bucket) const noexcept {
  const std::string* const taker = of(bucket);
  return taker != nullptr && *taker == member;
}

std::vector<shard::Bucket> Takers::buckets_of(std::string_view member) const {
  std::vector<shard::Bucket> buckets;
  const auto index = membership_ ? membership_->topology->find(member) : std::nullopt;
  for (std::size_t bucket = 0; index && bucket < by_bucket_.size(); ++bucket) {
    if (by_bucket_[bucket] == *index) buckets.push_back(static_cast<shard::Bucket>(bucket));
  }
  return buckets;
}

bool Takers::is_owner(std::string_view member, shard::Bucket bucket) const noexcept {
  const auto& owners = membership_->topology->bucket_owners();
  return bucket < owners.size() && membership_->name(owners[bucket]) == member;
}

}  // namespace ringside::tier
