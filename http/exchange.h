#pragma once

#include <memory>
#include <string_view>

#include "base/address.h"
#include "base/error.h"
#include "http/connection.h"
#include "http/head.h"
#include "http/pool.h"
#include "http/relay.h"
#include "http/task.h"

namespace ringside::http {

struct ExchangeLimits {
  Milliseconds connect_timeout;
  Milliseconds first_byte_timeout;
  SteadyPoint deadline;  // of the whole, up to the head of the answer
};

// A request as it is sent upstream.
struct OutgoingRequest {
  std::string_view method;
  std::string_view head;       // complete, with its empty line
  Connection* body = nullptr;  // where a body is read from; null: no body
  Coding body_coding = Coding::as_is;
  bool tell_to_continue = false;  // the client waits for `100 Continue` before it sends the body
};

// One request to one upstream and the head of its answer. The body is then read from connection().
// On destruction a connection whose answer was not read to its end is closed.
class Exchange {
 public:
  Exchange(Core& core, Pool& pool) noexcept : core_(core), pool_(pool) {}

  // Sends and reads the head of the final answer (1xx are read over). On a pooled connection that
  // turns out closed before a byte of the answer, a request without body is repeated once on a new
  // one. The Error says with Retry::yes that asking another upstream is allowed: the request is
  // idempotent or was never sent, has lost no body, and no byte of an answer came.
  Task<Result<void>> ask(const Endpoint& address, const OutgoingRequest& request,
                         const ExchangeLimits& limits);

  [[nodiscard]] const ResponseHead& head() const noexcept { return head_; }
  [[nodiscard]] Connection& connection() noexcept { return *lease_.connection; }
  // Gives the connection back for the next request where that is possible.
  void finish();

 private:
  Task<Result<void>> send_and_read(const OutgoingRequest& request, const ExchangeLimits& limits);
  Task<Result<void>> send_body(const OutgoingRequest& request);

  Core& core_;
  Pool& pool_;
  Pool::Lease lease_;
  Endpoint address_;
  ResponseHead head_;
  bool body_touched_ = false;
};

}  // namespace ringside::http
