#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shard/circle.h"

// Buckets for rings that were made by others, and that place single keys: a tier can hand over what
// moves under them too (docs/decisions/shards.md).
namespace ringside::shard {

// So many members of weight 1 at most, so that their points make no more arcs than there are
// buckets.
inline constexpr std::size_t arc_members = 102;
inline constexpr std::uint32_t arc_points = 160;  // of each, and of each unit of weight
static_assert(arc_members == bucket_count / arc_points);

// The members that there may be: 102 of weight 1 where all buckets are theirs, or 51 of weight 2,
// or 25 of weight 4, and so on. A lighter one has some of the points that it would have with this
// weight.
struct ArcSpace {
  std::size_t buckets = bucket_count;  // of which each point takes one
  std::uint32_t weight = 1;            // of each; a power of two
  [[nodiscard]] std::size_t members() const noexcept { return buckets / arc_points / weight; }
  // What tells its arcs from those of other spaces.
  [[nodiscard]] std::string text() const;
};
// The largest in so many buckets that has room for the heaviest; nullopt: they are too many for it.
[[nodiscard]] std::optional<ArcSpace> arc_space(std::span<const Member> members,
                                                std::size_t buckets = bucket_count);
// Why members have no Arcs in so many buckets, and what to do. `names`: what they have to be
// called.
[[nodiscard]] Error no_arcs(std::string_view scheme, std::size_t buckets, std::string_view names);

// The arcs between the points of all members that there may be, whoever there is. No point of a
// member lies within an arc, so all keys of one have the same owners; and an arc is the same
// whatever the members are.
class Arcs {
 public:
  // The points of all members of a space, on a circle of 2^32 positions. `of_whom` tells them from
  // those of other tiers and spaces.
  Arcs(std::vector<Circle::Point> points, std::string of_whom);

  [[nodiscard]] Bucket bucket_at(std::uint64_t position) const noexcept {
    return static_cast<Bucket>(cuts_.arc_of(position));
  }
  // Where the keys of the bucket end, and with that what they all have on any circle of members.
  [[nodiscard]] std::uint64_t position_of(Bucket bucket) const noexcept {
    return cuts_.points()[bucket].position;
  }
  [[nodiscard]] std::size_t size() const noexcept { return cuts_.points().size(); }
  [[nodiscard]] const std::string& of_whom() const noexcept { return of_whom_; }
  // The owner of each on that circle; none where nobody is on it.
  [[nodiscard]] std::vector<MemberIndex> owners_on(const Circle& circle) const;

 private:
  Circle cuts_;
  std::string of_whom_;
};

// What all the members' names are but for their number, as `cache-` and nothing; nullopt: they are
// numbered otherwise than from 0 to most - 1.
struct NumberedNames {
  std::string before;
  std::string after;
  [[nodiscard]] std::string name(std::size_t number) const;
};
[[nodiscard]] std::optional<NumberedNames> numbered_names(std::span<const Member> members,
                                                          std::size_t most);

}  // namespace ringside::shard
