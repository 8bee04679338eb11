#include "sidecar/explanation.h"

#include <utility>

#include "base/hash.h"
#include "base/limits.h"
#include "http/internal_fields.h"
#include "sidecar/core_state.h"
#include "sidecar/decision.h"
#include "sidecar/nearby.h"
#include "sidecar/owners.h"

namespace ringside::sidecar {
namespace {

// A head that we take and what is said of it fit into it.
constexpr std::size_t page_size_bytes = limits::kMiB;

// Steps 4 to 8 of the life of a request.
Result<void> decide_for(CoreState& core, const Snapshot& snapshot, const ExplainedRequest& asked,
                        http::RequestHead& head, Decision& decision) {
  head = asked.request->head();
  head.fields.remove("max-forwards");  // says nothing of a GET (RFC 9110 §7.6.2)
  decision.peer_scheme = asked.scheme;
  decision.client = asked.peer;
  return decide(head, asked.peer, *snapshot.settings, snapshot.identity.via, core.countries,
                decision);
}

void tell_client(const Decision& decision, const Settings& settings, Explanation& out) {
  out.peer = decision.peer;
  out.peer_is_trusted = decision.peer_is_trusted;
  out.client = decision.client;
  if (decision.client != decision.peer) out.client_told_by = settings.client_address_from;
  out.scheme = decision.scheme;
  out.country = decision.country;
  if (settings.countries) {
    out.country_prefix_bits = settings.countries->find(decision.client).prefix_bits;
  }
  out.host = decision.host;
  out.target = decision.target.text();
  if (decision.route != nullptr) out.route = decision.route->name;
}

void tell_owners(CoreState& core, const Decision& decision, const Settings& settings,
                 Explanation& out) {
  out.keyed_by = decision.keyed_by->text();
  out.is_fallback = decision.keyed_by != &decision.route->key;
  const tier::Membership& membership = *settings.membership;
  const shard::Topology& topology = *membership.topology;
  out.shard_key = topology.own_key(decision.shard_key);
  out.hash = hash64(out.shard_key);
  out.bucket = topology.bucket_for(decision.key());
  out.topology_id = membership.topology_id;
  out.topology_version = topology.version();
  out.scheme_name = topology.scheme();
  if (membership.size() == 0) return;
  std::vector<shard::MemberIndex> owners;
  topology.owners(decision.key(), limits::owners_tried, owners);
  for (const shard::MemberIndex owner : owners) {
    out.owners.push_back(
        {membership.name(owner),
         core.health.standing(settings, owner, decision.key(), core.core.steady_now())});
  }
}

// The answer's content; an Error: it did not come, or there is too much of it.
Task<Result<std::string>> page_of(hop::Exchange& exchange) {
  std::string page;
  for (bool last = false; !last;) {
    const auto pulled = co_await exchange.pull();
    if (!pulled) co_return pulled.error();
    for (const std::string_view piece : pulled->pieces) page += piece;
    last = pulled->last;
    if (page.size() > page_size_bytes) {
      co_return Error{ErrorKind::malformed, ErrorSource::peer, Retry::no,
                      "what the replica tells of itself has no end"};
    }
  }
  co_return page;
}

}  // namespace

Task<Explanation> explain(CoreState& core, const ExplainedRequest& request) {
  const auto snapshot = core.snapshot;
  const Settings& settings = *snapshot->settings;
  http::RequestHead head;
  Decision decision;
  Explanation out;
  out.sidecar = snapshot->identity.name;
  const auto decided = decide_for(core, *snapshot, request, head, decision);
  tell_client(decision, settings, out);
  if (!decided) {
    out.failure = decided.error();
    co_return out;
  }
  tell_owners(core, decision, settings, out);

  http::FieldLines fields;
  Owners owners(core, *snapshot, decision, fields);
  auto answered = co_await owners.explain(head);
  out.in_vain = owners.in_vain();
  if (!answered) {
    out.asks_origin = answered.error().retry == Retry::yes && owners.may_ask_origins();
    if (!out.asks_origin) out.failure = answered.error();
    co_return out;
  }
  hop::Exchange& exchange = *answered->exchange;
  out.answered_by = settings.membership->name(*answered->member);
  out.replica_status = exchange.head().status;
  out.replica_detail = exchange.head().fields.first(http::internal::detail).value_or("");
  auto page = co_await page_of(exchange);
  if (!page) {
    out.failure = page.error();
    co_return out;
  }
  if (out.replica_status == 200) out.replica_page = *std::move(page);
  co_return out;
}

void look_nearby(CoreState& core, const ExplainedRequest& request, NearExplanation& near) {
  http::RequestHead head;
  Decision decision;
  ++near.cores;
  if (!decide_for(core, *core.snapshot, request, head, decision)) return;
  Nearby nearby(core.near);
  nearby.begin(head, decision);
  near.may_be_given = nearby.may_be_given();
  if (nearby.has(head, core.core.steady_now())) ++near.holders;
}

}  // namespace ringside::sidecar
