#include "shard/jump.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "shard/mix.h"
#include "shard/quotation.h"
#include "shard/weightless.h"

namespace ringside::shard {
namespace {

Result<void> check_numbers(std::span<const Member> members) {
  if (members.empty()) return {};
  std::string prefix = members.front().name;
  while (!prefix.empty() && prefix.back() >= '0' && prefix.back() <= '9') prefix.pop_back();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string wanted = fmt::format("{}{}", prefix, i);
    if (members[i].name == wanted) continue;
    return invalid_input(fmt::format(
        "member {} stands where {} should: the scheme jump knows numbered members alone, from 0 "
        "and without a gap; choose the scheme \"rendezvous\" for other names",
        quotation(members[i].name), quotation(wanted)));
  }
  return {};
}

}  // namespace

std::size_t jump_position(std::uint64_t key, std::size_t positions) noexcept {
  std::size_t position = 0;
  double next = 0;
  while (next < static_cast<double>(positions)) {
    position = static_cast<std::size_t>(next);
    key = key * 2862933555777941757ULL + 1;
    next = static_cast<double>(position + 1) *
           (static_cast<double>(1ULL << 31) / static_cast<double>((key >> 33) + 1));
  }
  return position;
}

Jump::Jump(std::span<const Member> members) {
  for (const Member& member : members) has_weight_.push_back(member.weight > 0);
}

void Jump::owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const {
  owners.clear();
  std::uint64_t next_key = hash_of(bucket_of(key.hash));
  std::vector<MemberIndex> left(has_weight_.size());
  std::iota(left.begin(), left.end(), MemberIndex{0});
  while (owners.size() < n && !left.empty()) {
    const std::size_t position = jump_position(next_key, left.size());
    if (has_weight_[left[position]]) owners.push_back(left[position]);
    if (position + 1 < left.size()) next_key = mix64(next_key);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(position));
  }
}

std::vector<MemberIndex> Jump::bucket_owners() const {
  std::vector<MemberIndex> owners;
  if (has_weight_.empty()) return owners;
  owners.reserve(bucket_count);
  std::vector<MemberIndex> first;
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    const std::uint64_t key = hash_of(static_cast<Bucket>(bucket));
    const auto owner = static_cast<MemberIndex>(jump_position(key, has_weight_.size()));
    owners.push_back(owner);
    if (has_weight_[owner]) continue;
    this->owners({{}, std::uint64_t{bucket} << (64 - bucket_bits)}, 1, first);
    owners.back() = first.front();
  }
  return owners;
}

Result<std::shared_ptr<const Scheme>> make_jump(std::span<const Member> members) {
  if (auto checked = check_no_weights(members, "jump"); !checked) return checked.error();
  if (auto checked = check_numbers(members); !checked) return checked.error();
  return std::shared_ptr<const Scheme>(std::make_shared<Jump>(members));
}

}  // namespace ringside::shard
