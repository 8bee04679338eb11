#pragma once

#include "base/error.h"
#include "base/task.h"
#include "http/head.h"
#include "http/response.h"
#include "http1/connection.h"

// How a connection between members becomes a link (RFC 9110 §7.8), once they have proved
// themselves:
//
//   OPTIONS * HTTP/1.1                       ─▶
//   Connection: Upgrade
//   Upgrade: ringside-link/1
//                 ◀─ HTTP/1.1 101 Switching Protocols, the same two fields, and then frames
namespace ringside::link {

// The side that opened the connection, until the deadline that the connection has. An Error: it is
// of no use.
Task<Result<void>> switch_to_link(http::Connection& connection, std::string_view peer);

// The other side: whether the request asks for it.
[[nodiscard]] bool asks_for_link(const http::RequestHead& request);
void make_switch_response(http::Response& response);

}  // namespace ringside::link
