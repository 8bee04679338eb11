#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "http1/connection.h"
#include "net/stack.h"
#include "tests/support/fake_clock.h"
#include "tests/support/on_core.h"
#include "tests/support/raw_socket.h"
#include "tests/support/scripted_peer.h"

namespace ringside::http {

// One core, and connections on it to plain sockets that the test holds. Time stands still.
class OneCore : public testing::Test {
 protected:
  OneCore() { cores_.start(); }
  ~OneCore() override { cores_.stop(); }

  [[nodiscard]] net::Core& core() noexcept { return cores_[0]; }

  // Runs `body(connection, far)`, a coroutine, on the core; the future ends with it. `far` may be
  // used by the test's thread as well.
  template <class Body>
  [[nodiscard]] std::future<void> start_with(ErrorSource far_side, support::RawSocket& far,
                                             Body body) {
    const int near = connect_to(far);
    return support::start_on(core(), [this, far_side, &far, near, body]() -> Task<void> {
      Connection connection(core(), net::adopt(core(), near), far_side);
      co_await body(connection, far);
    });
  }
  // A connected socket, to be made one of Asio's on the core's thread, which alone may do so.
  [[nodiscard]] int connect_to(support::RawSocket& far) {
    auto near = support::RawSocket::connect(listener_.address());
    far = std::move(*listener_.accept());
    return near.release();
  }
  template <class Body>
  void run_with(ErrorSource far_side, Body body) {
    support::RawSocket far;
    start_with(far_side, far, std::move(body)).get();
  }

  support::FakeClock clock_;
  net::CoreGroup cores_{"one", 1, clock_};
  support::RawListener listener_;
};

// Reads the rest of the current body.
inline Task<Result<std::string>> whole_body(Connection& connection) {
  std::string body;
  while (true) {
    const auto piece = co_await connection.read_body();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return body;
    body += *piece;
  }
}

}  // namespace ringside::http
