#pragma once

#include "base/address.h"
#include "base/clock.h"
#include "http/body.h"
#include "http/head.h"

namespace ringside::http {

// Who has sent a request and waits for the response: where the content of the request comes from,
// and who is told of interim responses.
class Caller : public BodySource {
 public:
  [[nodiscard]] virtual const IpAddress& address() const noexcept = 0;
  // Breaks off a pull() that waits: it fails, and what was not given is still to be pulled.
  virtual void interrupt() noexcept = 0;
  // Tells of an interim response (RFC 9110 §15.2), within that time.
  [[nodiscard]] virtual Task<Result<void>> tell(const ResponseHead& interim,
                                                Milliseconds timeout) = 0;
  // Ends the caller's connection: it gets no whole response.
  virtual void give_up() noexcept = 0;
};

}  // namespace ringside::http
