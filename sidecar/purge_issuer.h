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

  // One more, which is under way while this lives.
  class Issued {
   public:
    explicit Issued(PurgeIssuer& issuer) : issuer_(issuer), number_(issuer.begin()) {}
    ~Issued() { issuer_.end(number_.number); }
    Issued(const Issued&) = delete;
    Issued& operator=(const Issued&) = delete;
    [[nodiscard]] const tier::PurgeNumber& number() const noexcept { return number_; }

   private:
    PurgeIssuer& issuer_;
    const tier::PurgeNumber number_;
  };

  // How many there were so far.
  [[nodiscard]] const std::atomic<std::uint64_t>& issued() const noexcept { return issued_; }

 private:
  tier::PurgeNumber begin() {
    const std::lock_guard lock(mutex_);
    tier::PurgeNumber purge = numbering_.begin();
    issued_ = purge.number;
    return purge;
  }
  void end(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    numbering_.end(number);
  }

  std::atomic<std::uint64_t> issued_{0};
  std::mutex mutex_;
  tier::PurgeNumbering numbering_;
};

}  // namespace ringside::sidecar
