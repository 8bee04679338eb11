#include "cache/origin.h"

namespace ringside::cache {

http::Task<Result<void>> ask_origin(CoreState& state, const Settings& settings,
                                    const Inquiry& inquiry, http::Exchange& exchange,
                                    const http::OutgoingRequest& outgoing) {
  const http::ExchangeLimits limits{settings.connect_timeout, settings.first_byte_timeout,
                                    state.core.steady_now() + settings.request_deadline};
  auto answered = co_await exchange.ask(inquiry.route->origin, outgoing, limits);
  if (answered) {
    state.sheet.count_origin_request(metrics::origin_answer(exchange.head().status));
  } else {
    state.sheet.count_origin_request(metrics::OriginAnswer::failed);
    state.sheet.count_error(answered.error().source);
  }
  co_return answered;
}

}  // namespace ringside::cache
