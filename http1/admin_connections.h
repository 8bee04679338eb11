#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>

#include "base/address.h"
#include "base/clock.h"
#include "base/error.h"

namespace ringside::http {

// One admin connection's bytes. Reading and writing block, but never for longer than the limits,
// and all that one exchange may read is bounded.
class AdminWire {
 public:
  explicit AdminWire(int descriptor) : descriptor_(descriptor) {}

  // A new exchange: its head must come within limits::admin_io_timeout and head_size_bytes.
  void begin_exchange() noexcept;
  // Its body: the same deadline, and twice limits::admin_body_size_bytes, framing included.
  void begin_body() noexcept;
  // Bytes of the next request that have been read already.
  [[nodiscard]] bool has_buffered() const noexcept { return begin_ != end_; }

  // As read(2) and write(2): -1 also beyond a deadline or the allowance. The first write after
  // begin_exchange starts the deadline of the answer.
  [[nodiscard]] ssize_t read(char* to, std::size_t size) noexcept;
  [[nodiscard]] ssize_t write(const char* from, std::size_t size) noexcept;
  [[nodiscard]] bool is_writable() const noexcept;

 private:
  [[nodiscard]] bool wait(short event) const noexcept;

  const int descriptor_;
  SteadyPoint deadline_;
  std::size_t allowance_bytes_ = 0;
  bool writing_ = false;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::array<char, 4096> buffer_;
};

// The connections of an admin server, and its threads. cpp-httplib's own server gives a thread to
// every connection for as long as that is open, so that two browsers or scrapers which keep theirs
// would leave /livez unanswered; it binds with SO_REUSEPORT, so that two programs get one port; and
// its stop() waits for idle clients. Here an idle connection holds no thread: only an exchange
// does, from a request's first byte to its answer's last.
class AdminConnections {
 public:
  // One exchange. False: the connection ends after it. Called on an admin thread.
  using Exchange = std::function<bool(AdminWire&)>;

  explicit AdminConnections(Exchange exchange);
  ~AdminConnections();  // stops

  // As AdminServer's. Once.
  [[nodiscard]] Result<void> start(const Endpoint& listen);
  [[nodiscard]] Endpoint address() const;
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::http
