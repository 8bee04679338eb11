#pragma once

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <utility>

#include "base/terminate.h"
#include "http/task.h"

namespace ringside::http {

// Starts a coroutine that nobody waits for. An exception that leaves it ends the process with its
// core's name: with asio::detached it would be swallowed, and a part of us be gone unnoticed.
inline void spawn(asio::io_context& context, Task<void> task) {
  asio::co_spawn(context, std::move(task), [](const std::exception_ptr& thrown) {
    if (thrown) crash_by(thrown);
  });
}

}  // namespace ringside::http
