#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "hop/upstream.h"
#include "http/caller.h"
#include "sidecar/core_state.h"
#include "sidecar/decision.h"

namespace ringside::sidecar {

// Steps 10 to 12: the source of all responses but the near cache's. Asks the owner of the request's
// shard, on failure the next distinct owners, and where no replica can take it the origin, if that
// is allowed. Owners that are not in service are passed over (HealthWatch::choose). A replica that
// refuses names another one, which is asked next; where that one is nobody whom we could ask, the
// first one is asked again, and answers in its place. Whoever is asked after another one is told
// so, and does not refuse. One per request.
class Owners {
 public:
  // All must outlive it.
  // `fields` is scratch space, for the fields of what is asked.
  Owners(CoreState& core, const Snapshot& snapshot, const Decision& decision,
         http::FieldLines& fields);

  struct Answer {
    std::unique_ptr<hop::Exchange> exchange;   // its head has come, its content is next
    std::optional<shard::MemberIndex> member;  // who answered; nullopt: the origin
  };
  // Once; both must outlive the task.
  Task<Result<Answer>> ask(const http::RequestHead& request, http::Caller& caller);
  // In its place: the same walk over the replicas, who are asked what they would do
  // (internal::explain). Nothing is counted, and no origin is asked.
  Task<Result<Answer>> explain(const http::RequestHead& request);
  // Whom that has asked in vain, and why.
  [[nodiscard]] const std::vector<std::string>& in_vain() const noexcept { return in_vain_; }
  // Whether an origin is asked where no replica can be.
  [[nodiscard]] bool may_ask_origins() const noexcept;

 private:
  // One replica's: an answer, a refusal that names another one, or an error.
  struct Refusal {
    std::optional<shard::MemberIndex> holder;  // nullopt: nobody whom we know
  };
  using Outcome = std::variant<Answer, Refusal, Error>;
  // `before`: whom it is asked instead of.
  // `is_last`: no other replica is asked after it.
  Task<Outcome> ask_replica(shard::MemberIndex member, std::optional<shard::MemberIndex> before,
                            bool is_last);
  Task<Result<Answer>> ask_replicas();
  Task<Result<Answer>> ask_replicas_or_origins(const http::RequestHead& request);
  Task<Result<Answer>> ask_origins();
  [[nodiscard]] std::optional<shard::MemberIndex> passed_over_for(shard::MemberIndex member) const;
  [[nodiscard]] bool can_be_asked(const Refusal& refusal) const;
  [[nodiscard]] HealthWatch::BreakOff break_off(bool is_last) const noexcept;
  [[nodiscard]] Milliseconds wait_for_head() const noexcept;
  [[nodiscard]] hop::UpstreamLimits limits() const noexcept;
  [[nodiscard]] bool may_repeat_after(const Error& failure) noexcept;
  void count_request();
  void count_retry();
  void note_failure(const std::string& name, const Error& failure);

  CoreState& core_;
  const Snapshot& snapshot_;
  const Settings& settings_;
  const Decision& decision_;
  const SteadyPoint deadline_;
  http::FieldLines& fields_;  // of the request for a replica, or the origin
  hop::UpstreamRequest outgoing_;
  bool explains_ = false;
  bool is_repeat_paid_ = false;  // after the last one that was asked
  std::vector<std::string> in_vain_;
};

}  // namespace ringside::sidecar
