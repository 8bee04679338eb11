#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

// Asio's types with the executor that all of ours run on, spelled out once: a concrete executor
// costs no virtual call.
namespace ringside::http {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

using Executor = asio::io_context::executor_type;

// A coroutine on a core's thread.
template <class T>
using Task = asio::awaitable<T, Executor>;

using Socket = asio::basic_stream_socket<tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

// Asynchronous operations answer with a tuple that starts with the error code; they don't throw.
inline constexpr auto use_task = asio::as_tuple(asio::use_awaitable_t<Executor>{});

}  // namespace ringside::http
