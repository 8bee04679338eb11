#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <coroutine>
#include <utility>

#include "base/address.h"
#include "net/core.h"
#include "net/stack.h"

// Asio, for the .cc files of net/ alone: no header that another room includes may include this one.
namespace ringside::net {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

// A concrete executor costs no virtual call.
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct Core::Loop {
  Loop();
  [[nodiscard]] Executor executor() noexcept { return context.get_executor(); }

  asio::io_context context;
  Timer deadline;
};

// Awaits an operation of Asio's that ends with an error code: `begin` starts it with the handler
// that it is given. The frame must not be destroyed before the operation has ended, which a cancel
// brings about.
template <class Begin>
class CodeAwaiter {
 public:
  explicit CodeAwaiter(Begin begin) : begin_(std::move(begin)) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    begin_([this, awaiting](const boost::system::error_code& code) {
      code_ = code;
      awaiting.resume();
    });
  }
  [[nodiscard]] boost::system::error_code await_resume() const noexcept { return code_; }

 private:
  Begin begin_;
  boost::system::error_code code_;
};

[[nodiscard]] IpAddress address_of(const asio::ip::address& address) noexcept;
[[nodiscard]] tcp::endpoint endpoint_of(const SocketAddress& address);

}  // namespace ringside::net
