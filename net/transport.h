#pragma once

#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "base/address.h"
#include "net/tls.h"

namespace ringside::net {

class Core;
class Transport;

// A connection on its way from one core to another. What does not arrive is closed.
class LooseConnection {
 public:
  virtual ~LooseConnection() = default;
  // Once, on the thread of the core that has it from then on. Null: it can't be waited for there,
  // and is closed.
  [[nodiscard]] virtual std::unique_ptr<Transport> arrive(Core& core) = 0;
};

// The bytes of one connection, plain or under TLS: what can be done at once, and waiting for more.
// Never blocks. Lives on one core's thread. The kernel's are sockets; a simulated network has its
// own.
class Transport {
 public:
  virtual ~Transport() = default;

  // From here on all bytes go through TLS; handshake_now() comes first.
  virtual void begin_tls(std::shared_ptr<const TlsContext> context, const std::string& host) = 0;
  // Null: plain.
  [[nodiscard]] virtual const TlsSession* tls() const noexcept = 0;

  // What an attempt came to. 0 bytes without an error and without would_block: the orderly end.
  struct Attempt {
    std::size_t bytes = 0;
    std::error_code error{};
    bool would_block = false;
  };
  virtual Attempt handshake_now() = 0;
  virtual Attempt read_now(char* to, std::size_t bytes) = 0;
  virtual Attempt write_now(std::span<const std::string_view> buffers) = 0;

  // What is waited for before the same attempt is made again.
  enum class Ready { to_read, to_write, bytes_came };
  // Calls `done` once, from the core's loop and never from within: with no error when it is ready,
  // with operation_canceled after cancel() or close(). Of each kind one wait at a time. bytes_came
  // is about the socket, whatever TLS is doing.
  virtual void wait(Ready ready, std::function<void(std::error_code)> done) = 0;
  // The same for a coroutine, whose frame must last until then.
  [[nodiscard]] auto until(Ready ready) noexcept {
    struct Awaiting {
      Transport& transport;
      Ready ready;
      std::error_code code{};
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> awaiting) {
        transport.wait(ready, [this, awaiting](std::error_code how) {
          code = how;
          awaiting.resume();
        });
      }
      [[nodiscard]] std::error_code await_resume() const noexcept { return code; }
    };
    return Awaiting{*this, ready};
  }

  // Bytes or the end have arrived that nobody has read. Under TLS what is no application data (a
  // session ticket) does not count.
  [[nodiscard]] virtual bool anything_arrived() noexcept = 0;
  // Given to the kernel and not confirmed by the other side.
  [[nodiscard]] virtual std::size_t unacknowledged_bytes() noexcept = 0;
  // Of the other end.
  [[nodiscard]] virtual IpAddress remote() const noexcept = 0;
  // How much may lie unread here before the other side has to wait.
  virtual void limit_received(std::size_t bytes) noexcept = 0;

  // The connection, for another core; the transport is of no use any more. Null: it can't be moved
  // (it is under TLS, or has ended), and stays.
  [[nodiscard]] virtual std::unique_ptr<LooseConnection> release() noexcept = 0;

  virtual void cancel() noexcept = 0;
  virtual void shutdown_send() noexcept = 0;
  virtual void reset_on_close() noexcept = 0;
  virtual void close() noexcept = 0;
};

}  // namespace ringside::net
