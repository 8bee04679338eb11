#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/waiter.h"
#include "tier/purges.h"

namespace ringside::cache {

// What this replica has heeded of what others say that it has missed (internal::missed): sidecars,
// and replicas that were asked themselves. Whoever
// brings news empties the store first; of those who bring some at the same time, on whatever core,
// one does and the others wait. Thread-safe. docs/decisions/missed-purges.md.
class MissedPurges {
 public:
  struct News {
    std::string issuer;
    std::uint64_t number = 0;
    std::optional<tier::PurgeNumber> purges{};  // what was missed is among those up to this one
  };
  // `value` of internal::missed, `purges` of internal::purges_done with it. nullopt: it is none.
  [[nodiscard]] static std::optional<News> read(std::string_view value, std::string_view purges);

  // What is to be done before anything is answered: nothing; or empty the store, and then call
  // emptied(); or wait for the bell, and ask again.
  enum class Next { none, empty, wait };
  [[nodiscard]] Next next(const News& news, const std::shared_ptr<net::Waiter::Bell>& bell);
  void emptied(const News& news);
  [[nodiscard]] bool has_heeded(const News& news);

 private:
  [[nodiscard]] bool is_old(const News& news) const;  // the lock is held

  std::mutex mutex_;
  std::unordered_map<std::string, std::uint64_t> heeded_;  // by issuer
  bool is_emptying_ = false;
  std::vector<std::shared_ptr<net::Waiter::Bell>> waiting_;
};

}  // namespace ringside::cache
