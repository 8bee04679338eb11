#include "net/core.h"

#include <pthread.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <latch>
#include <utility>

#include "base/limits.h"
#include "net/loop.h"

namespace ringside::net {
namespace {

constexpr unsigned fruitless_most = 16;

// Sleeps until a deadline may have come; one that is set meanwhile and comes earlier ends the
// sleep.
Task<void> advance_deadlines(Core& core) {
  Timer& timer = core.loop().deadline;
  while (!core.stopped()) {
    const auto left = core.deadlines().next() - core.steady_now();
    timer.expires_after(std::min<std::chrono::microseconds>(left, core.clock().longest_sleep()));
    static_cast<void>(co_await CodeAwaiter(
        [&](auto&& handler) { timer.async_wait(std::forward<decltype(handler)>(handler)); }));
    core.deadlines().advance(core.steady_now());
  }
}

}  // namespace

// UNSAFE_IO: only the core's own thread touches its sockets, other threads only post.
Core::Loop::Loop()
    : context(static_cast<int>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO)),
      deadline(context.get_executor()) {}

Core::Core(std::size_t index, std::size_t buffered_most_bytes, const Clock& clock, Stack& stack)
    : index_(index),
      clock_(clock),
      stack_(stack),
      deadlines_(clock.steady_now(), [this] { loop_->deadline.cancel(); }),
      loop_(std::make_unique<Loop>()),
      buffered_most_bytes_(buffered_most_bytes),
      scratch_(limits::client_read_size_bytes) {}

Core::~Core() = default;

void Core::post(std::function<void()> work) { asio::post(loop_->context, std::move(work)); }

void Core::end_errand() {
  if (errands_.fetch_sub(1, std::memory_order_relaxed) > 1 || !after_errands_) return;
  // Later: who ends it may be within what the call closes.
  post([this] {
    if (errands() == 0 && after_errands_) std::exchange(after_errands_, nullptr)();
  });
}

void Core::after_errands(std::function<void()> call) {
  if (errands() == 0) return call();
  after_errands_ = std::move(call);
}

void Core::spawn(Task<void> task) {
  if (loop_->executor().running_in_this_thread()) return begin_detached(std::move(task));
  asio::post(loop_->context,
             [task = std::move(task)]() mutable { begin_detached(std::move(task)); });
}

void Core::run() {
  spawn(advance_deadlines(*this));
  turns_ = true;
  while (loop_->context.run_one() != 0) {
    turn_ = {};
    if (turn_ends_.empty()) continue;
    if (fruitless_turns_ < fruitless_most || ++skipped_turns_ % fruitless_most == 0) gather();
    end_turn();
    // It has ended where its last work was what ended the turn; that may have begun more.
    if (loop_->context.stopped()) loop_->context.restart();
  }
  turns_ = false;
}

// Does what else is ready, so that what is to be sent goes out together. A look that finds nothing
// costs a system call: who has found nothing again and again looks only now and then.
void Core::gather() {
  std::size_t calls = 1;
  for (; calls < limits::turn_calls; ++calls) {
    if (loop_->context.poll_one() == 0) break;
    turn_ = {};
  }
  fruitless_turns_ = calls > 1 ? 0 : fruitless_turns_ + 1;
}

void Core::end_turn() noexcept {
  while (!turn_ends_.empty()) {
    TurnEnd& first = turn_ends_.front();
    turn_ends_.pop_front();
    first.end_turn();
  }
}

bool Core::run_ready() {
  loop_->context.restart();
  bool any = false;
  turns_ = true;
  while (true) {
    for (; loop_->context.poll_one() != 0; any = true) turn_ = {};
    if (turn_ends_.empty()) break;
    any = true;
    end_turn();
    loop_->context.restart();  // as in run()
  }
  turns_ = false;
  return any;
}

void Core::stop() noexcept {
  draining_ = true;
  stopped_ = true;
  loop_->deadline.cancel();
  // close() only cancels: what waits is resumed later, from the loop, and unlinks itself there.
  for (Closable& closable : closables_) closable.close();
}

CoreGroup::CoreGroup(std::string name, std::size_t count, const Clock& clock)
    : CoreGroup(std::move(name), count, clock, kernel_stack()) {}

CoreGroup::CoreGroup(std::string name, std::size_t count, const Clock& clock, Stack& stack,
                     std::size_t buffered_bytes)
    : name_(std::move(name)) {
  for (std::size_t index = 0; index < count; ++index) {
    cores_.push_back(std::make_unique<Core>(index, buffered_bytes / count, clock, stack));
  }
}

CoreGroup::~CoreGroup() { stop(); }

void CoreGroup::start() {
  running_ = true;
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
    core->post([&work, &done, core = core.get()] {
      work(*core);
      done.count_down();
    });
  }
  done.wait();
}

void CoreGroup::stop() {
  // What was never started is left alone: its coroutines have not begun, and what they would use
  // may be gone.
  const bool driven_by_caller = running_ && threads_.empty();
  running_ = false;
  for (const auto& core : cores_) {
    core->post([core = core.get()] { core->stop(); });
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  // One core's coroutines may have others to wake before they end.
  for (bool any = driven_by_caller; any;) {
    any = false;
    for (const auto& core : cores_) any = core->run_ready() || any;
  }
}

}  // namespace ringside::net
