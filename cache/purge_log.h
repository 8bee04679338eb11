#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "tier/purges.h"

namespace ringside::cache {

// How far this replica has come with the purges of each issuer, for all of its cores. Thread-safe.
class PurgeLog {
 public:
  // One that is applied while it lives. Nullopt: it has no number.
  class Applying {
   public:
    Applying(PurgeLog& log, const std::optional<tier::PurgeNumber>& purge, SteadyPoint now)
        : log_(log), purge_(purge) {
      const std::lock_guard lock(log_.mutex_);
      if (purge_) log_.purges_.begin(*purge_, now);
    }
    ~Applying() {
      const std::lock_guard lock(log_.mutex_);
      if (purge_) log_.purges_.end(*purge_);
    }
    Applying(const Applying&) = delete;
    Applying& operator=(const Applying&) = delete;

   private:
    PurgeLog& log_;
    const std::optional<tier::PurgeNumber> purge_;
  };

  // See tier::Purges.
  void begin_unnumbered(SteadyPoint now) {
    const std::lock_guard lock(mutex_);
    purges_.begin_unnumbered(now);
  }
  [[nodiscard]] bool awaits_number(SteadyPoint now) const {
    const std::lock_guard lock(mutex_);
    return purges_.awaits_number(now);
  }
  void number_is_told() {
    const std::lock_guard lock(mutex_);
    purges_.number_is_told();
  }
  [[nodiscard]] std::string done(SteadyPoint now) const {
    const std::lock_guard lock(mutex_);
    return purges_.done(now);
  }
  // The same, and their ages.
  [[nodiscard]] std::pair<std::string, std::string> done_and_ages(SteadyPoint now) const {
    const std::lock_guard lock(mutex_);
    return {purges_.done(now), purges_.ages(now)};
  }
  [[nodiscard]] std::vector<tier::Purges::Begun> begun(SteadyPoint now) const {
    const std::lock_guard lock(mutex_);
    return purges_.begun(now);
  }
  void begin_all_up_to(const tier::PurgeNumber& purge, SteadyPoint now) {
    const std::lock_guard lock(mutex_);
    purges_.begin_all_up_to(purge, now);
  }
  void end_all_up_to(const tier::PurgeNumber& purge) {
    const std::lock_guard lock(mutex_);
    purges_.end_all_up_to(purge);
  }
  // Calls `use` if who has done so much has done all that was begun here, and before anything else
  // begins. False: it has not.
  template <class Use>
  bool use_if_done(std::string_view done, SteadyPoint now, const Use& use) const {
    const std::lock_guard lock(mutex_);
    if (!tier::are_done(purges_.begun(now), done)) return false;
    use();
    return true;
  }
  void adopt(std::string_view done, std::string_view ages, SteadyPoint now) {
    const std::lock_guard lock(mutex_);
    purges_.adopt(done, ages, now);
  }

 private:
  mutable std::mutex mutex_;
  tier::Purges purges_;
};

}  // namespace ringside::cache
