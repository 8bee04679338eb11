#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/limits.h"
#include "http/core.h"
#include "http/exchange.h"
#include "http/origin.h"
#include "http/origin_gates.h"
#include "http/retry_budget.h"
#include "http/task.h"
#include "http/weighted_choice.h"

namespace ringside::http {

// One core's way to the origins: chooses one by weight, waits at its gate, asks, and on a failure
// asks the next, each at most once, where the request may be repeated, the retry budget allows it
// and the deadline has not come. Everything that goes to an origin goes through here.
class OriginAccess {
 public:
  // The gates are shared with the other cores. Both must outlive the access.
  OriginAccess(Core& core, OriginGates& gates) noexcept : core_(core), gates_(gates) {}

  struct Asked {
    Result<void> answered;
    unsigned requests = 0;  // that went to an origin; all failed, but for the one that was answered
  };
  // On success the exchange's head is read, and it holds its slot at the origin's gate until it is
  // finished or destroyed. Of several failures the last one that an origin had is told. There must
  // be an origin, and no more than limits::origins_per_route.
  Task<Asked> ask(const std::vector<Origin>& origins, Exchange& exchange,
                  const OutgoingRequest& request, const ExchangeLimits& limits);

  // New settings: what was remembered of the lists of the old ones is not needed any more.
  void forget() noexcept { ways_.clear(); }

 private:
  struct Way {
    explicit Way(const std::vector<Origin>& origins);
    std::vector<std::shared_ptr<OriginGate>> gates;  // in the order of the origins
    WeightedChoice choice;
  };
  using Flags = std::array<bool, limits::origins_per_route>;

  std::shared_ptr<Way> way_to(const std::vector<Origin>& origins);
  [[nodiscard]] std::optional<std::size_t> choose(Way& way, const Flags& untried,
                                                  bool refusal_is_known) const;
  Task<Result<void>> ask_one(const Origin& origin, OriginGate::Slot& slot, Exchange& exchange,
                             const OutgoingRequest& request, const ExchangeLimits& limits);

  Core& core_;
  OriginGates& gates_;
  RetryBudget budget_;
  std::map<std::vector<Origin>, std::shared_ptr<Way>> ways_;
};

}  // namespace ringside::http
