#include "net/kernel_transport.h"

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/bind_allocator.hpp>
#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "net/stack.h"

namespace ringside::net {
namespace {

using unsent_most = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_NOTSENT_LOWAT>;

// As many buffers as one call takes; more are written by the next attempt.
constexpr std::size_t buffers_at_once = 128;

class LooseSocket final : public LooseConnection {
 public:
  explicit LooseSocket(int socket) noexcept : socket_(socket) {}
  ~LooseSocket() override {
    if (socket_ >= 0) ::close(socket_);
  }
  LooseSocket(const LooseSocket&) = delete;
  LooseSocket& operator=(const LooseSocket&) = delete;
  [[nodiscard]] std::unique_ptr<Transport> arrive(Core& core) override {
    return adopt(core, std::exchange(socket_, -1));
  }

 private:
  int socket_;
};

class KernelTransport final : public Transport {
 public:
  explicit KernelTransport(Socket socket) noexcept;

  void begin_tls(std::shared_ptr<const TlsContext> context, const std::string& host) override {
    tls_ = std::make_unique<TlsSession>(std::move(context), socket_.native_handle(), host);
  }
  [[nodiscard]] const TlsSession* tls() const noexcept override { return tls_.get(); }

  Attempt handshake_now() override;
  Attempt read_now(char* to, std::size_t bytes) override;
  Attempt write_now(std::span<const std::string_view> buffers) override;
  void wait(Ready ready, std::function<void(std::error_code)> done) override;

  [[nodiscard]] bool anything_arrived() noexcept override;
  [[nodiscard]] std::size_t unacknowledged_bytes() noexcept override;
  [[nodiscard]] IpAddress remote() const noexcept override;
  void limit_received(std::size_t bytes) noexcept override;

  [[nodiscard]] std::unique_ptr<LooseConnection> release() noexcept override;
  void cancel() noexcept override;
  void shutdown_send() noexcept override;
  void reset_on_close() noexcept override;
  void close() noexcept override;

 private:
  [[nodiscard]] static Attempt attempt_of(const TlsSession::Step& step);
  [[nodiscard]] static Attempt attempt_of(ssize_t result) noexcept;
  Attempt write_tls(std::span<const std::string_view> buffers);
  [[nodiscard]] Socket::wait_type wait_type_of(Ready ready) const noexcept;

  Socket socket_;
  std::unique_ptr<TlsSession> tls_;
  // TLS may have to read before it can write and the other way round (RFC 8446 §4.6).
  bool read_waits_for_writable_ = false;
  bool write_waits_for_readable_ = false;
  char peeked_ = 0;
  bool has_peeked_ = false;
};

KernelTransport::KernelTransport(Socket socket) noexcept : socket_(std::move(socket)) {
  boost::system::error_code ignored;  // A socket that refuses an option shows it at its first use.
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
  // What the other side has no room for stays with us, not in megabytes of the kernel's; and a
  // socket is writable again as soon as little of it is left.
  socket_.set_option(unsent_most(static_cast<int>(2 * limits::body_piece_size_bytes)), ignored);
}

Transport::Attempt KernelTransport::attempt_of(const TlsSession::Step& step) {
  Attempt attempt;
  attempt.bytes = step.bytes;
  attempt.would_block = step.wait == TlsSession::Wait::read || step.wait == TlsSession::Wait::write;
  if (step.wait == TlsSession::Wait::failed) {
    attempt.error = std::make_error_code(std::errc::connection_reset);
  }
  return attempt;
}

// What a system call returned. A signal that came between has done nothing to the socket: it is
// waited for again.
Transport::Attempt KernelTransport::attempt_of(ssize_t result) noexcept {
  if (result >= 0) return {static_cast<std::size_t>(result)};
  const int code = errno;
  if (code == EAGAIN || code == EWOULDBLOCK || code == EINTR) return {0, {}, true};
  return {0, std::error_code(code, std::system_category())};
}

Transport::Attempt KernelTransport::handshake_now() {
  const auto step = tls_->handshake();
  read_waits_for_writable_ = step.wait == TlsSession::Wait::write;
  return attempt_of(step);
}

Transport::Attempt KernelTransport::read_now(char* to, std::size_t bytes) {
  if (has_peeked_) {
    has_peeked_ = false;
    *to = peeked_;
    return {1};
  }
  if (!tls_) return attempt_of(::recv(socket_.native_handle(), to, bytes, 0));
  const auto step = tls_->read(to, bytes);
  read_waits_for_writable_ = step.wait == TlsSession::Wait::write;
  return attempt_of(step);
}

Transport::Attempt KernelTransport::write_now(std::span<const std::string_view> buffers) {
  if (tls_) return write_tls(buffers);
  std::array<iovec, buffers_at_once> pieces;
  std::size_t count = 0;
  for (const std::string_view buffer : buffers.first(std::min(buffers.size(), pieces.size()))) {
    if (buffer.empty()) continue;
    // The kernel only reads.
    pieces[count++] = {const_cast<char*>(buffer.data()), buffer.size()};
  }
  if (count == 0) return {};
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = count;
  return attempt_of(::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL));
}

Transport::Attempt KernelTransport::write_tls(std::span<const std::string_view> buffers) {
  Attempt attempt;
  for (const std::string_view buffer : buffers) {
    std::size_t done = 0;
    while (done < buffer.size()) {
      const auto step = tls_->write(buffer.data() + done, buffer.size() - done);
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

Socket::wait_type KernelTransport::wait_type_of(Ready ready) const noexcept {
  const bool for_writable = ready == Ready::to_write
                                ? !write_waits_for_readable_
                                : ready == Ready::to_read && read_waits_for_writable_;
  return for_writable ? Socket::wait_write : Socket::wait_read;
}

void KernelTransport::wait(Ready ready, std::function<void(std::error_code)> done) {
  auto handler = [done = std::move(done)](const boost::system::error_code& code) {
    done(code ? std::make_error_code(std::errc::operation_canceled) : std::error_code());
  };
  socket_.async_wait(wait_type_of(ready),
                     asio::bind_allocator(KeptAllocator<char>(), std::move(handler)));
}

bool KernelTransport::anything_arrived() noexcept {
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

std::size_t KernelTransport::unacknowledged_bytes() noexcept {
  int bytes = 0;
  return ::ioctl(socket_.native_handle(), SIOCOUTQ, &bytes) == 0 && bytes > 0
             ? static_cast<std::size_t>(bytes)
             : 0;
}

IpAddress KernelTransport::remote() const noexcept {
  boost::system::error_code ignored;
  return address_of(socket_.remote_endpoint(ignored).address());
}

void KernelTransport::limit_received(std::size_t bytes) noexcept {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::receive_buffer_size(static_cast<int>(bytes)), ignored);
}

std::unique_ptr<LooseConnection> KernelTransport::release() noexcept {
  if (tls_ || has_peeked_) return nullptr;
  boost::system::error_code code;
  const int socket = socket_.release(code);
  return code ? nullptr : std::make_unique<LooseSocket>(socket);
}

void KernelTransport::cancel() noexcept {
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

void KernelTransport::shutdown_send() noexcept {
  if (tls_) tls_->shut_down();
  boost::system::error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void KernelTransport::reset_on_close() noexcept {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
}

void KernelTransport::close() noexcept {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace

std::unique_ptr<Transport> make_transport(Socket socket) {
  return std::make_unique<KernelTransport>(std::move(socket));
}

}  // namespace ringside::net
