#include "cache/origin.h"

namespace ringside::cache {

Task<Result<void>> ask_origin(CoreState& state, const Settings& settings, const Inquiry& inquiry,
                              Milliseconds time_allowed, http::Exchange& exchange,
                              const http::OutgoingRequest& outgoing) {
  const http::ExchangeLimits limits{settings.connect_timeout, settings.first_byte_timeout,
                                    state.core.steady_now() + time_allowed};
  auto asked = co_await state.origin_access.ask(inquiry.route->origins, exchange, outgoing, limits);
  std::optional<int> status;
  if (asked.answered) status = exchange.head().status;
  state.sheet.count_origin_requests(asked.requests, status);
  if (!asked.answered) state.sheet.count_error(asked.answered.error());
  co_return std::move(asked.answered);
}

}  // namespace ringside::cache
