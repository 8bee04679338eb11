#include "program/retirement.h"

#include <pthread.h>

#include <utility>

#include "base/limits.h"
#include "base/log.h"

namespace ringside::program {

Retirement::Retirement(const Clock& clock) : clock_(clock), thread_([this] { run(); }) {}

Retirement::~Retirement() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
  for (const Leaving& one : leaving_) one.replica->stop();
}

void Retirement::add(std::shared_ptr<cache::Replica> replica, Milliseconds deadline) {
  replica->give_all();  // it is about to end: who has no room does not let it wait
  {
    const std::lock_guard lock(mutex_);
    const SteadyPoint now = clock_.steady_now();
    leaving_.push_back({std::move(replica), now + deadline / 2, now + deadline});
  }
  changed_.notify_one();
}

void Retirement::tell(const std::shared_ptr<const cache::Settings>& settings) {
  const std::lock_guard lock(mutex_);
  for (const Leaving& one : leaving_) {
    if (!one.drained) one.replica->apply(settings);
  }
}

std::vector<std::string> Retirement::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const Leaving& one : leaving_) out.push_back(one.replica->name());
  return out;
}

std::vector<std::shared_ptr<cache::Replica>> Retirement::replicas() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<cache::Replica>> out;
  for (const Leaving& one : leaving_) out.push_back(one.replica);
  return out;
}

void Retirement::run() {
  pthread_setname_np(pthread_self(), "retirement");
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (leaving_.empty()) {
      changed_.wait(lock, [&] { return ending_ || !leaving_.empty(); });
      continue;
    }
    // The first waits while others may be ready: they leave in order, which costs nobody anything.
    Leaving& first = leaving_.front();
    const std::shared_ptr<cache::Replica> replica = first.replica;
    if (!first.drained) {
      const std::size_t left = replica->buckets_to_give();
      if (left > 0 && clock_.steady_now() < first.give_until) {
        changed_.wait_for(lock, limits::drain_poll, [&] { return ending_; });
        continue;
      }
      if (left > 0) log::warning("{}: {} buckets were not taken in time", replica->name(), left);
      first.drained = true;
      lock.unlock();
      replica->drain();
      lock.lock();
      continue;
    }
    const std::size_t open = replica->open_connections();
    if (open != 0 && clock_.steady_now() < first.until) {
      changed_.wait_for(lock, limits::drain_poll, [&] { return ending_; });
      continue;
    }
    lock.unlock();
    if (open != 0) {
      log::warning("{}: {} connections were still open at its drain deadline", replica->name(),
                   open);
    }
    replica->stop();
    lock.lock();
    leaving_.pop_front();
  }
}

}  // namespace ringside::program
