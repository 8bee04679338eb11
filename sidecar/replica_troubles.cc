#include "sidecar/replica_troubles.h"

#include <fmt/format.h>

#include "base/limits.h"

namespace ringside::sidecar {

void ReplicaTroubles::expect(const Key& replica, const std::string& what) {
  const std::lock_guard lock(mutex_);
  rows_.try_emplace(replica, Row{what, std::nullopt});
}

bool ReplicaTroubles::note(const Key& replica, const std::string& what, SteadyPoint now) {
  const std::lock_guard lock(mutex_);
  Row& row = rows_[replica];
  const bool is_news = !row.logged || row.what != what;
  if (!is_news && now - *row.logged < limits::peer_reminder_interval) return false;
  row = {what, now};
  return true;
}

bool ReplicaTroubles::settled(const Key& replica) {
  const std::lock_guard lock(mutex_);
  const auto found = rows_.find(replica);
  if (found == rows_.end()) return false;
  const bool was_logged = found->second.logged.has_value();
  rows_.erase(found);
  return was_logged;
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
  if (rows_.empty()) return false;
  for (shard::MemberIndex index = 0; index < membership.size(); ++index) {
    if (!membership.is_somewhere(index)) continue;
    if (!rows_.contains(Key(membership.name(index), membership.address(index)))) return false;
  }
  return true;
}

std::vector<std::string> ReplicaTroubles::lines(const tier::Membership& membership) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (shard::MemberIndex index = 0; index < membership.size(); ++index) {
    const auto row = rows_.find(Key(membership.name(index), membership.address(index)));
    if (row == rows_.end()) continue;
    out.push_back(fmt::format("replica {} at {} {}", membership.name(index),
                              membership.address(index).text(), row->second.what));
  }
  return out;
}

}  // namespace ringside::sidecar
