#pragma once

#include "http1/head_parser.h"
#include "http1/turn.h"

namespace ringside::http {

// Waits for the next request and reads its head. False: the connection has ended in order.
inline Task<Result<bool>> next_request(Connection& client, RequestHead& head) {
  client.set_deadline(client_terms.idle);
  const auto begun = co_await client.wait_for_message();
  if (!begun || !*begun) co_return false;
  client.set_deadline(client_terms.head);
  co_return goes_on_after(co_await client.read_request(HeadLimits::defaults(), head));
}

}  // namespace ringside::http
