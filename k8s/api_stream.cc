#include "k8s/api_stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/limits.h"

namespace ringside::k8s {
ApiStream::ApiStream(int socket, SSL* session, Milliseconds patience, IoPoint deadline)
    : socket_(socket),
      session_(session),
      patience_(patience),
      deadline_(deadline),
      buffer_(limits::api_read_size_bytes) {}

ssize_t ApiStream::read(char* to, std::size_t bytes) {
  if (from_ == to_) {
    const ssize_t filled = fill();
    if (filled <= 0) return filled;
    from_ = 0;
    to_ = static_cast<std::size_t>(filled);
  }
  const std::size_t taken = std::min(bytes, to_ - from_);
  std::memcpy(to, buffer_.data() + from_, taken);
  from_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t ApiStream::fill() {
  while (true) {
    ERR_clear_error();
    errno = 0;
    const ssize_t received =
        session_ == nullptr ? ::recv(socket_, buffer_.data(), buffer_.size(), 0)
                            : SSL_read(session_, buffer_.data(), static_cast<int>(buffer_.size()));
    if (received > 0) return received;
    if (!may_repeat(received, POLLIN)) return end_ == End::closed ? 0 : -1;
  }
}

ssize_t ApiStream::write(const char* from, std::size_t bytes) {
  while (true) {
    ERR_clear_error();
    errno = 0;
    const ssize_t sent =
        session_ == nullptr
            ? ::send(socket_, from, bytes, MSG_NOSIGNAL)
            : SSL_write(session_, from, static_cast<int>(std::min<std::size_t>(bytes, 1 << 20)));
    if (sent > 0) return sent;
    if (!may_repeat(sent, POLLOUT)) return -1;
  }
}

bool ApiStream::may_repeat(ssize_t returned, short events) {
  const int error = errno;
  if (session_ == nullptr) {
    if (returned == 0) {
      end_ = End::closed;
      return false;
    }
    if (error == EINTR) return true;
    if (error == EAGAIN || error == EWOULDBLOCK) return wait(events);
    return broke(std::generic_category().message(error));
  }
  switch (SSL_get_error(session_, static_cast<int>(returned))) {
    case SSL_ERROR_WANT_READ:
      return wait(POLLIN);
    case SSL_ERROR_WANT_WRITE:
      return wait(POLLOUT);
    case SSL_ERROR_ZERO_RETURN:
      end_ = End::closed;
      return false;
    default:
      break;
  }
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return broke(reason != nullptr ? reason : std::generic_category().message(error));
}

bool ApiStream::broke(std::string reason) {
  end_ = End::broken;
  reason_ = std::move(reason);
  return false;
}

// A halt shuts the socket down, so that it is ready.
bool ApiStream::wait(short events) {
  const IoPoint until = std::min(std::chrono::steady_clock::now() + patience_, deadline_);
  if (wait_for(socket_, events, until, nullptr) == Wake::ready) return true;
  end_ = End::silent;
  return false;
}

// Nobody asks for them.
void ApiStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}
void ApiStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace ringside::k8s
