#pragma once

#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/task.h"
#include "base/upstream_address.h"
#include "hop/peer_proof.h"
#include "http/body.h"
#include "http/byte_stream.h"
#include "http/caller.h"
#include "http/head.h"
#include "http/target.h"
#include "net/retry_budget.h"
#include "net/tls.h"

namespace ringside::hop {

struct UpstreamLimits {
  Milliseconds connect_timeout;
  Milliseconds first_byte_timeout;
  SteadyPoint deadline;  // of the whole, up to the head of the response
  // Of its content; each piece of it has limits::upstream_io_timeout at most.
  SteadyPoint body_deadline = SteadyPoint::max();
  // For a proof of membership on a new connection, beyond connecting, where the request may be
  // repeated. Whoever grants some may give the exchange up if the peer is silent.
  Milliseconds proof_timeout{0};
};

// A request as it goes upstream. Views and pointers: what they lead to lasts until the response's
// head has come.
struct UpstreamRequest {
  std::string_view method;
  const http::Target* target = nullptr;
  std::string_view host;
  std::string_view fields;        // lines that FieldLines made, but for what frames the content
  http::Framing framing;          // of the content
  http::Caller* body = nullptr;   // where the content is pulled from; null: there is none
  bool expects_continue = false;  // the caller waits for `100 Continue` before it sends the content
  http::Caller* interim_to = nullptr;  // who is told of 1xx responses; null: nobody
  // Others wait for the response as well: who can't be told of an interim one at once is given up,
  // and the exchange goes on without it.
  bool interim_is_optional = false;
  // The response is read, and not only passed on: all of it is in the head's `fields`.
  bool reads_fields = false;
  bool upgrades = false;  // another protocol is asked for: 101 is a response
  // What the exchange takes a repeat of, where a connection that many requests share has ended
  // under this one; null: such a repeat is not counted.
  net::RetryBudget* repeats = nullptr;
  std::string_view peer{};  // the replica that it is for; what Upstreams::introduce_as is about
};

// One request to one upstream and its response: the head, and then the content, which it is the
// source of. Its end lets the next request have what it held; a response that was not pulled to its
// end is broken off.
class Exchange : public http::BodySource {
 public:
  // Sends the request, and reads the head of the final response; interim ones are passed on. The
  // Error says with Retry::yes that asking another upstream is allowed: the request is idempotent
  // or was never sent, none of its content was pulled, and no byte of a response came.
  [[nodiscard]] virtual Task<Result<void>> ask(const UpstreamAddress& address,
                                               const UpstreamRequest& request,
                                               const UpstreamLimits& limits) = 0;
  // Breaks off ask(): it fails as if the upstream had let its time run out.
  virtual void give_up() noexcept = 0;

  // After ask(). Its views last until the content is pulled.
  [[nodiscard]] virtual const http::ResponseHead& head() const noexcept = 0;
  // After a 101.
  [[nodiscard]] virtual http::ByteStream& stream() noexcept = 0;

  // Keeps something until the exchange ends, such as its slot at the origin's gate.
  void hold(std::shared_ptr<void> held) noexcept { held_ = std::move(held); }

 private:
  std::shared_ptr<void> held_;
};

// One core's way to upstreams of one kind: replicas, or origins. Outlives its exchanges.
class Upstreams {
 public:
  virtual ~Upstreams() = default;
  [[nodiscard]] virtual std::unique_ptr<Exchange> exchange() = 0;
  // How certificates of upstreams under TLS are judged from now on.
  virtual void set_tls(std::shared_ptr<const net::TlsContext> context) = 0;
  // Who we are to those that are asked, from now on: a connection is used once its other end has
  // proved to be the request's `peer`, and we to be `self`. What was proved by a key that `self`
  // has not is not used again. Null: nobody proves anything.
  virtual void introduce_as(std::shared_ptr<const PeerIdentity> self) = 0;
  // Lets go of what was kept too long for further requests. To be called now and then. False:
  // nothing is kept, so that there is time until what comes next may be too old
  // (limits::upstream_idle_timeout).
  virtual bool close_idle() = 0;
};

// A caller's request on its way on: its content, what the caller waits for, who is told of interim
// responses. `method` must outlive the pulling of the content, which takes the head's views along.
// The target, the host and the fields are for who sends it to say.
[[nodiscard]] inline UpstreamRequest passed_on(const http::RequestHead& head, bool upgrades,
                                               std::string_view method,
                                               http::Caller& caller) noexcept {
  UpstreamRequest request;
  request.method = method;
  request.framing = head.framing;
  if (head.framing.kind != http::Framing::Kind::none) {
    request.body = &caller;
    request.expects_continue = head.expects_continue;
  }
  if (head.minor_version >= 1) request.interim_to = &caller;  // HTTP/1.0 knows none
  request.upgrades = upgrades;
  return request;
}

}  // namespace ringside::hop
