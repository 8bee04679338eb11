#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace ringside::shard {

struct Member {
  std::string name;
  std::uint32_t weight = 1;  // 0: owns nothing and is nobody's next choice, but stays a member
  std::string zone;
  bool operator==(const Member&) const = default;
};

// THE order of a topology's members: runs of digits compare as numbers, everything else byte by
// byte, and names that differ in leading zeros only byte by byte as a whole. So cache-2 comes
// before cache-10, and the ordinal of a StatefulSet's pod is its position: the compatibility
// schemes, which know members by position, see shard i at cache-i, and an eleventh replica is
// appended instead of shifting the others. Total: only equal names compare equal.
[[nodiscard]] std::strong_ordering natural_order(std::string_view a, std::string_view b) noexcept;

// What a member may be. Each Error's message starts with what is wrong with the value and names
// what may stand there; the caller puts the place before it.
//
// A name or a zone is visible ASCII: both are written into headers, metrics, logs and JSON as they
// are.
[[nodiscard]] Result<void> check_member_name(std::string_view name);
[[nodiscard]] Result<void> check_member_weight(std::uint64_t weight);
// So many members whose weights add up to `together`. Members that all have weight 0 are refused:
// nobody would own anything. No members at all are fine.
[[nodiscard]] Result<void> check_member_weights(std::size_t members, std::uint64_t together);
[[nodiscard]] Result<void> check_member_zone(std::string_view zone);  // may be empty

}  // namespace ringside::shard
