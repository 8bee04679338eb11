#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ringside::http {

// Threads for what may block: limits::admin_threads of them, and so much work that waits.
class AdminWorkers {
 public:
  ~AdminWorkers() { stop(); }
  void start();
  // After all that was given to them; idempotent.
  void stop();
  // False: too much waits already, or this has stopped.
  [[nodiscard]] bool run(std::function<void()> work);
  [[nodiscard]] bool include_caller() const noexcept;

 private:
  void run_all();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ringside::http
