#include "http/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/check.h"
#include "base/limits.h"

namespace ringside::http {
namespace {

IpAddress address_of(const tcp::endpoint& endpoint) noexcept {
  const auto& ip = endpoint.address();
  return IpAddress(ip.is_v4()
                       ? asio::ip::make_address_v6(asio::ip::v4_mapped, ip.to_v4()).to_bytes()
                       : ip.to_v6().to_bytes());
}

}  // namespace

Connection::Connection(Core& core, Socket socket, ErrorSource other_side,
                       std::size_t read_size_bytes)
    : Deadline(core.deadlines()),
      core_(core),
      socket_(std::move(socket)),
      read_size_bytes_(read_size_bytes),
      other_side_(other_side),
      closed_(core.stopped()) {
  core_.add(*this);
  boost::system::error_code ignored;  // A socket that refuses an option shows it at its first use.
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
  remote_ = address_of(socket_.remote_endpoint(ignored));
}

Connection::~Connection() {
  if (!ends_with_reset_) return;
  // Explicitly: a socket that Asio closes in its destructor has its linger option taken away.
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Connection::set_deadline(SteadyPoint at) noexcept {
  timed_out_ = false;
  Deadline::set(at);
}

void Connection::clear_deadline() noexcept {
  timed_out_ = false;
  Deadline::clear();
}

void Connection::expire() noexcept {
  timed_out_ = true;
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

void Connection::close() noexcept {
  closed_ = true;
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

void Connection::close_if_idle() noexcept {
  if (waiting_for_message_) close();
}

void Connection::reset_on_close() noexcept {
  ends_with_reset_ = true;
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
}

void Connection::shutdown_send() noexcept {
  if (ends_with_reset_) return;
  boost::system::error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void Connection::release_buffer_if_empty() noexcept {
  if (buffer_.empty()) buffer_.release();
}

Error Connection::failure(const boost::system::error_code& code) const {
  if (timed_out_) {
    return {ErrorKind::timeout, other_side_, Retry::no, "no progress before the deadline"};
  }
  if (closed_) {
    return {ErrorKind::disconnected, ErrorSource::ourselves, Retry::no, "stopping"};
  }
  return {ErrorKind::disconnected, other_side_, Retry::no,
          code ? code.message() : "closed before the message was complete"};
}

// Receives up to what fits, at least one byte; 0 is the orderly end.
Task<Result<std::size_t>> Connection::fill(std::size_t bytes) {
  buffer_.reserve(bytes);
  if (timed_out_ || closed_) co_return failure({});
  const asio::mutable_buffer space(buffer_.writable(), buffer_.writable_bytes());
  const auto [code, received] = co_await socket_.async_read_some(space, use_task);
  if (received != 0) {
    buffer_.commit(received);
    received_since_mark_ = true;
    co_return received;
  }
  if (code == asio::error::eof) co_return std::size_t{0};
  co_return failure(code);
}

Task<Result<bool>> Connection::wait_for_message() {
  if (!buffer_.empty()) co_return true;
  // A drain closes who waits when it begins; who comes to wait later ends here.
  if (core_.draining() && !anything_arrived()) co_return false;
  waiting_for_message_ = true;
  const auto received = co_await fill(read_size_bytes_);
  waiting_for_message_ = false;
  if (received) co_return *received != 0;
  if (closed_) co_return false;
  co_return received.error();
}

Result<std::optional<std::size_t>> Connection::find_head(const HeadLimits& limits) {
  const auto bytes = buffer_.readable();
  auto end = find_head_end(bytes, head_searched_bytes_, limits, other_side_);
  head_searched_bytes_ = end && !end->has_value() ? bytes.size() : 0;
  return end;
}

std::optional<Result<void>> Connection::take_request(const HeadLimits& limits, RequestHead& head) {
  RINGSIDE_CHECK(body_ == Body::done);
  if (buffer_.empty()) return std::nullopt;
  const auto end = find_head(limits);
  if (!end) return Result<void>(end.error());
  if (!end->has_value()) return std::nullopt;
  const auto bytes = buffer_.readable().substr(0, **end);
  buffer_.consume(**end);
  auto parsed = parse_request_head(bytes, limits, head);
  if (parsed) begin_body(head.framing);
  return parsed;
}

std::optional<Result<void>> Connection::take_response(const HeadLimits& limits,
                                                      std::string_view request_method,
                                                      ResponseHead& head) {
  RINGSIDE_CHECK(body_ == Body::done);
  if (buffer_.empty()) return std::nullopt;
  const auto end = find_head(limits);
  if (!end) return Result<void>(end.error());
  if (!end->has_value()) return std::nullopt;
  const auto bytes = buffer_.readable().substr(0, **end);
  buffer_.consume(**end);
  auto parsed = parse_response_head(bytes, limits, request_method, other_side_, head);
  if (parsed) begin_body(head.framing);
  return parsed;
}

Task<Result<void>> Connection::read_request(const HeadLimits& limits, RequestHead& head) {
  while (true) {
    if (auto taken = take_request(limits, head)) co_return *taken;
    const auto received = co_await fill(read_size_bytes_);
    if (!received) co_return received.error();
    if (*received == 0) co_return failure({});
  }
}

Task<Result<void>> Connection::read_response(const HeadLimits& limits,
                                             std::string_view request_method, ResponseHead& head) {
  while (true) {
    if (auto taken = take_response(limits, request_method, head)) co_return *taken;
    const auto received = co_await fill(read_size_bytes_);
    if (!received) co_return received.error();
    if (*received == 0) co_return failure({});
  }
}

void Connection::begin_body(const Framing& framing) noexcept {
  switch (framing.kind) {
    case Framing::Kind::none:
      body_ = Body::done;
      return;
    case Framing::Kind::length:
      body_left_bytes_ = framing.length_bytes;
      body_ = body_left_bytes_ == 0 ? Body::done : Body::length;
      return;
    case Framing::Kind::chunked:
      chunks_.reset();
      body_ = Body::chunked;
      return;
    case Framing::Kind::until_close:
      body_ = Body::until_close;
      return;
  }
}

std::optional<Result<std::string_view>> Connection::take_body() {
  using Piece = Result<std::string_view>;
  if (body_ == Body::done) return Piece(std::string_view{});
  const auto bytes = buffer_.readable();
  if (bytes.empty()) return std::nullopt;
  if (body_ == Body::chunked) {
    while (!buffer_.empty()) {
      const auto step = chunks_.decode(buffer_.readable(), other_side_);
      if (!step) return Piece(step.error());
      buffer_.consume(step->consumed);
      if (!step->data.empty()) return Piece(step->data);
      if (chunks_.done()) {
        body_ = Body::done;
        return Piece(std::string_view{});
      }
    }
    return std::nullopt;
  }
  auto piece = bytes;
  if (body_ == Body::length) {
    piece = bytes.substr(
        0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), body_left_bytes_)));
    body_left_bytes_ -= piece.size();
    if (body_left_bytes_ == 0) body_ = Body::done;
  }
  buffer_.consume(piece.size());
  return Piece(piece);
}

Task<Result<std::string_view>> Connection::read_body() {
  while (true) {
    if (auto taken = take_body()) co_return *taken;
    std::size_t wanted = limits::body_piece_size_bytes;
    if (body_ == Body::length && body_left_bytes_ < wanted) {
      wanted = static_cast<std::size_t>(body_left_bytes_);
    }
    const auto received = co_await fill(wanted);
    if (!received) co_return received.error();
    if (*received == 0) {
      if (body_ != Body::until_close) co_return failure({});
      body_ = Body::done;
      co_return std::string_view{};
    }
  }
}

Result<std::size_t> Connection::write_now(std::span<const asio::const_buffer> buffers) {
  if (timed_out_ || closed_) return failure({});
  boost::system::error_code code;
  const std::size_t written = socket_.write_some(buffers, code);
  if (code && code != asio::error::would_block && code != asio::error::try_again) {
    return failure(code);
  }
  return written;
}

Task<Result<void>> Connection::write_rest(std::span<const asio::const_buffer> buffers,
                                          std::size_t written,
                                          std::optional<Milliseconds> stall_timeout) {
  std::vector<asio::const_buffer> rest(buffers.begin(), buffers.end());
  std::size_t first = 0;
  while (true) {
    while (first < rest.size() && written >= rest[first].size()) written -= rest[first++].size();
    if (first == rest.size()) co_return Result<void>();
    rest[first] += written;
    // Not async_write: between two of its steps a deadline's cancel would go unnoticed.
    if (timed_out_ || closed_) co_return failure({});
    if (stall_timeout) set_deadline(*stall_timeout);
    const auto [code] = co_await socket_.async_wait(Socket::wait_write, use_task);
    if (code) co_return failure(code);
    const auto sent = write_now(std::span(rest).subspan(first));
    if (!sent) co_return sent.error();
    written = *sent;
  }
}

Task<Result<void>> Connection::write(std::span<const asio::const_buffer> buffers,
                                     Milliseconds stall_timeout) {
  set_deadline(stall_timeout);
  const auto written = write_now(buffers);
  if (!written) co_return written.error();
  if (*written == asio::buffer_size(buffers)) co_return Result<void>();
  co_return co_await write_rest(buffers, *written, stall_timeout);
}

Task<Result<void>> Connection::write(std::span<const asio::const_buffer> buffers) {
  const auto written = write_now(buffers);
  if (!written) co_return written.error();
  if (*written == asio::buffer_size(buffers)) co_return Result<void>();
  co_return co_await write_rest(buffers, *written);
}

bool Connection::anything_arrived() noexcept {
  char byte = 0;
  const ssize_t peeked = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return !(peeked < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

bool Connection::is_stale() noexcept {
  return closed_ || timed_out_ || !buffer_.empty() || anything_arrived();
}

Task<void> Connection::linger(std::size_t most_bytes) {
  if (ends_with_reset_) co_return;
  shutdown_send();
  std::size_t dropped = 0;
  while (dropped < most_bytes) {
    buffer_.consume(buffer_.readable().size());
    const auto received = co_await fill(read_size_bytes_);
    if (!received || *received == 0) co_return;
    dropped += *received;
  }
}

}  // namespace ringside::http
