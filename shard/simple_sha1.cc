#include "shard/simple_sha1.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ringside::shard {
namespace {

std::size_t position_of(std::uint8_t first_byte, std::size_t members) noexcept {
  const int magnitude = std::abs(static_cast<int>(static_cast<std::int8_t>(first_byte)));
  const int value = magnitude % 10;  // below 10 this changes nothing
  // In floating point because the scheme was: value * members / 10 in whole numbers differs from it
  // for some counts of members (58 is the first).
  return static_cast<std::size_t>(value / (10.0 / static_cast<double>(members)));
}

}  // namespace

void SimpleSha1::owners(const ShardKey& key, std::size_t n,
                        std::vector<MemberIndex>& owners) const {
  owners.clear();
  if (members_ == 0) return;
  const std::size_t first = position_of(sha1_.of(key.bytes).front(), members_);
  for (std::size_t i = 0; i < std::min(n, members_); ++i) {
    owners.push_back(static_cast<MemberIndex>((first + i) % members_));
  }
}

Result<std::shared_ptr<const Scheme>> make_simple_sha1(std::span<const Member> members) {
  for (const Member& member : members) {
    if (member.weight == 1) continue;
    return invalid_input(
        fmt::format("member \"{}\": weight is {}, but the scheme simple-sha1 knows no weights; "
                    "leave it at 1 or "
                    "choose the scheme \"ring\"",
                    member.name, member.weight));
  }
  auto sha1 = Digest::sha1();
  if (!sha1) return sha1.error();
  return std::shared_ptr<const Scheme>(
      std::make_shared<SimpleSha1>(members.size(), *std::move(sha1)));
}

}  // namespace ringside::shard
