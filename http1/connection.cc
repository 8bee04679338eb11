#include "http1/connection.h"

#include <algorithm>
#include <vector>

#include "base/limits.h"

namespace ringside::http {
namespace {

// How much longer a client may let us wait that takes than one that sends. A receiver tells of room
// in steps of up to 128 KiB, whatever it has taken meanwhile: at 10 KiB/s one in 13 s.
constexpr int write_patience =
    static_cast<int>(limits::client_io_timeout / limits::client_rate_grace);
static_assert(write_patience >= 2);

// Time that is spent waiting for the other side, taken from its pace. The deadline of the wait is
// the earliest of the connection's own, the end of our patience, and the time to look again at what
// the other side has taken; afterwards the connection's own stands again.
class PacedWait {
 public:
  // `most`: for this wait, whatever the pace allows.
  PacedWait(net::Core& core, net::Deadline& deadline, std::optional<net::Pace>& pace, int patience,
            std::chrono::microseconds most = limits::client_rate_grace) noexcept
      : core_(core),
        deadline_(deadline),
        pace_(pace),
        own_(deadline.at()),
        patience_(patience),
        armed_(deadline.armed()) {
    if (!pace_) return;
    began_ = core.steady_now();
    const auto left = std::min<std::chrono::microseconds>(
        {pace_->left() * patience_, most, limits::client_rate_grace});
    const SteadyPoint patience_ends =
        began_ + std::chrono::duration_cast<SteadyPoint::duration>(left);
    if (!armed_ || patience_ends < own_) deadline_.set(patience_ends);
  }
  ~PacedWait() {
    if (!pace_) return;
    pace_->waited(
        std::chrono::duration_cast<std::chrono::microseconds>(core_.steady_now() - began_) /
        patience_);
    if (!deadline_.armed()) return;  // It has expired.
    if (armed_) {
      deadline_.set(own_);
    } else {
      deadline_.clear();
    }
  }
  PacedWait(const PacedWait&) = delete;
  PacedWait& operator=(const PacedWait&) = delete;

 private:
  net::Core& core_;
  net::Deadline& deadline_;
  std::optional<net::Pace>& pace_;
  SteadyPoint own_;
  SteadyPoint began_{};
  int patience_;
  bool armed_;
};

std::size_t size_of(std::span<const std::string_view> buffers) noexcept {
  std::size_t bytes = 0;
  for (const std::string_view buffer : buffers) bytes += buffer.size();
  return bytes;
}

}  // namespace

Connection::Connection(net::Core& core, std::unique_ptr<net::Transport> transport,
                       ErrorSource other_side)
    : net::Deadline(core.deadlines()),
      core_(core),
      transport_(std::move(transport)),
      incoming_(other_side, &core.buffered_bytes()),
      other_side_(other_side),
      closed_(core.stopped()) {
  core_.add(*this);
  if (other_side == ErrorSource::client) {
    pace_.emplace(limits::client_rate_grace, limits::client_rate_least_bytes_s);
  }
  if (other_side == ErrorSource::peer) {
    // A receiver that was full tells of new room by the 16th of its buffer. Of megabytes that would
    // be minutes in which a slow client's replica sees nothing of its progress and gives it up.
    transport_->limit_received(4 * limits::body_piece_size_bytes);
  }
  remote_ = transport_->remote();
}

Connection::~Connection() {
  // Explicitly: a socket that its owner closes in a destructor has its linger option taken away.
  if (ends_with_reset_) transport_->close();
}

void Connection::set_deadline(SteadyPoint at) noexcept {
  timed_out_ = false;
  net::Deadline::set(at);
}

void Connection::clear_deadline() noexcept {
  timed_out_ = false;
  net::Deadline::clear();
}

void Connection::expire() noexcept { give_up(); }

void Connection::give_up() noexcept {
  timed_out_ = true;
  transport_->cancel();
}

void Connection::interrupt() noexcept { transport_->cancel(); }

void Connection::close() noexcept {
  closed_ = true;
  transport_->cancel();
}

void Connection::close_if_idle() noexcept {
  if (on_drain_) return on_drain_();
  if (waiting_for_message_) close();
}

void Connection::reset_on_close() noexcept {
  ends_with_reset_ = true;
  transport_->reset_on_close();
}

void Connection::shutdown_send() noexcept {
  if (!ends_with_reset_) transport_->shutdown_send();
}

Error Connection::failure(const std::error_code& code) const {
  if (timed_out_) {
    return {ErrorKind::timeout, other_side_, Retry::no, "no progress before the deadline"};
  }
  if (closed_) {
    return {ErrorKind::disconnected, ErrorSource::ourselves, Retry::no, "stopping"};
  }
  const net::TlsSession* const tls = transport_->tls();
  if (tls != nullptr && !tls->failure().empty()) {
    const auto kind = tls->certificate_refused() ? ErrorKind::untrusted : ErrorKind::disconnected;
    return {kind, other_side_, Retry::no, "TLS: " + tls->failure()};
  }
  return {ErrorKind::disconnected, other_side_, Retry::no,
          code ? code.message() : "closed before the message was complete"};
}

// A client's head is received where all of the core's are, and only what came is kept: ten thousand
// slow ones cost what they have sent. An upstream's answer is likely to fill what it is given.
std::size_t Connection::head_read_size_bytes() const noexcept {
  return other_side_ == ErrorSource::client ? 0 : limits::upstream_buffer_start_bytes;
}

std::optional<Result<std::size_t>> Connection::read_now(std::span<char> to) {
  using Received = Result<std::size_t>;
  if (timed_out_ || closed_) return Received(failure({}));
  const auto attempt = transport_->read_now(to.data(), to.size());
  if (attempt.would_block) return std::nullopt;
  if (attempt.error) return Received(failure(attempt.error));
  if (attempt.bytes != 0) core_.time_passed();
  return Received(attempt.bytes);
}

std::optional<Result<std::size_t>> Connection::receive_now(std::size_t bytes) {
  Buffer& buffer = incoming_.buffer();
  std::span<char> to = core_.scratch();
  if (bytes != 0) {
    buffer.reserve(bytes);
    to = {buffer.writable(), buffer.writable_bytes()};
  }
  auto received = read_now(to);
  if (!received || !*received || **received == 0) return received;
  if (bytes == 0) buffer.append({to.data(), **received});
  if (bytes != 0) buffer.commit(**received);
  received_since_mark_ = true;
  return received;
}

bool Connection::Receiving::await_ready() {
  // What TLS has decrypted already will not make its socket readable.
  const bool look = likely_ || connection_.transport_->tls() != nullptr;
  if (look || connection_.timed_out_ || connection_.closed_) {
    received_ = connection_.receive_now(bytes_);
  }
  return received_.has_value();
}

void Connection::Receiving::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  wait();
}

