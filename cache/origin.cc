#include "cache/origin.h"

#include <fmt/format.h>

#include "cache/transaction.h"
#include "http/conditional.h"

namespace ringside::cache {
namespace {

bool is_span_of(const http::ResponseHead& response, const StoredHead& head,
                const http::ByteSpan& span) {
  if (response.status != 206 || response.fields.count("content-range") != 1) return false;
  const auto range = http::parse_content_range(*response.fields.first("content-range"));
  const bool length_fits = response.framing.kind == http::Framing::Kind::length &&
                           response.framing.length_bytes == span.size();
  return range && range->span == span && length_fits &&
         http::same_strong_validator(head.fields(), response.fields);
}

}  // namespace

Task<Result<std::unique_ptr<hop::Exchange>>> ask_origin(CoreState& core, const Settings& settings,
                                                        const http::RequestHead& request,
                                                        const RequestContext& context,
                                                        const Asking& asking,
                                                        Milliseconds time_allowed,
                                                        hop::UpstreamRequest outgoing) {
  http::FieldLines fields;
  write_origin_fields(fields, request, context, settings, core.identity.via, asking);
  outgoing.target = &context.target;
  outgoing.host = context.host;
  outgoing.fields = fields.text();
  const hop::UpstreamLimits limits{settings.connect_timeout, settings.first_byte_timeout,
                                   core.core.steady_now() + time_allowed};
  auto exchange = core.origins->exchange();
  const auto asked = co_await core.origin_access.ask(context.route->origins, *exchange, outgoing,
                                                     limits, context.client);
  std::optional<int> status;
  if (asked.answered) status = exchange->head().status;
  core.sheet.count_origin_requests(asked.requests, status);
  if (asked.answered) co_return std::move(exchange);
  core.sheet.count_error(asked.answered.error());
  co_return asked.answered.error();
}

Task<std::unique_ptr<hop::Exchange>> ask_for_span(Transaction& transaction, const StoredHead& head,
                                                  http::ByteSpan span) {
  if (!http::same_strong_validator(head.fields(), head.fields())) co_return nullptr;
  const std::string range = fmt::format("bytes={}-{}", span.first, span.last);
  const Asking asking{.fills = true, .range = range, .same_as = &head};
  hop::UpstreamRequest outgoing;
  outgoing.method = transaction.context.method;
  auto asked =
      co_await ask_origin(transaction.core, *transaction.settings, *transaction.request,
                          transaction.context, asking, transaction.context.time_allowed, outgoing);
  if (!asked || !is_span_of((*asked)->head(), head, span)) co_return nullptr;
  co_return *std::move(asked);
}

}  // namespace ringside::cache
