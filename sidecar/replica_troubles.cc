#include "sidecar/replica_troubles.h"

#include <fmt/format.h>

#include <utility>

#include "base/limits.h"

namespace ringside::sidecar {

void ReplicaTroubles::expect(const Key& replica, const std::string& what) {
  const std::lock_guard lock(mutex_);
  Row& row = rows_.try_emplace(replica, Row{what, {}}).first->second;
  if (row.is_over) row = {what, row.logged};
}

bool ReplicaTroubles::note(const Key& replica, const std::string& what, SteadyPoint now) {
  const std::lock_guard lock(mutex_);
  Row& row = rows_[replica];
  const bool is_other = row.what != what;
  row.what = what;
  row.is_over = false;
  if (!is_other && row.logged && now - *row.logged < limits::peer_reminder_interval) return false;
  row.logged = now;
  row.was_told = true;
  return true;
}

bool ReplicaTroubles::settled(const Key& replica) {
  const std::lock_guard lock(mutex_);
  const auto found = rows_.find(replica);
  if (found == rows_.end()) return false;
  found->second.is_over = true;
  return std::exchange(found->second.was_told, false);
}

void ReplicaTroubles::keep(const tier::Membership& membership) {
  const std::lock_guard lock(mutex_);
  std::map<Key, Row> kept;
  for (shard::MemberIndex index = 0; index < membership.size(); ++index) {
    const auto found = rows_.find(Key(membership.name(index), membership.address(index)));
    if (found != rows_.end()) kept.insert(*found);
  }
  rows_ = std::move(kept);
}

bool ReplicaTroubles::are_all(const tier::Membership& membership) const {
  const std::lock_guard lock(mutex_);
  bool any = false;
  for (shard::MemberIndex index = 0; index < membership.size(); ++index) {
    if (!membership.is_somewhere(index)) continue;
    const auto row = rows_.find(Key(membership.name(index), membership.address(index)));
    if (row == rows_.end() || row->second.is_over) return false;
    any = true;
  }
  return any;
}

bool ReplicaTroubles::has(const Key& replica) const {
  const std::lock_guard lock(mutex_);
  const auto row = rows_.find(replica);
  return row != rows_.end() && !row->second.is_over;
}

bool none_can_be_used(const Troubles& troubles, const tier::Membership& membership) {
  bool any = false;
  for (shard::MemberIndex index = 0; index < membership.size(); ++index) {
    if (!membership.is_somewhere(index)) continue;
    const ReplicaTroubles::Key key(membership.name(index), membership.address(index));
    if (!troubles.unproven.has(key) && !troubles.silent.has(key)) return false;
    any = true;
  }
  return any;
}

std::vector<std::string> ReplicaTroubles::lines(const tier::Membership& membership) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (shard::MemberIndex index = 0; index < membership.size(); ++index) {
    const auto row = rows_.find(Key(membership.name(index), membership.address(index)));
    if (row == rows_.end() || row->second.is_over) continue;
    out.push_back(fmt::format("replica {} at {} {}", membership.name(index),
                              membership.address(index).text(), row->second.what));
  }
  return out;
}

}  // namespace ringside::sidecar