void Connection::Receiving::wait() {
  // Nothing is held for one who sends nothing.
  if (connection_.incoming_.empty()) connection_.incoming_.buffer().release();
  connection_.transport_->wait(net::Transport::Ready::to_read, [this](std::error_code code) {
    if (code) {
      received_ = Result<std::size_t>(connection_.failure(code));
    } else {
      received_ = connection_.receive_now(bytes_);
    }
    if (received_) return waiting_.resume();
    wait();
  });
}

bool Connection::ReceivingFirst::await_ready() {
  if (!connection_.incoming_.empty()) known_ = true;
  // A drain closes who waits when it begins; who comes to wait later ends here.
  if (!known_ && connection_.core_.doors_are_closed() && !connection_.anything_arrived())
    known_ = false;
  if (known_) return true;
  if (connection_.pace_) connection_.pace_->restart();
  connection_.waiting_for_message_ = true;
  return Receiving::await_ready();
}

Result<bool> Connection::ReceivingFirst::await_resume() {
  if (known_) return *known_;
  connection_.waiting_for_message_ = false;
  if (*received_) return **received_ != 0;
  if (connection_.closed_) return false;
  return received_->error();
}

void Connection::arrive(Move move) {
  incoming_.buffer().append(move.text);
  caller_ = std::move(move.caller);
}

Task<Result<void>> Connection::shake_hands() {
  while (true) {
    const auto attempt = transport_->handshake_now();
    if (attempt.error) co_return failure(attempt.error);
    if (!attempt.would_block) co_return Result<void>();
    if (timed_out_ || closed_) co_return failure({});
    const auto code = co_await transport_->until(net::Transport::Ready::to_read);
    if (code) co_return failure(code);
  }
}

std::optional<Result<void>> Connection::take_request(const HeadLimits& limits, RequestHead& head) {
  body_waited_ = {};
  body_came_bytes_ = 0;
  return incoming_.take_request(limits, head);
}

std::optional<Result<void>> Connection::take_response(const HeadLimits& limits,
                                                      std::string_view request_method,
                                                      ResponseHead& head) {
  return incoming_.take_response(limits, request_method, head);
}

Task<Result<void>> Connection::read_request(const HeadLimits& limits, RequestHead& head) {
  while (true) {
    if (auto taken = take_request(limits, head)) co_return *taken;
    const auto received = co_await receive(head_read_size_bytes(), false);
    if (!received) co_return received.error();
    if (*received == 0) co_return failure({});
  }
}

Task<Result<void>> Connection::read_response(const HeadLimits& limits,
                                             std::string_view request_method, ResponseHead& head) {
  while (true) {
    if (auto taken = take_response(limits, request_method, head)) co_return *taken;
    const auto received = co_await receive(head_read_size_bytes(), false);
    if (!received) co_return received.error();
    if (*received == 0) co_return failure({});
  }
}

std::optional<Result<std::string_view>> Connection::take_body() { return incoming_.take_body(); }

