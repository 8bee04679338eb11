#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/address.h"
#include "base/error.h"
#include "base/link_event.h"
#include "base/task.h"
#include "hop/peer_proof.h"
#include "http/caller.h"
#include "http/head.h"
#include "http/response.h"

namespace ringside::net {
class Closable;
class Core;
}  // namespace ringside::net

namespace ringside::hop {

// What became of a response.
struct Sent {
  int status = 0;                     // 0: nothing was sent
  std::uint64_t body_bytes = 0;       // of the content
  std::chrono::microseconds took{0};  // since the request's head had come
  std::optional<Error> failure;       // why the client did not get all of it
};

// What the access log tells of a request beside what the request says.
struct AccessNotes {
  IpAddress client;
  std::string_view outcome;  // static
  std::string_view country;
  std::string_view replica;  // that answered; empty: none
};

// What a half makes of the requests of one connection, one after the other. A function from a
// request to a response; the codec reads the one, calls it, and writes the other. On the
// connection's core.
//
//   begin ─▶ answer ─▶ (refuse, where the body fails before its first byte) ─▶ sent ─▶ begin …
//      └───▶ refuse ────────────────────────────────────────────────────────────▶
class Handler {
 public:
  virtual ~Handler() = default;

  // Whether connections from there begin with a PROXY header.
  [[nodiscard]] virtual bool expects_proxy_header(const IpAddress& from) const {
    static_cast<void>(from);
    return false;
  }
  // Whether its clients are hops of ours, who add to the heads of theirs
  // (limits::hop_head_size_bytes).
  [[nodiscard]] virtual bool serves_hops() const { return false; }
  // Whether the request was a word of a handshake between peers (hop/peer_handshake.h). Then it is
  // answered, and nothing of it is to be counted. Before begin().
  [[nodiscard]] virtual bool introduce(const IpAddress& from, const http::RequestHead& request,
                                       http::Response& response) {
    static_cast<void>(from), static_cast<void>(request), static_cast<void>(response);
    return false;
  }
  // Who is there, if such words have shown it: one of ours, and no client that is counted by its
  // address. Null: nobody knows.
  [[nodiscard]] virtual std::shared_ptr<const ProvenPeer> caller() const noexcept {
    return nullptr;
  }
  // What another handler has heard so. Before the first request.
  virtual void know(std::shared_ptr<const ProvenPeer> caller) { static_cast<void>(caller); }
  // Whether what the caller says between the members of a tier is believed.
  [[nodiscard]] virtual bool trusts_caller() const noexcept { return false; }
  // Another one, for a request of the same connection at the same time, whose caller is known as
  // this one's is. It may outlive this one. Null: one connection brings one request at a time.
  [[nodiscard]] virtual std::unique_ptr<Handler> beside() { return nullptr; }
  // To be counted: something about links of this connection.
  virtual void count(LinkEvent event) { static_cast<void>(event); }
  // A request has arrived, or bytes that are none.
  virtual void begin(const IpAddress& from) = 0;
  // How many requests a connection may bring.
  [[nodiscard]] virtual std::uint32_t requests_per_connection() const = 0;
  // Makes the response. The head's views last until its content is pulled, or the response is sent;
  // the handler may change it. What the response's body refers to of the handler lasts until
  // sent().
  [[nodiscard]] virtual Task<void> answer(http::RequestHead& request, http::Caller& caller,
                                          http::Response& response) = 0;
  // The response where the request can't be read or is not let in, or where nothing was sent yet of
  // a response whose body has failed.
  virtual void refuse(const Error& error, http::Response& response) = 0;
  // The client takes no more of the response for now, which waits for it; who closes it cuts the
  // response off. It holds until resumed(), which comes before sent(). It is called anew whenever
  // the client has taken some.
  virtual void stalled(const http::Response& response, net::Closable& client) {
    static_cast<void>(response);
    static_cast<void>(client);
  }
  virtual void resumed() {}
  // To be counted. The response is gone.
  virtual void sent(const Sent& sent) = 0;
  [[nodiscard]] virtual AccessNotes access_notes() const = 0;
};

using MakeHandler = std::function<std::unique_ptr<Handler>(net::Core&)>;

}  // namespace ringside::hop
