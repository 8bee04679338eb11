#include "sidecar/invalidation.h"

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "http/internal_fields.h"
#include "http/invalidation.h"
#include "http/target.h"
#include "sidecar/every_replica.h"

namespace ringside::sidecar {
namespace {

using Targets = std::vector<std::string>;

// `name`: of the field that tells each target.
http::FieldLines invalidation_fields(const Settings& settings, std::string_view name,
                                     const Targets& targets) {
  http::FieldLines fields;
  // A replica that knows nothing of the rest answers this by itself, too (RFC 9110 §7.6.2).
  fields.add("Max-Forwards", "0");
  fields.add(http::internal::topology, settings.membership->topology_id);
  for (const std::string& target : targets) fields.add(name, target);
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

// Every replica, with a number. Who answered has forgotten it by itself, and may have stored the
// answer (RFC 9110 §9.3.3): it has only to pass it on. Where there is no other it is told nothing.
Task<void> tell_replicas(CoreState& state, const Snapshot& snapshot, const Decision& decision,
                         const Targets& targets, std::optional<shard::MemberIndex> answered_by) {
  const Settings& settings = *snapshot.settings;
  if (answered_by && settings.membership->size() == 1) {
    state.shared.missed.miss_all_but(snapshot.missed);
    co_return;
  }
  const auto fields = invalidation_fields(settings, http::internal::invalidate, targets);
  const auto fields_to_one = invalidation_fields(settings, http::internal::invalidated, targets);
  std::optional<ToOne> to_one;
  if (answered_by) to_one = ToOne{*answered_by, fields_to_one.text()};
  hop::UpstreamRequest request;
  request.method = "OPTIONS";
  request.target = &decision.target;
  request.host = decision.host;
  request.fields = fields.text();
  const SteadyPoint deadline = state.core.steady_now() + limits::invalidation_timeout;
  const PurgeIssuer::Issued purge(state.shared.purges);
  const auto confirmed =
      co_await ask_every_replica(state, snapshot, request, purge.number(), deadline, to_one);
  for (std::size_t index = 0; index < confirmed.size(); ++index) {
    if (!confirmed[index])
      state.sheet.count(snapshot.shards[index], "ringside_invalidations_failed_total");
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

  co_await tell_replicas(state, snapshot, decision, targets, answered_by);
  // Last: until a replica has confirmed it may still give what is invalid, and a near cache keep
  // it.
  forget_nearby(state, settings, decision.host, targets);
}

}  // namespace ringside::sidecar
