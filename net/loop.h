#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <utility>

#include "base/address.h"
#include "base/kept_memory.h"
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

// Where Asio keeps what it needs for a wait: in the thread's kept memory. Its own recycling ends
// with each call of the loop.
template <class T>
struct KeptAllocator {
  using value_type = T;
  KeptAllocator() = default;
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor): an allocator is one of all types
  KeptAllocator(const KeptAllocator<U>& /*other*/) noexcept {}
  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(allocate_kept(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept { free_kept(block, count * sizeof(T)); }
  friend bool operator==(const KeptAllocator& /*a*/, const KeptAllocator& /*b*/) noexcept {
    return true;
  }
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
