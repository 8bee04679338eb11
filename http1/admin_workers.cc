#include "http1/admin_workers.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace ringside::http {

void AdminWorkers::start() {
  for (std::size_t i = 0; i < limits::admin_threads; ++i) {
    threads_.emplace_back([this, i] {
      ::pthread_setname_np(::pthread_self(), fmt::format("admin-{}", i).c_str());
      run_all();
    });
  }
}

void AdminWorkers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

bool AdminWorkers::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || waiting_.size() >= limits::admin_waiting) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void AdminWorkers::run_all() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

bool AdminWorkers::include_caller() const noexcept {
  return std::any_of(threads_.begin(), threads_.end(), [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
}

}  // namespace ringside::http
