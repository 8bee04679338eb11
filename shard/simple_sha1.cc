#include "shard/simple_sha1.h"

#include <algorithm>
#include <cstdlib>

#include "shard/digest.h"
#include "shard/weightless.h"

namespace ringside::shard {
namespace {

constexpr std::size_t first_bytes = 256;

std::size_t position_of(std::uint8_t first_byte, std::size_t members) noexcept {
  const int magnitude = std::abs(static_cast<int>(static_cast<std::int8_t>(first_byte)));
  const int value = magnitude % 10;  // below 10 this changes nothing
  // In floating point because the scheme was: value * members / 10 in whole numbers differs from it
  // for some counts of members (58 is the first).
  return static_cast<std::size_t>(value / (10.0 / static_cast<double>(members)));
}

}  // namespace

SimpleSha1::SimpleSha1(std::span<const Member> members) {
  for (const Member& member : members) has_weight_.push_back(member.weight > 0);
}

Bucket SimpleSha1::bucket_for(const ShardKey& key) const noexcept {
  return sha1_of(key.bytes).front();
}

std::size_t SimpleSha1::first_of(Bucket bucket) const noexcept {
  std::size_t position = position_of(static_cast<std::uint8_t>(bucket), has_weight_.size());
  while (!has_weight_[position]) position = (position + 1) % has_weight_.size();
  return position;
}

void SimpleSha1::owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const {
  owners.clear();
  if (has_weight_.empty()) return;
  const std::size_t first = first_of(bucket);
  for (std::size_t i = 0; i < has_weight_.size() && owners.size() < n; ++i) {
    const std::size_t position = (first + i) % has_weight_.size();
    if (has_weight_[position]) owners.push_back(static_cast<MemberIndex>(position));
  }
}

std::vector<MemberIndex> SimpleSha1::bucket_owners() const {
  std::vector<MemberIndex> owners;
  for (std::size_t bucket = 0; bucket < first_bytes && !has_weight_.empty(); ++bucket) {
    owners.push_back(static_cast<MemberIndex>(first_of(static_cast<Bucket>(bucket))));
  }
  return owners;
}

Result<std::shared_ptr<const Scheme>> make_simple_sha1(std::span<const Member> members) {
  if (auto checked = check_no_weights(members, "simple-sha1"); !checked) return checked.error();
  return std::shared_ptr<const Scheme>(std::make_shared<SimpleSha1>(members));
}

Result<std::shared_ptr<const Scheme>> make_simple_sha1_within(std::span<const Member> members,
                                                              std::size_t /*buckets*/) {
  return make_simple_sha1(members);
}

}  // namespace ringside::shard
