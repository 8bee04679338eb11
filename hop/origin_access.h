#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/task.h"
#include "hop/upstream.h"
#include "net/core.h"
#include "net/origin.h"
#include "net/origin_gates.h"
#include "net/retry_budget.h"
#include "net/weighted_choice.h"

namespace ringside::hop {

// One core's way to the origins: chooses one by weight, waits at its gate, asks, and on a failure
// asks the next, each at most once, where the request may be repeated, the retry budget allows it
// and the deadline has not come. Everything that goes to an origin goes through here.
class OriginAccess {
 public:
  // The gates are shared with the other cores. Both must outlive the access.
  OriginAccess(net::Core& core, net::OriginGates& gates) noexcept : core_(core), gates_(gates) {}

  struct Asked {
    Result<void> answered;
    unsigned requests = 0;  // that went to an origin; all failed, but for the one that was answered
  };
  // On success the exchange's head is read, and it holds its slot at the origin's gate until it
  // ends (with a 101: its tunnel's place). `client`: whom it is for; see net::OriginGate. Of
  // several failures the last one that an origin had is told. There must be an origin, and no more
  // than limits::origins_per_route.
  Task<Asked> ask(const std::vector<net::Origin>& origins, Exchange& exchange,
                  const UpstreamRequest& request, const UpstreamLimits& limits,
                  const IpAddress& client);

  // New settings: what was remembered of the lists of the old ones is not needed any more.
  void forget() noexcept { choices_.clear(); }

 private:
  struct Choice {
    explicit Choice(const std::vector<net::Origin>& origins);
    std::vector<std::shared_ptr<net::OriginGate>> gates;  // in the order of the origins
    net::WeightedChoice weighted;
  };
  using Flags = std::array<bool, limits::origins_per_route>;

  std::shared_ptr<Choice> choice_of(const std::vector<net::Origin>& origins);
  [[nodiscard]] std::optional<std::size_t> choose(Choice& choice, const Flags& untried,
                                                  bool refusal_is_known) const;
  // Of the gate's doing, or the origin's, where `was_asked`.
  struct Attempt {
    Result<void> answered;
    bool was_asked = false;
  };
  Task<Attempt> enter_and_ask(const net::Origin& origin, net::OriginGate& gate, Exchange& exchange,
                              const UpstreamRequest& request, const UpstreamLimits& limits,
                              const IpAddress& client);
  Task<Result<void>> ask_one(const net::Origin& origin, net::OriginGate::Slot& slot,
                             Exchange& exchange, const UpstreamRequest& request,
                             const UpstreamLimits& limits);

  net::Core& core_;
  net::OriginGates& gates_;
  net::RetryBudget budget_;
  std::map<std::vector<net::Origin>, std::shared_ptr<Choice>> choices_;
};

}  // namespace ringside::hop
