#include "cache/handler.h"

#include <fmt/format.h>

#include "cache/decision.h"
#include "cache/emptying.h"
#include "cache/explanation_answer.h"
#include "cache/fetch.h"
#include "cache/flight_body.h"
#include "cache/invalidation.h"
#include "cache/move_answer.h"
#include "cache/pass.h"
#include "cache/peer_exchange.h"
#include "cache/peer_talk.h"
#include "cache/purge_relay.h"
#include "cache/refresh.h"
#include "cache/representation.h"
#include "cache/selection.h"
#include "cache/serving.h"
#include "cache/sliced_object.h"
#include "cache/slices.h"
#include "http/error_response.h"
#include "http/internal_fields.h"

namespace ringside::cache {
namespace {

using Forward = http::CacheStatus::Forward;

constexpr std::string_view speaks_unproven =
    "internal fields without a proof of membership are ignored; a sidecar needs this tier's "
    "--peer-key-file";
constexpr std::string_view speaks_to_keyless =
    "internal fields are ignored: there is no peer key here to prove membership by; give this "
    "replica and its sidecars the same --peer-key-file, or all of them --insecure-peers";

Error not_a_member() {
  return {ErrorKind::forbidden, ErrorSource::client, Retry::no,
          "that is for members of the tier, and this connection has not proved to be one's"};
}

// RFC 9111 §5.2.1.7
Error nothing_usable() {
  return {ErrorKind::timeout, ErrorSource::ourselves, Retry::no,
          "only-if-cached, and nothing usable is stored"};
}

// What is stored may be older than what it has been told.
Error not_empty_yet() {
  return {ErrorKind::timeout, ErrorSource::ourselves, Retry::no,
          "a purge was missed, and the store is not empty yet"};
}

}  // namespace

Handler::Handler(CoreState& core) : transaction_(core), is_connection_(true) {
  core.sheet.connection_opened();
}

Handler::Handler(CoreState& core, std::shared_ptr<const hop::ProvenPeer> proven)
    : transaction_(core), is_connection_(false), proven_(std::move(proven)) {}

Handler::~Handler() {
  if (is_connection_) transaction_.core.sheet.connection_closed();
}

std::unique_ptr<hop::Handler> Handler::beside() {
  return std::make_unique<Handler>(transaction_.core, proven_);
}

bool Handler::trusts_caller() const noexcept {
  return transaction_.core.settings->insecure_peers || proven_ != nullptr;
}

void Handler::begin(const IpAddress& from) {
  from_ = from;
  transaction_.begin(transaction_.core.settings);
}

bool Handler::introduce(const IpAddress& from, const http::RequestHead& request,
                        http::Response& response) {
  if (door_.is_settled()) return false;
  const auto& self = transaction_.core.peer_identity;
  const auto heard = door_.hear(self.get(), request, response);
  if (door_.proven()) proven_ = door_.proven();
  if (!heard.complaint.empty()) complain(from, heard.complaint);
  return heard.is_word;
}

void Handler::complain(const IpAddress& of, std::string_view what) {
  CoreState& core = transaction_.core;
  cache::complain(core, fmt::format("{}, from {}: {}", core.shared.name, of.text(), what));
}

bool Handler::is_from_member() const noexcept {
  return transaction_.settings->insecure_peers || proven_ != nullptr;
}

// Whose key is not one any more is answered this once.
std::uint32_t Handler::requests_per_connection() const {
  const auto& keys = transaction_.settings->peer_keys;
  if (keys != nullptr && proven_ != nullptr && !keys->has(proven_->key)) return 0;
  return transaction_.settings->requests_per_connection;
}

// The replica's half of the life of a request; the numbers are those of docs/ARCHITECTURE.md.
Task<void> Handler::answer(http::RequestHead& request, http::Caller& caller,
                           http::Response& response) {
  transaction_.request = &request;
  transaction_.caller = &caller;
  const RequestContext& context = transaction_.context;
  if (const auto looked = look(); !looked) co_return refuse(looked.error(), response);  // 15, 16
  if (transaction_.is_explained) co_return explain_to_sidecar(response);
  const auto news = told_news(context, request.fields);
  if (news && !co_await heed(transaction_.core, *news)) {
    co_return refuse(not_empty_yet(), response);
  }
  if (context.hop.answer_here) {
    answer_options(response);
    // From who does not hear of it no replica takes anything: an invalidation is not reported. (A
    // sidecar with an older topology takes what it gives.)
    static_cast<void>(co_await relay(transaction_, limits::relay_patience));
    if (news) response.fields.add(http::internal::heeded, fmt::to_string(news->number));
    co_return transaction_.tell_topology(response);
  }
  if (context.method == "PURGE") co_return co_await purge(response);
  Decision decision = look_up();  // 17, 18
  if (fetches_for_bucket(decision)) {
    const auto holder = co_await settle_holder(decision);
    if (holder) co_return name_holder(*holder, response);
  }
  switch (decision.step) {
    case Step::give_and_refresh:
      refresh_in_background(transaction_);
      [[fallthrough]];
    case Step::give:
      transaction_.status.hit = true;
      transaction_.status.forward = Forward::none;
      transaction_.outcome =
          decision.verdict == Verdict::fresh ? metrics::Outcome::hit : metrics::Outcome::stale;
      co_return give_stored(transaction_, transaction_.found.response, response);  // 19
    case Step::refuse:
      if (co_await give_of_holder(transaction_, response)) co_return;
      co_return refuse(nothing_usable(), response);
    case Step::pass_on:
      co_return co_await pass_on(transaction_, response);
    case Step::fetch_slices:
      if (co_await give_slices(transaction_, response)) co_return;
      [[fallthrough]];
    case Step::fetch:
      co_return co_await answer_shared(response);
  }
}

Result<void> Handler::look() {
  const bool is_member = is_from_member();
  if (!is_member) {
    const http::Fields& fields = transaction_.request->fields;
    const bool is_for_members = fields.has(http::internal::invalidate) ||
                                fields.has(http::internal::invalidated) ||
                                fields.has(http::internal::explain);
    transaction_.is_from_impostor = strip_internal(transaction_.request->fields);
    if (is_for_members || transaction_.is_from_impostor) {
      const bool has_key = transaction_.settings->peer_keys != nullptr;
      complain(from_, has_key ? speaks_unproven : speaks_to_keyless);
    }
    if (is_for_members) return not_a_member();
  }
  if (auto begun = begin_explaining(transaction_); !begun) return begun;
  auto understood = read_context(*transaction_.request, *transaction_.settings,
                                 transaction_.core.identity.via, from_, transaction_.context,
                                 is_member ? Keyspace::members : Keyspace::strangers);
  if (transaction_.context.topology_is_other) {
    CoreState& core = transaction_.core;
    const auto theirs = transaction_.request->fields.first(http::internal::topology);
    core.shared.topologies.hear(theirs.value_or(http::internal::no_topology),
                                core.core.steady_now());
  }
  if (!understood) return understood;
  transaction_.status.forward = transaction_.forward_reason();
  if (transaction_.context.route != nullptr && transaction_.rules().status_key) {
    transaction_.shown_key = readable(transaction_.context.key);
    transaction_.status.key = transaction_.shown_key;
  }
  return understood;
}

Decision Handler::look_up() {
  const RequestContext& context = transaction_.context;
  // Before the store is asked: what is removed meanwhile is not done by this.
  if (context.fills_peer) {
    CoreState& core = transaction_.core;
    transaction_.purges_done = core.shared.purges.done(core.core.steady_now());
    const auto asker = *transaction_.request->fields.first(http::internal::fill);
    transaction_.is_asker_unknown = !core.shared.holders.knows(asker);
  }
  if (context.may_use_store) {
    transaction_.found = transaction_.core.shared.store.find(
        context.key, transaction_.request->fields, transaction_.look);
    if (const auto& stored = transaction_.found.response) {
      transaction_.context.directives =
          heeded(context.directives, context.rules().client_no_cache, stored->head->freshness(),
                 transaction_.resident_now());
    }
    transaction_.status.forward = transaction_.forward_reason();
  }
  const bool slices_are_stored =
      context.directives.only_if_cached && are_slices_stored(transaction_);
  return decide(context, transaction_.request->fields, transaction_.found.response,
                slices_are_stored, transaction_.resident_now());
}

// What would be done, and nothing of it is.
void Handler::explain_to_sidecar(http::Response& response) {
  const auto news = told_news(transaction_.context, transaction_.request->fields);
  if (news && !transaction_.core.shared.missed.has_heeded(*news)) {
    transaction_.look = Store::Look::nowhere;
  }
  const http::RequestDirectives asked = transaction_.context.directives;
  const Decision decision = look_up();
  const auto holder = fetches_for_bucket(decision) ? other_holder() : std::nullopt;
  if (holder) return name_holder(*holder, response);
  answer_explanation(transaction_, decision, asked, response);
}

Task<void> Handler::answer_shared(http::Response& response) {
  using From = Fetch::From;
  Transaction& transaction = transaction_;
  Fetch fetch(transaction.core, *transaction.settings, *transaction.request, transaction.context,
              transaction.found, transaction.interim_to());
  const From from = co_await fetch.run();
  note_fetch(transaction, fetch);
  switch (from) {
    case From::flight: {
      const auto answer = fetch.answer();
      transaction.status.stored = answer.is_kept;
      transaction.outcome = fetch.led() ? fetch.holders().value_or(metrics::Outcome::miss)
                                        : metrics::Outcome::collapsed;
      co_return give_flight(transaction, fetch.take_reader(), answer, response);
    }
    case From::store:
      transaction.status.stored =
          fetch.led() && !fetch.is_stale() && fetch.storability() == Storability::storable;
      transaction.outcome = fetch.led() ? fetch.holders().value_or(metrics::Outcome::revalidated)
                                        : metrics::Outcome::collapsed;
      if (fetch.is_stale()) transaction.note_stale();
      co_return give_stored(transaction, fetch.response(), response);
    case From::exchange:
      transaction.outcome = fetch.holders().value_or(metrics::Outcome::miss);
      transaction.status.detail = name(fetch.storability());
      co_return give_exchange(transaction, fetch.take_exchange(), response);
    case From::elsewhere:
    case From::nobody:
      co_return co_await pass_on(transaction, response);
    case From::failed:
      co_return transaction.refuse(fetch.error(), response);
  }
}

// RFC 9110 §9.3.7, §7.6.2: asked of us, not of the origin. A sidecar's probe, for one; or what it
// has learnt that is not valid any more.
void Handler::answer_options(http::Response& response) {
  transaction_.outcome = metrics::Outcome::bypass;
  CoreState& core = transaction_.core;
  const http::Fields& fields = transaction_.request->fields;
  if (fields.has(http::internal::holdings)) return answer_holdings(core, fields, response);
  if (fields.has(http::internal::move)) return answer_move(core, fields, response);
  std::optional<std::size_t> removed;
  if (transaction_.context.from_sidecar) {
    removed = invalidate_told(core.shared, *core.settings, *transaction_.request,
                              transaction_.context.purge, core.core.steady_now());
  }
  if (removed) {
    make_purge_response(response, *removed, transaction_.now());
  } else {
    http::make_options_response(response, transaction_.now());
  }
  if (transaction_.is_from_impostor) response.fields.add(http::internal::unproven, "1");
}

Task<void> Handler::purge(http::Response& response) {
  const RequestContext& context = transaction_.context;
  // A replica that relays it was asked by who may.
  const bool is_relayed = transaction_.request->fields.has(http::internal::relayed);
  if (!is_relayed && !any_contains(transaction_.settings->purge_from, from_)) {
    co_return refuse({ErrorKind::forbidden, ErrorSource::client, Retry::no,
                      "PURGE is not allowed from " + from_.text() +
                          "; add it to --purge-from (in the file purge_from)"},
                     response);
  }
  const http::PurgeTarget purged = purged_by(transaction_);
  CoreState& core = transaction_.core;
  transaction_.outcome = metrics::Outcome::bypass;
  if (!is_relayed && !context.from_sidecar) {
    const PurgeReport report = co_await purge_everywhere(core, purged);
    co_return make_purge_response(response, report.removed, transaction_.now(), report.missing);
  }
  std::size_t removed = 0;
  {
    const PurgeLog::Applying applying(core.shared.purges, context.purge, core.core.steady_now());
    removed = co_await purge_by_steps(core, purged_prefix(purged));
  }
  const auto not_relayed = co_await relay(transaction_, patience_of_all_tries);
  make_purge_response(response, removed, transaction_.now());
  for (const auto& name : not_relayed) response.fields.add(http::internal::not_relayed, name);
  transaction_.tell_topology(response);
}

void Handler::refuse(const Error& error, http::Response& response) {
  const bool counts = error.source == ErrorSource::client || transaction_.is_from_exchange;
  if (counts && !transaction_.is_explained) {
    transaction_.core.sheet.count_error(error);
  }
  transaction_.is_from_exchange = false;
  transaction_.status.stored = false;
  transaction_.refuse(error, response);
}

void Handler::stalled(const http::Response& response, net::Closable& client) {
  response_ = &response;
  client_ = &client;
  CoreState& core = transaction_.core;
  core.stalled.add(*this, core.core.steady_now());
}

void Handler::resumed() { unlink(); }

std::size_t Handler::pinned_bytes() const {
  const StoredPointer& given = transaction_.given;
  const StoredPointer& found = transaction_.found.response;
  std::size_t bytes = response_->body.pinned_bytes();
  if (given) bytes += cache::pinned_bytes(given->body->pieces);
  if (found && found != given) bytes += cache::pinned_bytes(found->body->pieces);
  return bytes;
}

void Handler::cut() {
  transaction_.core.sheet.count_error({ErrorKind::timeout, ErrorSource::client, Retry::no,
                                       "the client holds what is not stored any more"});
  client_->close();
}

void Handler::sent(const hop::Sent& sent) {
  metrics::CoreSheet& sheet = transaction_.core.sheet;
  if (sent.failure && transaction_.is_from_exchange) sheet.count_error(*sent.failure);
  if (!transaction_.is_explained) {
    sheet.count_request(0, transaction_.context.country, transaction_.outcome, sent.took,
                        sent.body_bytes);
  }
  transaction_.let_go();
}

hop::AccessNotes Handler::access_notes() const {
  return {from_, metrics::name(transaction_.outcome), transaction_.context.country,
          transaction_.core.shared.name};
}

}  // namespace ringside::cache