Task<Result<std::string_view>> Connection::read_body() {
  while (true) {
    if (auto taken = take_body()) co_return *taken;
    Result<std::size_t> received = std::size_t{0};
    const SteadyPoint began = core_.steady_now();
    {
      const PacedWait wait(core_, *this, pace_, 1,
                           net::upload_patience(body_came_bytes_) - body_waited_);
      received = co_await receive(incoming_.wanted_body_bytes(), true);
    }
    body_waited_ +=
        std::chrono::duration_cast<std::chrono::microseconds>(core_.steady_now() - began);
    if (!received) co_return received.error();
    if (*received == 0) {
      if (!incoming_.end_with_close()) co_return failure({});
      co_return std::string_view{};
    }
    body_came_bytes_ += *received;
    if (pace_) pace_->moved(*received);
  }
}

Task<Result<std::string_view>> Connection::read_raw() {
  incoming_.consume_raw(raw_taken_bytes_);
  raw_taken_bytes_ = 0;
  if (incoming_.empty()) {
    const auto received = co_await receive(limits::body_piece_size_bytes, false);
    if (!received) co_return received.error();
  }
  raw_taken_bytes_ = incoming_.raw().size();
  co_return incoming_.raw();
}

Task<Result<std::string_view>> Connection::peek_raw() {
  const auto received = co_await receive(0, true);
  if (!received) co_return received.error();
  if (*received == 0) co_return failure({});
  co_return incoming_.raw();
}

Result<std::size_t> Connection::write_now(std::span<const std::string_view> buffers) {
  if (timed_out_ || closed_) return failure({});
  const auto attempt = transport_->write_now(buffers);
  if (attempt.error) return failure(attempt.error);
  if (pace_) pace_->moved(attempt.bytes);
  written_bytes_ += attempt.bytes;
  return attempt.bytes;
}

// Of a client it is its pace that counts, whatever the deadline, and of that what it takes, which
// is not what the kernel takes from us: a socket is called writable again when a third of its
// buffer is empty, which may be minutes of a slow and honest client.
Task<Result<void>> Connection::wait_writable() {
  while (true) {
    if (timed_out_ || closed_) co_return failure({});
    const std::size_t before = pace_ ? transport_->unacknowledged_bytes() : 0;
    std::error_code code;
    {
      const PacedWait wait(core_, *this, pace_, write_patience);
      code = co_await transport_->until(net::Transport::Ready::to_write);
    }
    if (!code) co_return Result<void>();
    if (!pace_ || !timed_out_ || closed_) co_return failure(code);
    const std::size_t after = transport_->unacknowledged_bytes();
    if (after < before) pace_->moved(before - after);
    if (pace_->left().count() <= 0) co_return failure(code);
    set_deadline(limits::client_io_timeout);
  }
}

Task<Result<void>> Connection::write_rest(std::span<const std::string_view> buffers,
                                          std::size_t written,
                                          std::optional<Milliseconds> stall_timeout,
                                          const std::function<void()>* took) {
  std::vector<std::string_view> rest(buffers.begin(), buffers.end());
  std::size_t first = 0;
  while (true) {
    while (first < rest.size() && written >= rest[first].size()) written -= rest[first++].size();
    if (first == rest.size()) co_return Result<void>();
    rest[first].remove_prefix(written);
    // Not async_write: between two of its steps a deadline's cancel would go unnoticed.
    if (stall_timeout && !timed_out_) set_deadline(*stall_timeout);
    if (const auto waited = co_await wait_writable(); !waited) co_return waited.error();
    const auto sent = write_now(std::span(rest).subspan(first));
    if (!sent) co_return sent.error();
    written = *sent;
    if (took != nullptr && written > 0) (*took)();
  }
}

Task<Result<void>> Connection::write(std::span<const std::string_view> buffers,
                                     std::optional<Milliseconds> stall_timeout) {
  if (stall_timeout) set_deadline(*stall_timeout);
  const auto written = write_now(buffers);
  if (!written) co_return written.error();
  if (*written == size_of(buffers)) co_return Result<void>();
  co_return co_await write_rest(buffers, *written, stall_timeout);
}

Task<Result<void>> Connection::write(std::span<const std::string_view> buffers) {
  return write(buffers, std::nullopt);
}

bool Connection::anything_arrived() noexcept {
  return !incoming_.empty() || transport_->anything_arrived();
}

bool Connection::is_stale() noexcept { return closed_ || timed_out_ || anything_arrived(); }

Task<void> Connection::linger(std::size_t most_bytes) {
  if (ends_with_reset_) co_return;
  shutdown_send();
  std::size_t dropped = 0;
  while (dropped < most_bytes) {
    incoming_.consume_raw(incoming_.raw().size());
    const auto received = co_await receive(0, true);
    if (!received || *received == 0) co_return;
    dropped += *received;
  }
}

}  // namespace ringside::http
