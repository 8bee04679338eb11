#include "sidecar/invalidation.h"

#include <string>
#include <vector>

#include "base/limits.h"
#include "http/internal_fields.h"
#include "http/invalidation.h"
#include "http/target.h"
#include "sidecar/every_replica.h"

namespace ringside::sidecar {
namespace {

using Targets = std::vector<std::string>;

http::FieldLines invalidation_fields(const Settings& settings, const Targets& targets) {
  http::FieldLines fields;
  // A replica that knows nothing of the rest answers this by itself, too (RFC 9110 §7.6.2).
  fields.add("Max-Forwards", "0");
  fields.add(http::internal::topology, settings.membership->topology_id);
  for (const std::string& target : targets) fields.add(http::internal::invalidate, target);
  return fields;
}

// By their paths alone, in the form in which the routes have them: rules may take of a query what
// they like.
void forget_nearby(CoreState& state, const Settings& settings, const std::string& host,
                   const Targets& targets) {
  for (const std::string& text : targets) {
    http::Target target;
    if (!http::normalise_target(text, target)) continue;
    const auto route = settings.route_table.find_canonical(host, target);
    if (!route || !*route) continue;  // what is refused is kept nowhere
    state.shared.forgotten.forget(forgotten_uri(host, target.path));
  }
}

}  // namespace

Task<void> invalidate_elsewhere(CoreState& state, const Snapshot& snapshot,
                                const Decision& decision, const http::ResponseHead& answer,
                                std::optional<shard::MemberIndex> answered_by) {
  const Settings& settings = *snapshot.settings;
  const auto targets = http::invalidated_targets(decision.method, decision.host, decision.target,
                                                 answer.status, http::fields_of(answer));
  if (targets.empty()) co_return;

  const http::FieldLines fields = invalidation_fields(settings, targets);
  hop::UpstreamRequest request;
  request.method = "OPTIONS";
  request.target = &decision.target;
  request.host = decision.host;
  request.fields = fields.text();
  const SteadyPoint deadline = state.core.steady_now() + limits::invalidation_timeout;
  // Who answered has forgotten it, too, but does not know the number. It may just have stored what
  // it answered (RFC 9110 §9.3.3): then it keeps that.
  const bool may_keep_answer =
      answer.status == 200 && http::fields_of(answer).has("content-location");
  const auto but_not = may_keep_answer ? answered_by : std::nullopt;
  const tier::PurgeNumber number = state.shared.next_purge();
  const auto confirmed =
      co_await ask_every_replica(state, snapshot, request, number, deadline, but_not);
  for (std::size_t index = 0; index < confirmed.size(); ++index) {
    if (!confirmed[index])
      state.sheet.count(snapshot.shards[index], "ringside_invalidations_failed_total");
  }
  // Last: until a replica has confirmed it may still give what is invalid, and a near cache keep
  // it.
  forget_nearby(state, settings, decision.host, targets);
}

}  // namespace ringside::sidecar
