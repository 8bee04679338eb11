#include "cache/explanation_answer.h"

#include <fmt/format.h>

#include <utility>

#include "cache/explanation.h"
#include "cache/fetch_plan.h"
#include "http/error_response.h"
#include "http/internal_fields.h"

namespace ringside::cache {
namespace {

bool is_fetched_already(const Transaction& transaction, WithoutSlices without_slices) {
  const RequestContext& context = transaction.context;
  const FetchPlan plan = plan_explained(context, transaction.found.response, without_slices);
  const std::string name = flight_name(
      variant_asked(transaction.found, transaction.request->fields), plan, context.entity_tag);
  return transaction.look != Store::Look::nowhere &&
         transaction.core.shared.flights.contains(context.key, name);
}

}  // namespace

Result<void> begin_explaining(Transaction& transaction) {
  http::RequestHead& request = *transaction.request;
  const auto method = request.fields.first(http::internal::explain);
  if (!method || request.method != "OPTIONS") return {};
  if (*method != "GET" && *method != "HEAD") {
    return Error{ErrorKind::malformed, ErrorSource::client, Retry::no,
                 "what would be done is told of GET and HEAD alone"};
  }
  request.method = *method;
  request.fields.remove(http::internal::explain);
  request.fields.remove("max-forwards");
  transaction.is_explained = true;
  transaction.look = Store::Look::aside;
  return {};
}

void answer_explanation(Transaction& transaction, const Decision& decision,
                        const http::RequestDirectives& asked, http::Response& response) {
  const RequestContext& context = transaction.context;
  Shared& shared = transaction.core.shared;
  Explained explained{
      *transaction.request,          context,           asked,   *transaction.settings,
      transaction.core.identity.via, transaction.found, decision};
  explained.slices = slices_stored(transaction);
  if (decision.step == Step::fetch_slices) explained.without_slices = without_slices(transaction);
  explained.status = transaction.status;
  explained.now = transaction.resident_now();
  explained.is_emptied_first = transaction.look == Store::Look::nowhere;
  const bool may_be_held = context.from_sidecar && context.key.bucket;
  explained.is_held_elsewhere = may_be_held && !shared.holders.answers_for(*context.key.bucket);
  explained.is_fetched_already = is_fetched_already(transaction, explained.without_slices);
  explained.uncacheable = shared.uncacheable.find(context.key, transaction.core.core.steady_now());
  std::string page = to_json(explain(explained), shared.name);

  transaction.outcome = metrics::Outcome::bypass;
  response.begin(200, http::reason_of(200));
  response.fields.add("Content-Type", "application/json");
  response.fields.add("Content-Length", fmt::to_string(page.size()));
  http::add_date(response.fields, transaction.now());
  response.fields.add(http::internal::outcome, metrics::name(transaction.outcome));
  transaction.tell_topology(response);
  response.body = http::Body(std::move(page));
}

}  // namespace ringside::cache
