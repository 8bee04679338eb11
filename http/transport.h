#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "http/task.h"
#include "http/tls.h"

namespace ringside::http {

// The bytes of one TCP connection, plain or under TLS: what can be done at once, and waiting for
// more. Never blocks. Lives on one core's thread.
class Transport {
 public:
  explicit Transport(Socket socket) noexcept;

  // From here on all bytes go through TLS; handshake() comes first.
  void begin_tls(std::shared_ptr<const TlsContext> context, const std::string& host);
  [[nodiscard]] bool under_tls() const noexcept { return tls_ != nullptr; }
  [[nodiscard]] const TlsSession& tls() const noexcept { return *tls_; }

  // What an attempt came to. 0 bytes without an error and without would_block: the orderly end.
  struct Attempt {
    std::size_t bytes = 0;
    boost::system::error_code error;
    bool would_block = false;
  };
  Attempt handshake_now();
  Attempt read_now(char* to, std::size_t bytes);
  Attempt write_now(std::span<const asio::const_buffer> buffers);

  // What socket().async_wait() is to be asked for before the attempt is made again.
  [[nodiscard]] Socket::wait_type read_wait() const noexcept {
    return read_waits_for_writable_ ? Socket::wait_write : Socket::wait_read;
  }
  [[nodiscard]] Socket::wait_type write_wait() const noexcept {
    return write_waits_for_readable_ ? Socket::wait_read : Socket::wait_write;
  }

  // Bytes or the end have arrived that nobody has read. Under TLS what is no application data (a
  // session ticket) does not count.
  [[nodiscard]] bool anything_arrived() noexcept;

  void cancel() noexcept;
  void shutdown_send() noexcept;
  void reset_on_close() noexcept;
  void close() noexcept;
  [[nodiscard]] Socket& socket() noexcept { return socket_; }

 private:
  [[nodiscard]] Attempt attempt_of(const TlsSession::Step& step);

  Socket socket_;
  std::unique_ptr<TlsSession> tls_;
  // TLS may have to read before it can write and the other way round (RFC 8446 §4.6).
  bool read_waits_for_writable_ = false;
  bool write_waits_for_readable_ = false;
  char peeked_ = 0;
  bool has_peeked_ = false;
};

}  // namespace ringside::http
