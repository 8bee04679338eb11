#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/address.h"
#include "base/error.h"
#include "http/buffer.h"
#include "http/chunked.h"
#include "http/core.h"
#include "http/head.h"
#include "http/task.h"

namespace ringside::http {

// One TCP connection that speaks HTTP/1.1, in either role. Reads heads and bodies, writes bytes; it
// knows framing and deadlines and nothing of what the messages mean. Lives on one core's thread.
//
// Views that it hands out (heads, body pieces) point into its buffer and are valid until the next
// read on it.
class Connection final : public Closable, private Deadline {
 public:
  // `other_side` is the source of the errors that the other side causes. `read_size_bytes` is asked
  // for at once: small for clients, whose requests are, larger for upstreams.
  Connection(Core& core, Socket socket, ErrorSource other_side, std::size_t read_size_bytes);
  ~Connection() override;

  [[nodiscard]] Core& core() noexcept { return core_; }
  [[nodiscard]] const IpAddress& remote() const noexcept { return remote_; }

  // Breaks off reads and writes from `at` on with ErrorKind::timeout. Stays until set anew.
  void set_deadline(SteadyPoint at) noexcept;
  void set_deadline(Milliseconds from_now) noexcept { set_deadline(core_.steady_now() + from_now); }
  void clear_deadline() noexcept;

  // Waits for the first byte of a message. False: the other side closed instead, or the connection
  // was closed by close_if_idle().
  Task<Result<bool>> wait_for_message();
  // Reads a whole head. Requires that the body before it was read to its end.
  Task<Result<void>> read_request(const HeadLimits& limits, RequestHead& head);
  Task<Result<void>> read_response(const HeadLimits& limits, std::string_view request_method,
                                   ResponseHead& head);
  // A request head that has arrived already, without suspending; nullopt where it has not.
  std::optional<Result<void>> take_request(const HeadLimits& limits, RequestHead& head);
  std::optional<Result<void>> take_response(const HeadLimits& limits,
                                            std::string_view request_method, ResponseHead& head);

  // The next piece of the current message's body, decoded; an empty piece is its end.
  Task<Result<std::string_view>> read_body();
  // A piece that has arrived already; nullopt where more must be read.
  std::optional<Result<std::string_view>> take_body();
  [[nodiscard]] bool body_done() const noexcept { return body_ == Body::done; }

  // Writes all of `buffers`; the other side must take some of it every `stall_timeout`.
  Task<Result<void>> write(std::span<const asio::const_buffer> buffers, Milliseconds stall_timeout);
  // The same before the deadline that is set.
  Task<Result<void>> write(std::span<const asio::const_buffer> buffers);
  // The same without suspending: how much the socket took at once (all, most of the time). The rest
  // is written with write_rest.
  Result<std::size_t> write_now(std::span<const asio::const_buffer> buffers);
  Task<Result<void>> write_rest(std::span<const asio::const_buffer> buffers, std::size_t written,
                                std::optional<Milliseconds> stall_timeout = {});

  // True where the other side has closed or sent something out of turn; for pooled connections.
  [[nodiscard]] bool is_stale() noexcept;
  // Breaks off all waiting, now and later. On the core's thread.
  void close() noexcept override;
  // close() where it waits for a next message; an answer in hand is finished first.
  void close_if_idle() noexcept;
  // The end will be a reset, so that the other side can't take a cut message for a whole one.
  void reset_on_close() noexcept;
  // Our half ends, unless the end is to be a reset; the other side may still be read, so that what
  // we wrote is not lost to a reset (RFC 9112 §9.6).
  void shutdown_send() noexcept;
  // Drops what was received and lets go of memory. For connections that wait for long.
  void release_buffer_if_empty() noexcept;
  // Reads and drops what still arrives, bounded in bytes and by the deadline.
  Task<void> linger(std::size_t most_bytes);

  // Bytes on the wire, for the metrics.
  [[nodiscard]] bool anything_received() const noexcept { return received_since_mark_; }
  void mark() noexcept { received_since_mark_ = false; }

 private:
  enum class Body { none, length, chunked, until_close, done };

  void expire() noexcept override;
  // Bytes or the end lie in the socket.
  [[nodiscard]] bool anything_arrived() noexcept;
  Task<Result<std::size_t>> fill(std::size_t bytes);
  void begin_body(const Framing& framing) noexcept;
  [[nodiscard]] Error failure(const boost::system::error_code& code) const;
  [[nodiscard]] Result<std::optional<std::size_t>> find_head(const HeadLimits& limits);

  Core& core_;
  Socket socket_;
  IpAddress remote_;
  Buffer buffer_;
  ChunkDecoder chunks_;
  std::uint64_t body_left_bytes_ = 0;
  std::size_t head_searched_bytes_ = 0;
  const std::size_t read_size_bytes_;
  const ErrorSource other_side_;
  Body body_ = Body::done;
  bool waiting_for_message_ = false;
  bool timed_out_ = false;
  bool closed_ = false;
  bool ends_with_reset_ = false;
  bool received_since_mark_ = false;
};

}  // namespace ringside::http
