#include <fmt/format.h>

#include "cache/fetch.h"
#include "cache/handler.h"
#include "cache/sliced_object.h"
#include "http/error_response.h"
#include "http/field_lines.h"
#include "http/internal_fields.h"

// Whether this replica answers for the bucket of a request: the rest is in handler.cc.

namespace ringside::cache {

// A member asks for something of a bucket of which we have nothing stored for it.
bool Handler::fetches_for_bucket(const Decision& decision) const {
  const RequestContext& context = transaction_.context;
  if (!context.from_sidecar || !context.key.bucket) return false;
  if (decision.step == Step::pass_on || decision.step == Step::refuse) return context.fills_peer;
  if (decision.step == Step::fetch_slices) return !are_slices_stored(transaction_);
  return decision.step == Step::fetch;
}

// Who answers a fill asks nobody else. So a fill waits for a move before that is settled, since no
// flight keeps the bucket here meanwhile, and then `decision` is made anew. Otherwise:
//
//   1. a fill of the taker waits here        1'. the taker's flight waits for the fill
//   2. the bucket is given to the taker      2'. a flight of ours asks the taker, whose flight it
//                                                joins
//   3. the fill joins our flight: each waits for the other, until both time out
Task<std::optional<std::string>> Handler::settle_holder(Decision& decision) {
  auto holder = other_holder();
  RequestContext& context = transaction_.context;
  const bool may_wait = decision.step == Step::fetch || decision.step == Step::fetch_slices;
  if (holder || !context.fills_peer || !may_wait) co_return holder;
  CoreState& core = transaction_.core;
  const http::RequestDirectives asked = context.directives;
  const SteadyPoint deadline = core.core.steady_now() + context.time_allowed;
  const bool has_waited = co_await wait_for_move(core, *transaction_.settings, context, deadline);
  if (!has_waited) co_return std::nullopt;
  context.directives = asked;
  decision = look_up();
  if (!fetches_for_bucket(decision)) co_return std::nullopt;
  co_return other_holder();
}

// Who is to be asked for it in our place, as internal::holder says; nullopt: we are.
std::optional<std::string> Handler::other_holder() {
  Shared& shared = transaction_.core.shared;
  const RequestContext& context = transaction_.context;
  const auto& fields = transaction_.request->fields;
  const shard::Bucket bucket = *context.key.bucket;
  if (!context.fills_peer) {
    if (fields.has(http::internal::instead_of)) return std::nullopt;
    return shared.holders.elsewhere(bucket, transaction_.may_fill());
  }
  const auto asker = *fields.first(http::internal::fill);
  // Who follows another topology may not be the taker, and would not store what it fetches.
  const bool is_empty = !context.topology_is_other && shared.store.count_of(bucket) == 0 &&
                        !shared.flights.has_any_of(bucket, shared.store);
  const tier::HoldingsVersion version = shared.holders.own_version();  // before it is given
  const auto other = shared.holders.other_holder(bucket, asker, is_empty);
  if (!other) return std::nullopt;
  if (other->given > 0) {
    return fmt::format("{} {} {}", other->name, other->given, tier::to_text(version));
  }
  if (other->is_undecided) return std::string(http::internal::undecided_holder);
  return other->name.empty() ? std::string(http::internal::no_holder) : other->name;
}

void Handler::name_holder(std::string_view holder, http::Response& response) {
  const bool counts = !transaction_.context.fills_peer && !transaction_.is_explained;
  if (counts) transaction_.core.sheet.count("ringside_refusals_total");
  transaction_.outcome = metrics::Outcome::bypass;
  response.begin(421, http::reason_of(421));
  response.fields.add("Content-Length", "0");
  http::add_date(response.fields, transaction_.now());
  response.fields.add(http::internal::outcome, metrics::name(transaction_.outcome));
  response.fields.add(http::internal::holder, holder);
  transaction_.tell_topology(response);
}

}  // namespace ringside::cache
