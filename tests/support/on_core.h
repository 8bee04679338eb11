#pragma once

#include <coroutine>
#include <future>
#include <memory>
#include <utility>

#include "base/task.h"
#include "net/core.h"

namespace ringside::support {

// Starts the coroutine that `body` makes on a core's thread; the future ends with it. `body` is
// copied and lives as long as its coroutine; what it captures by reference must, too.
template <class Body>
[[nodiscard]] std::future<void> start_on(net::Core& core, Body body) {
  const auto ended = std::make_shared<std::promise<void>>();
  auto future = ended->get_future();
  auto run = [](Body owned, std::shared_ptr<std::promise<void>> promise) -> Task<void> {
    try {
      co_await owned();
      promise->set_value();
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  };
  core.spawn(run(std::move(body), ended));
  return future;
}

// The same, and waits for its end.
template <class Body>
void run_on(net::Core& core, Body body) {
  start_on(core, std::move(body)).get();
}

// The next turn of the core's loop: a clock that was moved is read again there.
class NextTurn {
 public:
  explicit NextTurn(net::Core& core) noexcept : core_(core) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    core_.post([awaiting] { awaiting.resume(); });
  }
  void await_resume() const noexcept {}

 private:
  net::Core& core_;
};

}  // namespace ringside::support
