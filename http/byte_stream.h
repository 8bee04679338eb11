#pragma once

#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/task.h"

namespace ringside::http {

// Bytes both ways, which mean nothing to us: what is left of a connection after a switch of
// protocols (RFC 9110 §7.8). On one core's thread.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Bytes as they come; empty: the end. They stay until the next call.
  [[nodiscard]] virtual Task<Result<std::string_view>> read_raw() = 0;
  // Writes all of them before the deadline that is set.
  [[nodiscard]] virtual Task<Result<void>> write(std::span<const std::string_view> buffers) = 0;
  // Our end; what the other side sends may still be read.
  virtual void shutdown_send() noexcept = 0;
  // Breaks off reads and writes from then on.
  virtual void set_deadline(Milliseconds from_now) noexcept = 0;
  // Breaks off all waiting, now and later.
  virtual void close() noexcept = 0;
};

}  // namespace ringside::http
