#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shard/topology.h"

namespace ringside::shard {

// The circle of consistent hashing (Karger et al., STOC 1997): points in order of their position,
// each of them a member's. A position belongs to the first point at or after it; after the last
// point comes the first.
class Circle {
 public:
  struct Point {
    std::uint64_t position = 0;
    MemberIndex member = 0;
    bool operator==(const Point&) const = default;
    friend bool operator<(const Point& a, const Point& b) noexcept {
      return a.position != b.position ? a.position < b.position : a.member < b.member;
    }
  };

  // Takes the points in any order; their positions have so many bits. Of several at one position
  // that of the lowest member, which is the first by name, comes first; the others stay behind it
  // as the next choices.
  explicit Circle(std::vector<Point> points, unsigned position_bits = 64);

  // Sorted, by a way that is quicker than std::sort since they lie evenly. No position has more
  // bits.
  [[nodiscard]] static std::vector<Point> in_order(std::vector<Point> points,
                                                   unsigned position_bits = 64);

  [[nodiscard]] const std::vector<Point>& points() const noexcept { return points_; }

  // The arc of a position: the number of the first point at or after it, around the end. Requires a
  // point.
  [[nodiscard]] std::size_t arc_of(std::uint64_t position) const noexcept;

  // The member of a position. Requires a point.
  [[nodiscard]] MemberIndex owner(std::uint64_t position) const noexcept {
    return points_[arc_of(position)].member;
  }

  // Replaces `owners` by the first min(n, members with a point) distinct members met clockwise from
  // `position`. A shorter list is always the beginning of a longer one.
  void owners(std::uint64_t position, std::size_t n, std::vector<MemberIndex>& owners) const;

 private:
  std::vector<Point> points_;
  // Positions are hashes, so that points lie evenly: about one in each of as many slots. By slot
  // the number of the first point that lies there or behind, for a search of few steps.
  std::vector<std::uint32_t> slots_;
  unsigned slot_shift_ = 0;
  std::size_t distinct_members_ = 0;
};

}  // namespace ringside::shard
