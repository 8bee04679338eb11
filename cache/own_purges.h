#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "tier/purges.h"

namespace ringside::cache {

// What this replica tells its peers to remove of its own accord (purge_relay.h), and who has not
// confirmed it. Those hear of it with the next question of ours that is no client's, and empty
// their stores before they answer (MissedPurges): docs/decisions/missed-purges.md. Thread-safe.
class OwnPurges {
 public:
  // `mark` tells this replica, and this run of it, from all others.
  explicit OwnPurges(std::string mark) : numbering_(std::move(mark)) {}

  // One more. Who has not confirmed it is missed() before it ends.
  using Issued = tier::IssuedPurge<OwnPurges>;
  [[nodiscard]] tier::PurgeNumber begin() {
    const std::lock_guard lock(mutex_);
    return numbering_.begin();
  }
  void end(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    numbering_.end(number);
  }

  // `peer` has not confirmed all that was begun so far.
  void missed(std::string_view peer) {
    const std::lock_guard lock(mutex_);
    missed_.insert_or_assign(std::string(peer), numbering_.last().number);
    if (missed_.size() <= limits::replicas_remembered) return;
    const auto is_older = [](const auto& a, const auto& b) { return a.second < b.second; };
    missed_.erase(std::min_element(missed_.begin(), missed_.end(), is_older));
  }
  // What it is to be told: what it has missed is among those up to the last one, and the number of
  // the news is that of what it missed last. Nullopt: nothing.
  struct News {
    std::uint64_t number = 0;
    tier::PurgeNumber last;
  };
  [[nodiscard]] std::optional<News> news(std::string_view peer) const {
    const std::lock_guard lock(mutex_);
    const auto row = missed_.find(peer);
    if (row == missed_.end()) return std::nullopt;
    return News{row->second, numbering_.last()};
  }
  // It has emptied its store because of these news. What it has missed since is still to be told.
  void heeded(std::string_view peer, std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto row = missed_.find(peer);
    if (row != missed_.end() && row->second <= number) missed_.erase(row);
  }

 private:
  mutable std::mutex mutex_;
  tier::PurgeNumbering numbering_;
  std::map<std::string, std::uint64_t, std::less<>> missed_;  // by peer
};

}  // namespace ringside::cache
