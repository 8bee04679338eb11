#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/address.h"
#include "base/error.h"
#include "base/lent.h"
#include "base/task.h"
#include "hop/peer_proof.h"
#include "http/byte_stream.h"
#include "http/head.h"
#include "http1/head_parser.h"
#include "http1/incoming.h"
#include "net/core.h"
#include "net/pace.h"
#include "net/transport.h"

namespace ringside::http {

// One TCP connection that speaks HTTP/1.1, in either role. Reads heads and bodies, writes bytes; it
// knows framing and deadlines and nothing of what the messages mean. Lives on one core's thread.
//
// Views that it hands out (heads, body pieces) point into its buffer and are valid until the next
// read on it.
class Connection final : public net::Closable, public ByteStream, private net::Deadline {
 public:
  // `other_side` is the source of the errors that the other side causes. Clients are held to a
  // least rate (limits::client_rate_least_bytes_s).
  Connection(net::Core& core, std::unique_ptr<net::Transport> transport, ErrorSource other_side);
  ~Connection() override;

  [[nodiscard]] net::Core& core() noexcept { return core_; }
  [[nodiscard]] const IpAddress& remote() const noexcept { return remote_; }
  // Who is at the other end according to a proxy that was believed (PROXY protocol).
  void set_remote(const IpAddress& address) noexcept { remote_ = address; }

  // Between two messages: the connection goes on on another core of its server. Whoever is there is
  // known already, and what was read of it is read once more.
  struct Move {
    std::size_t core_index = 0;
    std::string text;
    std::shared_ptr<const hop::ProvenPeer> caller;
  };
  // To be done by the server when the session has ended.
  void move_to(Move move) noexcept { move_ = std::move(move); }
  [[nodiscard]] std::optional<Move>& move() noexcept { return move_; }
  [[nodiscard]] std::unique_ptr<net::LooseConnection> release() noexcept {
    return transport_->release();
  }
  // The other core's: before the session.
  void arrive(Move move);
  // Who is there, where another core has heard it; null: that is not known yet.
  [[nodiscard]] const std::shared_ptr<const hop::ProvenPeer>& caller() const noexcept {
    return caller_;
  }

  // What is held of the server's room for strangers until it is known who this is, or it ends.
  void hold_place(std::shared_ptr<void> place) noexcept { place_ = std::move(place); }
  void leave_place() noexcept { place_.reset(); }

  // Breaks off reads and writes from `at` on with ErrorKind::timeout. Stays until set anew.
  void set_deadline(SteadyPoint at) noexcept;
  void set_deadline(Milliseconds from_now) noexcept override {
    set_deadline(core_.steady_now() + from_now);
  }
  void clear_deadline() noexcept;

  // From here on under TLS; the handshake comes first.
  void begin_tls(std::shared_ptr<const net::TlsContext> context, const std::string& host) {
    transport_->begin_tls(std::move(context), host);
  }
  Task<Result<void>> shake_hands();

  // Waits for bytes without a frame of its own: most of a connection's life is such a wait.
  class Receiving {
   public:
    // `likely`: they may be there already.
    Receiving(Connection& connection, std::size_t bytes, bool likely) noexcept
        : connection_(connection), bytes_(bytes), likely_(likely) {}
    [[nodiscard]] bool await_ready();
    void await_suspend(std::coroutine_handle<> waiting);
    // How many came; 0: the orderly end.
    [[nodiscard]] Result<std::size_t> await_resume() { return *std::move(received_); }

   protected:
    Connection& connection_;
    std::optional<Result<std::size_t>> received_;

   private:
    void wait();

    std::coroutine_handle<> waiting_;
    const std::size_t bytes_;
    const bool likely_;
  };
  // The same for the first byte of a message.
  class ReceivingFirst : public Receiving {
   public:
    using Receiving::Receiving;
    [[nodiscard]] bool await_ready();
    [[nodiscard]] Result<bool> await_resume();

   private:
    std::optional<bool> known_;
  };

  // Waits for the first byte of a message. False: the other side closed instead, or the connection
  // was closed by close_if_idle().
  [[nodiscard]] ReceivingFirst wait_for_message() noexcept {
    return {*this, head_read_size_bytes(), false};
  }
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
  [[nodiscard]] bool body_done() const noexcept { return incoming_.body_done(); }

  // From here on the other side is held to the deadlines that are set alone, and to no rate.
  void lift_rate() noexcept { pace_.reset(); }
  // Bytes outside HTTP's messages, as they come; empty: the end. Consumed by the next read.
  Task<Result<std::string_view>> read_raw() override;
  // Bytes that are left where they are until consume_raw(); at least one more than the last time.
  Task<Result<std::string_view>> peek_raw();
  void consume_raw(std::size_t bytes) noexcept { incoming_.consume_raw(bytes); }
  [[nodiscard]] std::string_view raw() const noexcept { return incoming_.raw(); }
  // For who has a buffer: waits until there may be something to read, and reads what is there; 0:
  // the end; nullopt: nothing yet. Requires that raw() is empty.
  [[nodiscard]] auto until_readable() noexcept {
    return transport_->until(net::Transport::Ready::to_read);
  }
  // Nothing is to be waited for any more.
  [[nodiscard]] bool is_over() const noexcept { return timed_out_ || closed_; }
  [[nodiscard]] std::optional<Result<std::size_t>> read_now(std::span<char> to);

