#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/tier/some_membership.h"
#include "tier/authority.h"

namespace ringside::tier {

inline constexpr SteadyPoint start{std::chrono::hours{1}};

// Replicas that know each other, and say what they hold when somebody lets them.
class Tier {
 public:
  explicit Tier(const std::vector<std::string>& names) {
    const auto membership = membership_of(names);
    for (const std::string& name : names) start_replica(name);
    for (const std::string& name : names) at(name).follow(membership);
  }

  Authority& start_replica(const std::string& name) {
    return replicas_.insert_or_assign(name, Authority(name, ++incarnations_)).first->second;
  }
  void stop(const std::string& name) { replicas_.erase(name); }
  Authority& at(const std::string& name) { return replicas_.at(name); }

  // Everybody calls whom it wants to, until nobody does.
  void talk() {
    for (bool somebody = true; somebody;) {
      somebody = false;
      for (auto& [name, authority] : replicas_) {
        for (const auto& call : authority.take_due(now_)) {
          somebody = true;
          make_call(name, call);
        }
      }
      now_ += limits::holdings_interval;
    }
  }
  void let_time_pass(Milliseconds time) { now_ += time; }
  void set_reachable(const std::string& name, bool is_reachable) {
    is_cut_off_[name] = !is_reachable;
  }

  // How many have the authority over a bucket.
  [[nodiscard]] std::size_t authorities(shard::Bucket bucket) const {
    std::size_t count = 0;
    for (const auto& [name, authority] : replicas_) count += authority.own().epoch(bucket) > 0;
    return count;
  }
  [[nodiscard]] bool each_bucket_has_one() const {
    for (std::size_t i = 0; i < shard::bucket_count; ++i) {
      if (authorities(static_cast<shard::Bucket>(i)) != 1) return false;
    }
    return true;
  }

 private:
  void make_call(const std::string& from, const Authority::Call& call) {
    Authority& caller = at(from);
    const std::string& to = call.peer.name;
    const auto asked = replicas_.find(to);
    if (asked == replicas_.end() || is_cut_off_[to] || is_cut_off_[from]) {
      return caller.failed(to, true, now_);
    }
    Authority& other = asked->second;
    other.hear_of_taking_back(from, {call.own.incarnation, call.taken_back_in});
    other.hint(from, call.own);
    if (other.own().version == call.known) {
      caller.heard_again(to, call.own, now_);
    } else {
      caller.heard(to, other.own(), call.own, now_);
    }
  }

  std::map<std::string, Authority> replicas_;
  std::map<std::string, bool> is_cut_off_;
  Incarnation incarnations_ = 0;
  SteadyPoint now_ = start;
};

// What a replica says that has the authority over one bucket alone.
inline Holdings holdings_of_one(Incarnation incarnation, shard::Bucket bucket, Epoch epoch) {
  Holdings holdings{{incarnation, epoch}, std::vector<Epoch>(shard::bucket_count)};
  holdings.epochs[bucket] = epoch;
  return holdings;
}

// Of a and b, to whom c has come; all know it, and nothing has moved yet.
struct GrownTier : Tier {
  const MembershipPointer before = membership_of({"a", "b"});
  const MembershipPointer after = membership_of({"a", "b", "c"});
  const shard::Bucket moved = moved_bucket(*before, *after, "a", "c");

  GrownTier() : Tier({"a", "b"}) {
    talk();
    start_replica("c");
    for (const char* name : {"c", "a", "b"}) at(name).follow(after);
    talk();
  }
};

}  // namespace ringside::tier
