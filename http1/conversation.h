#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "base/task.h"
#include "hop/access_log.h"
#include "hop/handler.h"
#include "hop/request_in_hand.h"
#include "http1/connection.h"
#include "http1/turn.h"

namespace ringside::http {

// What another wire of ours has to do with the requests on a connection, before a handler sees
// them. On the connection's core.
class Crossing {
 public:
  virtual ~Crossing() = default;
  // Whether the connection carries something else once the response, a 101, is sent.
  [[nodiscard]] virtual bool takes_connection(const RequestHead& request,
                                              const hop::Handler& handler, Response& response) = 0;
  // The request as it was begun elsewhere: its response is to be sent here. Null: it was not.
  [[nodiscard]] virtual std::shared_ptr<hop::RequestInHand> begun(const RequestHead& request,
                                                                  const hop::Handler& handler) = 0;
  // The core that has begun it, where that is another one; only where the connection can go there.
  [[nodiscard]] virtual std::optional<std::size_t> begun_on(const RequestHead& request,
                                                            const hop::Handler& handler) = 0;
  // Whether who asks is to be told that there is another wire, and how the response says it.
  [[nodiscard]] virtual bool advertises_to(const RequestHead& request,
                                           const hop::Handler& handler) const = 0;
  virtual void advertise(Response& response) const = 0;
  // The rest of a connection that was taken; `handler` is its handler, and `log` the core's.
  [[nodiscard]] virtual Task<void> carry_on(Connection& client, hop::Handler& handler,
                                            hop::AccessLog::Queue* log) = 0;
};

// The life of a connection: reads each request, has the handler make a response, writes it, until
// one side has had enough. The one loop of all our servers. `log` is the core's; null: none.
// `crossing` null: there is no other wire.
Task<void> converse(Connection& client, hop::Handler& handler, hop::AccessLog::Queue* log,
                    const TurnTerms& terms = client_terms, Crossing* crossing = nullptr);

}  // namespace ringside::http
