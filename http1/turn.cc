#include "http1/turn.h"

#include "base/limits.h"
#include "net/proxy_header.h"

namespace ringside::http {

Result<bool> goes_on_after(const Result<void>& head) {
  if (head) return true;
  if (head.error().kind == ErrorKind::disconnected) return false;
  return head.error();
}

Result<void> admit(net::Core& core, const RequestHead& head) {
  if (head.framing.kind == Framing::Kind::length &&
      head.framing.length_bytes > limits::request_body_size_bytes) {
    return Error{ErrorKind::body_too_large, ErrorSource::client, Retry::no,
                 "the body is larger than is allowed"};
  }
  // Requests in progress are finished; new ones are refused.
  if (core.buffers_are_full()) {
    return Error{ErrorKind::overloaded, ErrorSource::ourselves, Retry::no,
                 "the connections' buffers are full"};
  }
  return {};
}

Task<Result<void>> read_proxy_header(Connection& client) {
  client.set_deadline(limits::client_head_timeout);
  while (true) {
    const auto bytes = co_await client.peek_raw();
    if (!bytes) co_return bytes.error();
    const auto header = net::parse_proxy_header(*bytes);
    if (!header) co_return header.error();
    if (!header->has_value()) continue;
    client.consume_raw((*header)->size_bytes);
    if (const auto& source = (*header)->source) client.set_remote(source->address);
    co_return Result<void>();
  }
}

Task<void> end_connection(Connection& client, const TurnTerms& terms) {
  client.set_deadline(terms.linger);
  co_await client.linger(terms.linger_size_bytes);
}

}  // namespace ringside::http
