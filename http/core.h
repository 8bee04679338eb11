#pragma once

#include <boost/intrusive/list.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "http/deadlines.h"
#include "http/task.h"

namespace ringside::http {

// Something that waits on a core and can be told to give up. Linked from birth to death, so that a
// stop reaches every wait there is.
class Closable : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  virtual ~Closable() = default;
  virtual void close() noexcept = 0;
};

// One thread with its io_context and everything that only that thread touches. A connection lives
// and dies on one core.
class Core {
 public:
  // `count`: how many cores there are, who share limits::buffered_bytes.
  Core(std::size_t index, std::size_t count, const Clock& clock);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  [[nodiscard]] asio::io_context& context() noexcept { return context_; }
  [[nodiscard]] Executor executor() noexcept { return context_.get_executor(); }
  [[nodiscard]] Deadlines& deadlines() noexcept { return deadlines_; }
  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] SteadyPoint steady_now() const noexcept { return clock_.steady_now(); }
  [[nodiscard]] TimePoint now() const noexcept { return clock_.now(); }

  // Memory in this core's connections' buffers; counted by them.
  [[nodiscard]] std::size_t& buffered_bytes() noexcept { return buffered_bytes_; }
  [[nodiscard]] bool buffers_are_full() const noexcept {
    return buffered_bytes_ > buffered_most_bytes_;
  }
  // Where bytes of unknown number are received before they are copied to where they belong.
  [[nodiscard]] std::span<char> scratch() noexcept { return scratch_; }

  void add(Closable& closable) noexcept { closables_.push_back(closable); }

  // Once true, nothing new is begun: connections end after the answer in hand.
  [[nodiscard]] bool draining() const noexcept { return draining_; }
  void set_draining() noexcept { draining_ = true; }
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }

  // Runs until stop() was called and every wait has ended. On the core's thread.
  void run();
  // Ends the tick and closes every Closable; run() returns when their coroutines have unwound.
  // On the core's thread.
  void stop() noexcept;

 private:
  Task<void> tick();

  const std::size_t index_;
  const Clock& clock_;
  Deadlines deadlines_;
  boost::intrusive::list<Closable, boost::intrusive::constant_time_size<false>> closables_;
  asio::io_context context_;
  Timer tick_timer_;
  std::size_t buffered_bytes_ = 0;
  const std::size_t buffered_most_bytes_;
  std::vector<char> scratch_;
  bool draining_ = false;
  bool stopped_ = false;
};

// The cores of one component and their threads.
class CoreGroup {
 public:
  // `name` names the threads. The clock must outlive the group.
  CoreGroup(std::string name, std::size_t count, const Clock& clock);
  ~CoreGroup();  // stop()

  [[nodiscard]] std::size_t size() const noexcept { return cores_.size(); }
  [[nodiscard]] Core& operator[](std::size_t index) noexcept { return *cores_[index]; }
  // Between start() and stop(): else what is spawned never runs.
  [[nodiscard]] bool running() const noexcept { return !threads_.empty(); }

  void start();
  // Runs `work` on every core's thread and waits until all have; used to publish snapshots whole.
  // Not from a core's own thread. Before start() or after stop() it runs here and now.
  void on_each(const std::function<void(Core&)>& work);
  // Stops every core and joins its thread. Idempotent.
  void stop();

 private:
  const std::string name_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::thread> threads_;
};

}  // namespace ringside::http
