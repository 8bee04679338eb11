#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/address.h"
#include "base/clock.h"
#include "base/error.h"
#include "replay/access_log.h"
#include "replay/replay.h"
#include "replay/reply.h"

namespace ringside::replay {

struct ClientSettings {
  Endpoint to;
  std::string host;  // the Host field; empty: `to`
  ClientField client_field = ClientField::x_forwarded_for;
  std::size_t concurrency = 16;
  std::uint32_t rate_per_second = 0;  // 0: as fast as the answers come
  Milliseconds answer_timeout;        // one request, to the last byte of its answer
};

// Sends requests in their order over keep-alive connections, a number of them at once, from one
// thread of its own. A request on a kept connection that turns out closed is sent once more (where
// that is allowed); everything else counts as it went. Methods are for one thread, not the
// client's.
class Client {
 public:
  // How far it is. Figures that belong together may be a request apart.
  struct Progress {
    std::uint64_t sent = 0;
    std::uint64_t answered = 0;  // with errors
    std::uint64_t gets = 0;      // answered without error
    std::uint64_t get_hits = 0;
    std::uint64_t errors = 0;
  };

  // `requests` and the clock must outlive the client. Nothing is sent yet.
  Client(ClientSettings settings, std::span<const LogRequest> requests, const Clock& clock);
  ~Client();  // breaks off what is in flight

  // Connects once, so that an address where nobody listens is told before anything else, and
  // begins.
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Progress progress() const noexcept;
  // Waits until that many requests were sent, or all were answered; at most for `most`. False: time
  // ran out.
  bool wait_until_sent(std::uint64_t requests, Milliseconds most);
  bool wait_until_done(Milliseconds most);
  // Waits to the end. Once, after start().
  [[nodiscard]] Journal finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::replay