  // Writes all of `buffers`; the other side must take some of it every `stall_timeout`.
  Task<Result<void>> write(std::span<const std::string_view> buffers,
                           std::optional<Milliseconds> stall_timeout);
  // The same before the deadline that is set.
  Task<Result<void>> write(std::span<const std::string_view> buffers) override;
  // The same without suspending: how much the socket took at once (all, most of the time). The rest
  // is written with write_rest.
  Result<std::size_t> write_now(std::span<const std::string_view> buffers);
  // Writes what is left after `written` bytes; without a `stall_timeout` the deadline that is set
  // applies. `took`, which must outlive it, is called whenever the socket has taken some.
  Task<Result<void>> write_rest(std::span<const std::string_view> buffers, std::size_t written,
                                std::optional<Milliseconds> stall_timeout = {},
                                const std::function<void()>* took = nullptr);

  // Until the socket takes more, or the deadline.
  Task<Result<void>> wait_writable();

  // True where the other side has closed or sent something out of turn; for pooled connections.
  [[nodiscard]] bool is_stale() noexcept;
  // The other side has closed or sent something that was not read yet.
  [[nodiscard]] bool anything_arrived() noexcept;
  // Breaks off all waiting, now and later. On the core's thread.
  void close() noexcept override;
  // The same as if the deadline had come: whoever waits for the other side is told `timeout`.
  void give_up() noexcept;
  // Breaks off what is waited for at this moment; what follows goes on as if nothing had been.
  void interrupt() noexcept;
  // Calls what on_drain() was given, if anything.
  void tell_of_drain() noexcept {
    if (on_drain_) on_drain_();
  }
  // close() where it waits for a next message; an answer in hand is finished first.
  void close_if_idle() noexcept;
  // To be called instead, maybe more than once: what it carries is not HTTP/1.1 any more. Null: as
  // before.
  void on_drain(std::function<void()> drain) noexcept { on_drain_ = std::move(drain); }
  // The end will be a reset, so that the other side can't take a cut message for a whole one.
  void reset_on_close() noexcept;
  // Our half ends, unless the end is to be a reset; the other side may still be read, so that what
  // we wrote is not lost to a reset (RFC 9112 §9.6).
  void shutdown_send() noexcept override;
  // Reads and drops what still arrives, bounded in bytes and by the deadline.
  Task<void> linger(std::size_t most_bytes);

  // Where a head that is written on it is made: it keeps its room.
  [[nodiscard]] std::string& head_space() { return room_->head_space; }
  // Where the head of what an upstream answers on it is read to: likewise.
  [[nodiscard]] ResponseHead& response_head() { return room_->response_head; }
  // Between two messages: neither of them is looked at any more.
  void rest() noexcept { room_.give_back(); }

  // What the socket has taken of what was written, in all.
  [[nodiscard]] std::uint64_t written_bytes() const noexcept { return written_bytes_; }
  // Bytes on the wire, for the metrics.
  [[nodiscard]] bool anything_received() const noexcept { return received_since_mark_; }
  void mark() noexcept { received_since_mark_ = false; }

 private:
  friend class ArrivalWatch;

  struct Room {
    [[nodiscard]] std::size_t room_bytes() const noexcept { return head_space.capacity(); }
    std::string head_space;
    ResponseHead response_head;
  };
  void expire() noexcept override;
  // Receives what has arrived, at least a byte; 0: the orderly end. nullopt: nothing yet.
  std::optional<Result<std::size_t>> receive_now(std::size_t bytes);
  [[nodiscard]] Receiving receive(std::size_t bytes, bool likely) noexcept {
    return {*this, bytes, likely};
  }
  [[nodiscard]] std::size_t head_read_size_bytes() const noexcept;
  [[nodiscard]] Error failure(const std::error_code& code) const;

  net::Core& core_;
  const std::unique_ptr<net::Transport> transport_;
  IpAddress remote_;
  std::shared_ptr<void> place_;
  std::function<void()> on_drain_;
  std::optional<Move> move_;
  std::shared_ptr<const hop::ProvenPeer> caller_;
  Incoming incoming_;
  std::optional<net::Pace> pace_;  // of clients
  std::chrono::microseconds body_waited_{0};
  std::uint64_t body_came_bytes_ = 0;
  const ErrorSource other_side_;
  Lent<Room> room_;
  std::size_t raw_taken_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;
  bool waiting_for_message_ = false;
  bool timed_out_ = false;
  bool closed_ = false;
  bool ends_with_reset_ = false;
  bool received_since_mark_ = false;
};

}  // namespace ringside::http
