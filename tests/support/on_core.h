#pragma once

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <future>
#include <memory>
#include <utility>

#include "http/core.h"
#include "http/task.h"

namespace ringside::support {

// Starts the coroutine that `body` makes on a core's thread; the future ends with it. `body` is
// copied and lives as long as its coroutine; what it captures by reference must, too.
template <class Body>
[[nodiscard]] std::future<void> start_on(http::Core& core, Body body) {
  const auto ended = std::make_shared<std::promise<void>>();
  auto future = ended->get_future();
  auto run = [](Body owned) -> http::Task<void> { co_await owned(); };
  http::asio::co_spawn(core.context(), run(std::move(body)), [ended](std::exception_ptr failure) {
    if (failure) {
      ended->set_exception(failure);
    } else {
      ended->set_value();
    }
  });
  return future;
}

// The same, and waits for its end.
template <class Body>
void run_on(http::Core& core, Body body) {
  start_on(core, std::move(body)).get();
}

}  // namespace ringside::support
