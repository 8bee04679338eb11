#include "http/transport.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/limits.h"

namespace ringside::http {
namespace {

using unsent_most = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_NOTSENT_LOWAT>;

// A signal that came between has done nothing to the socket either: it is waited for again.
bool would_block(const boost::system::error_code& code) noexcept {
  return code == asio::error::would_block || code == asio::error::try_again ||
         code == asio::error::interrupted;
}

}  // namespace

Transport::Transport(Socket socket) noexcept : socket_(std::move(socket)) {
  boost::system::error_code ignored;  // A socket that refuses an option shows it at its first use.
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
  // What the other side has no room for stays with us, not in megabytes of the kernel's; and a
  // socket is writable again as soon as little of it is left.
  socket_.set_option(unsent_most(static_cast<int>(2 * limits::body_piece_size_bytes)), ignored);
}

void Transport::begin_tls(std::shared_ptr<const TlsContext> context, const std::string& host) {
  tls_ = std::make_unique<TlsSession>(std::move(context), socket_.native_handle(), host);
}

Transport::Attempt Transport::attempt_of(const TlsSession::Step& step) {
  Attempt attempt;
  attempt.bytes = step.bytes;
  attempt.would_block = step.wait == TlsSession::Wait::read || step.wait == TlsSession::Wait::write;
  if (step.wait == TlsSession::Wait::failed) attempt.error = asio::error::connection_reset;
  return attempt;
}

Transport::Attempt Transport::handshake_now() {
  const auto step = tls_->handshake();
  read_waits_for_writable_ = step.wait == TlsSession::Wait::write;
  return attempt_of(step);
}

Transport::Attempt Transport::read_now(char* to, std::size_t bytes) {
  if (has_peeked_) {
    has_peeked_ = false;
    *to = peeked_;
    return {1, {}, false};
  }
  if (tls_) {
    const auto step = tls_->read(to, bytes);
    read_waits_for_writable_ = step.wait == TlsSession::Wait::write;
    return attempt_of(step);
  }
  Attempt attempt;
  attempt.bytes = socket_.read_some(asio::buffer(to, bytes), attempt.error);
  if (attempt.error == asio::error::eof) attempt.error = {};
  if (would_block(attempt.error)) {
    attempt.error = {};
    attempt.would_block = true;
  }
  return attempt;
}

Transport::Attempt Transport::write_now(std::span<const asio::const_buffer> buffers) {
  Attempt attempt;
  if (!tls_) {
    attempt.bytes = socket_.write_some(buffers, attempt.error);
    if (would_block(attempt.error)) {
      attempt.error = {};
      attempt.would_block = true;
    }
    return attempt;
  }
  for (const asio::const_buffer& buffer : buffers) {
    std::size_t done = 0;
    while (done < buffer.size()) {
      const auto step =
          tls_->write(static_cast<const char*>(buffer.data()) + done, buffer.size() - done);
      done += step.bytes;
      if (step.bytes != 0) continue;
      write_waits_for_readable_ = step.wait == TlsSession::Wait::read;
      const std::size_t before = attempt.bytes;
      attempt = attempt_of(step);
      attempt.bytes = before + done;
      return attempt;
    }
    attempt.bytes += done;
  }
  return attempt;
}

bool Transport::anything_arrived() noexcept {
  if (has_peeked_) return true;
  if (tls_) {
    const auto step = tls_->read(&peeked_, 1);
    has_peeked_ = step.bytes == 1;
    return step.wait == TlsSession::Wait::nothing || step.wait == TlsSession::Wait::failed;
  }
  char byte = 0;
  const ssize_t peeked = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return !(peeked < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

void Transport::cancel() noexcept {
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

void Transport::shutdown_send() noexcept {
  if (tls_) tls_->shut_down();
  boost::system::error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void Transport::reset_on_close() noexcept {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
}

void Transport::close() noexcept {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace ringside::http
