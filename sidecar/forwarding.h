#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "http1/exchange.h"
#include "sidecar/core_state.h"
#include "sidecar/decision.h"

namespace ringside::sidecar {

// Steps 7 and 8: asks the owner of the request's shard, on failure the next distinct owners, and
// where no replica can take it the origin, if that is allowed. Owners that are not in service are
// passed over (HealthWatch::choose). One per request.
class Forwarding {
 public:
  Forwarding(CoreState& state, const Snapshot& snapshot, const Decision& decision);

  // `head` is scratch space. On success the answer's head is read and its body is next.
  Task<Result<void>> run(const http::RequestHead& request, http::Connection& client,
                         std::string& head);

  [[nodiscard]] http::Exchange& exchange() noexcept { return *exchange_; }
  // The member that answered; nullopt: the origin, or nobody.
  [[nodiscard]] std::optional<shard::MemberIndex> answered_by() const noexcept {
    return answered_by_;
  }

 private:
  // `head` is that for a replica but for its end, and sent by `outgoing`.
  Task<Result<void>> ask_owners(http::OutgoingRequest& outgoing, std::string& head);
  Task<Result<void>> ask_owner(shard::MemberIndex owner, const http::OutgoingRequest& outgoing);
  Task<Result<void>> ask_origins(const std::vector<net::Origin>& origins,
                                 const http::OutgoingRequest& outgoing);
  [[nodiscard]] Milliseconds wait_for(const http::OutgoingRequest& outgoing) const noexcept;
  [[nodiscard]] http::ExchangeLimits limits() const noexcept;
  [[nodiscard]] bool may_repeat_after(const Error& failure) noexcept;

  CoreState& state_;
  const Settings& settings_;
  const std::string& own_via_;
  const Decision& decision_;
  const SteadyPoint deadline_;
  std::optional<http::Exchange> exchange_;
  std::optional<shard::MemberIndex> answered_by_;
};

}  // namespace ringside::sidecar
