#include "http/core.h"

#include <pthread.h>

#include <boost/asio/post.hpp>
#include <latch>

#include "base/limits.h"
#include "http/spawn.h"

namespace ringside::http {

// UNSAFE_IO: only the core's own thread touches its sockets, other threads only post.
Core::Core(std::size_t index, std::size_t count, const Clock& clock)
    : index_(index),
      clock_(clock),
      deadlines_(clock.steady_now()),
      context_(static_cast<int>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO)),
      tick_timer_(context_.get_executor()),
      buffered_most_bytes_(limits::buffered_bytes / count),
      scratch_(limits::client_read_size_bytes) {}

Task<void> Core::tick() {
  while (!stopped_) {
    tick_timer_.expires_after(limits::deadline_tick);
    co_await tick_timer_.async_wait(use_task);
    deadlines_.advance(steady_now());
  }
}

void Core::run() {
  spawn(context_, tick());
  context_.run();
}

void Core::stop() noexcept {
  draining_ = true;
  stopped_ = true;
  tick_timer_.cancel();
  // close() only cancels: what waits is resumed later, from the loop, and unlinks itself there.
  for (Closable& closable : closables_) closable.close();
}

CoreGroup::CoreGroup(std::string name, std::size_t count, const Clock& clock)
    : name_(std::move(name)) {
  for (std::size_t index = 0; index < count; ++index) {
    cores_.push_back(std::make_unique<Core>(index, count, clock));
  }
}

CoreGroup::~CoreGroup() { stop(); }

void CoreGroup::start() {
  for (const auto& core : cores_) {
    threads_.emplace_back([this, core = core.get()] {
      // Linux allows 15 bytes; a longer name is cut rather than lost. First of all: a crash tells
      // it.
      pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
      core->run();
    });
  }
}

void CoreGroup::on_each(const std::function<void(Core&)>& work) {
  if (threads_.empty()) {
    for (const auto& core : cores_) work(*core);
    return;
  }
  std::latch done(static_cast<std::ptrdiff_t>(cores_.size()));
  for (const auto& core : cores_) {
    asio::post(core->context(), [&work, &done, core = core.get()] {
      work(*core);
      done.count_down();
    });
  }
  done.wait();
}

void CoreGroup::stop() {
  for (const auto& core : cores_) {
    asio::post(core->context(), [core = core.get()] { core->stop(); });
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace ringside::http
