#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "cache/replica.h"

namespace ringside::program {

// Replicas that no topology names any more: each drains when the others have taken what it holds,
// or half of its time is over, and is stopped when its last answer has gone or its deadline is
// over. On a thread of its own, so that the change of the topology need not wait. Thread-safe.
class Retirement {
 public:
  explicit Retirement(const Clock& clock);
  ~Retirement();  // stops those that are left at once
  Retirement(const Retirement&) = delete;
  Retirement& operator=(const Retirement&) = delete;

  // Nobody else may call the replica's control methods from here on.
  void add(std::shared_ptr<cache::Replica> replica, Milliseconds deadline);
  // What the members are told, too: who takes what is left.
  void tell(const std::shared_ptr<const cache::Settings>& settings);
  [[nodiscard]] std::vector<std::string> names() const;  // that have not ended
  // For what is thread-safe of them.
  [[nodiscard]] std::vector<std::shared_ptr<cache::Replica>> replicas() const;

 private:
  struct Leaving {
    std::shared_ptr<cache::Replica> replica;
    SteadyPoint give_until;
    SteadyPoint until;
    bool drained = false;
  };
  void run();

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Leaving> leaving_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace ringside::program
