#include "sidecar/missed.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/limits.h"
#include "tier/purges.h"

namespace ringside::sidecar {

std::optional<Missed::News> Missed::news() const {
  const std::uint64_t number = missed_.load();
  if (number <= heeded_.load()) return std::nullopt;
  // Read last: what was missed is among them.
  return News{number, fmt::format("{} {}", mark_, number),
              tier::to_text(tier::PurgeNumber{mark_, purges_.load()})};
}

void Missed::heeded(std::uint64_t number) noexcept {
  std::uint64_t before = heeded_.load();
  while (before < number && !heeded_.compare_exchange_weak(before, number)) {
  }
}

MissedPointers MissedTable::follow(const tier::Membership& membership) {
  const std::lock_guard lock(mutex_);
  MissedPointers members;
  for (shard::MemberIndex index = 0; index < membership.size(); ++index) {
    auto& row = rows_[membership.name(index)];
    if (!row) row = std::make_shared<Missed>(mark_, purges_);
    members.push_back(row);
  }
  if (rows_.size() > members.size() + limits::replicas_remembered) {
    std::erase_if(rows_, [&](const auto& row) {
      return std::find(members.begin(), members.end(), row.second) == members.end();
    });
  }
  return members;
}

void MissedTable::miss_all_but(const MissedPointers& asked) {
  std::unordered_set<const Missed*> these;
  for (const auto& row : asked) these.insert(row.get());
  const std::lock_guard lock(mutex_);
  for (const auto& [name, row] : rows_) {
    if (!these.contains(row.get())) row->miss();
  }
}

}  // namespace ringside::sidecar
