#pragma once

#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/task.h"
#include "http/head.h"
#include "http/hop.h"
#include "http1/connection.h"
#include "http1/pool.h"
#include "http1/relay.h"
#include "net/upstream_address.h"

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
  bool expects_continue = false;     // the client, and so the head, asks for `100 Continue` first
  Connection* interim_to = nullptr;  // who is told of 1xx responses; null: nobody (HTTP/1.0)
  // Others wait for the answer as well: who can't be told of an interim one at once is given up
  // (its connection is closed), and the exchange goes on without it.
  bool interim_is_optional = false;
  bool upgrades = false;  // the head asks for another protocol: 101 is an answer
};

// A client's request on its way on: its body, what it waits for, who is told of interim responses.
// `method` must outlive the reading of the body, which takes the request's own views along. The
// head is the caller's to write.
[[nodiscard]] OutgoingRequest passed_on(const RequestHead& request, const Hop& hop,
                                        std::string_view method, Connection& client) noexcept;

// One request to one upstream and the head of its answer. The body is then read from connection().
// On destruction a connection whose answer was not read to its end is closed.
class Exchange {
 public:
  Exchange(net::Core& core, Pool& pool) noexcept : core_(core), pool_(pool) {}

  // Sends and reads the head of the final answer; interim ones are passed on. On a pooled
  // connection that turns out closed before a byte of the answer, a request without body is
  // repeated once on a new one. The Error says with Retry::yes that asking another upstream is
  // allowed: the request is idempotent or was never sent, has lost no body, and no byte of an
  // answer came.
  Task<Result<void>> ask(const net::UpstreamAddress& address, const OutgoingRequest& request,
                         const ExchangeLimits& limits);

  // Breaks off ask(): it fails as if the upstream had let its time run out. On the core's thread.
  void give_up() noexcept;

  [[nodiscard]] const ResponseHead& head() const noexcept { return head_; }
  [[nodiscard]] Connection& connection() noexcept { return *lease_.connection; }
  // Keeps something until the exchange has ended: a share of what the upstream is spared.
  void hold(std::shared_ptr<void> held) noexcept { held_ = std::move(held); }
  // Gives the connection back for the next request where that is possible, and lets go of what is
  // held.
  void finish();

 private:
  enum class Head { interim, final };

  Task<Result<void>> send_and_read(const OutgoingRequest& request, const ExchangeLimits& limits);
  Task<Result<Head>> read_head(const OutgoingRequest& request);
  Task<Result<void>> pass_interim_on(const OutgoingRequest& request);
  Task<Result<void>> tell_to_continue(const OutgoingRequest& request);
  Task<Result<Head>> wait_for_continue(const OutgoingRequest& request,
                                       const ExchangeLimits& limits);
  Task<Result<Head>> send_body(const OutgoingRequest& request, const ExchangeLimits& limits);
  [[nodiscard]] Error failure(Error error, const OutgoingRequest& request) const;

  net::Core& core_;
  Pool& pool_;
  std::shared_ptr<void> held_;
  Pool::Lease lease_;
  net::UpstreamAddress address_;
  ResponseHead head_;
  unsigned interim_heads_ = 0;
  bool interim_given_up_ = false;
  bool body_touched_ = false;
  bool body_sent_ = true;
  bool told_to_continue_ = false;
  bool given_up_ = false;
};

}  // namespace ringside::http
