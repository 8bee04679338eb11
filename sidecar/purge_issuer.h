#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "tier/purges.h"

namespace ringside::sidecar {

// Numbers what one issuer tells the replicas, and knows which of it is under way. Thread-safe.
class PurgeIssuer {
 public:
  explicit PurgeIssuer(std::string mark) : numbering_(std::move(mark)) {}

  using Issued = tier::IssuedPurge<PurgeIssuer>;
  // See Issued.
  [[nodiscard]] tier::PurgeNumber begin() {
    const std::lock_guard lock(mutex_);
    tier::PurgeNumber purge = numbering_.begin();
    issued_ = purge.number;
    return purge;
  }
  void end(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    numbering_.end(number);
  }

  // How many there were so far.
  [[nodiscard]] const std::atomic<std::uint64_t>& issued() const noexcept { return issued_; }

 private:
  std::atomic<std::uint64_t> issued_{0};
  std::mutex mutex_;
  tier::PurgeNumbering numbering_;
};

}  // namespace ringside::sidecar
