#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shard/topology.h"
#include "tier/membership.h"

namespace ringside::tier {

// Who should hold each bucket at this moment: the first of its owners, in order of preference, that
// can take it. Most often that is its owner; where that one drains or is gone, the next, to which
// sidecars turn as well. A value; not thread-safe.
class Takers {
 public:
  // Null, or a scheme that is not by bucket: nobody takes anything.
  void follow(const MembershipPointer& membership);
  // Who can't take anything. True: something has changed by it.
  bool leave_out(const std::function<bool(const std::string& member)>& is_left_out);

  // False: there are no buckets that anybody could take.
  [[nodiscard]] bool has_any() const noexcept { return !by_bucket_.empty(); }
  [[nodiscard]] bool has(std::string_view member) const noexcept {
    return membership_ && membership_->topology->find(member).has_value();
  }
  // Nullptr: nobody can.
  [[nodiscard]] const std::string* of(shard::Bucket bucket) const noexcept;
  [[nodiscard]] bool is(std::string_view member, shard::Bucket bucket) const noexcept;
  // All of a member's, in ascending order.
  [[nodiscard]] std::vector<shard::Bucket> buckets_of(std::string_view member) const;
  // Whether it is the member's, whether or not that one can take it. Requires has_any().
  [[nodiscard]] bool is_owner(std::string_view member, shard::Bucket bucket) const noexcept;
  [[nodiscard]] const MembershipPointer& followed() const noexcept { return membership_; }
  // That is followed; null: none.
  [[nodiscard]] const shard::Topology* topology() const noexcept {
    return membership_ ? membership_->topology.get() : nullptr;
  }

 private:
  void compute();

  MembershipPointer membership_;  // null: has_any() is false
  std::vector<bool> is_out_;      // by member
  std::vector<shard::MemberIndex> by_bucket_;
};

}  // namespace ringside::tier
