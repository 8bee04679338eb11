#pragma once

#include "base/error.h"
#include "http/connection.h"
#include "http/head.h"
#include "http/relay.h"
#include "http/task.h"

namespace ringside::http {

// What every server does around a request, whatever it means.

// Waits for the next request and reads its head, each within its limit. False: the connection has
// ended in order. An Error: the client is to be told, and the connection to end.
Task<Result<bool>> next_request(Connection& client, RequestHead& head);

// After the last answer: reads and drops for a moment what a refused client still sends, so that a
// reset does not take the answer from it (RFC 9112 §9.6).
Task<void> end_connection(Connection& client);

// How an answer's body is framed for this client, and whether the connection goes on after it (RFC
// 9112 §6.3, §9.3).
struct Delivery {
  Coding coding = Coding::as_is;
  bool keep_alive = true;
};
[[nodiscard]] Delivery choose_delivery(int client_minor_version, bool length_known,
                                       bool keep_alive) noexcept;
// Whether a body so framed has a length that a head can tell.
[[nodiscard]] bool length_is_known(const Framing& framing) noexcept;

}  // namespace ringside::http
