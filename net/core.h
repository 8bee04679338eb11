#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/task.h"
#include "net/deadlines.h"

namespace ringside::net {

class Stack;

// Something that waits on a core and can be told to give up. Linked from birth to death, so that a
// stop reaches every wait there is.
class Closable : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  virtual ~Closable() = default;
  virtual void close() noexcept = 0;
};

// Something to be done once a core has done all that was ready: what was gathered meanwhile goes
// out in one piece.
class TurnEnd : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  virtual ~TurnEnd() = default;
  // Once for each Core::add(). On the core's thread, called by its loop alone.
  virtual void end_turn() noexcept = 0;
};

// One thread with its event loop and everything that only that thread touches. A connection lives
// and dies on one core.
class Core {
 public:
  // `buffered_most_bytes`: what its connections' buffers may hold. The clock and the stack must
  // outlive the core.
  Core(std::size_t index, std::size_t buffered_most_bytes, const Clock& clock, Stack& stack);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  // Where connections come from and go to.
  [[nodiscard]] Stack& stack() noexcept { return stack_; }
  // What net/ alone looks into (net/loop.h).
  struct Loop;
  [[nodiscard]] Loop& loop() noexcept { return *loop_; }

  // Does `work` on the core's thread, after what it does now. From any thread; never waits.
  void post(std::function<void()> work);
  // Begins a task that nobody waits for: at once on the core's thread, else by a post. What is
  // posted and never run (the core was not started) is destroyed with the core.
  void spawn(Task<void> task);
  [[nodiscard]] Deadlines& deadlines() noexcept { return deadlines_; }
  // The time at this moment, on any thread.
  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
  // The time of this turn of the loop, read when it is first asked for: what is decided in a turn
  // is decided at one time. On the core's thread.
  [[nodiscard]] SteadyPoint steady_now() const noexcept {
    return in_turn(turn_.steady, [this] { return clock_.steady_now(); });
  }
  [[nodiscard]] TimePoint now() const noexcept {
    return in_turn(turn_.wall, [this] { return clock_.now(); });
  }
  [[nodiscard]] TimePoint resident_now() const noexcept {
    return in_turn(turn_.resident, [this] { return clock_.resident_now(); });
  }
  // Bytes came while the turn goes on: it may go on for long, and the time is read again.
  void time_passed() noexcept { turn_ = {}; }

  // Memory in this core's connections' buffers; counted by them.
  [[nodiscard]] std::size_t& buffered_bytes() noexcept { return buffered_bytes_; }
  [[nodiscard]] bool buffers_are_full() const noexcept {
    return buffered_bytes_ > buffered_most_bytes_;
  }
  // Where bytes of unknown number are received before they are copied to where they belong.
  [[nodiscard]] std::span<char> scratch() noexcept { return scratch_; }
  // The same for what many requests come in at once. Made when it is first used.
  [[nodiscard]] std::span<char> large_scratch() {
    if (large_scratch_.empty()) large_scratch_.resize(limits::link_read_size_bytes);
    return large_scratch_;
  }

  void add(Closable& closable) noexcept { closables_.push_back(closable); }
  // To be called at the end of this turn. Who waits for it already is not to be added again.
  void add(TurnEnd& end) noexcept { turn_ends_.push_back(end); }

  // What is in hand that somebody else will come for: until there is none, a drain leaves the doors
  // open. Begun and ended on the core's thread, read on any.
  void begin_errand() noexcept { errands_.fetch_add(1, std::memory_order_relaxed); }
  void end_errand();
  [[nodiscard]] std::size_t errands() const noexcept {
    return errands_.load(std::memory_order_relaxed);
  }
  // Calls it once there are no errands: now, or later on the core's thread.
  void after_errands(std::function<void()> call);

  // Once true, nothing new is begun: connections end after the answer in hand.
  [[nodiscard]] bool draining() const noexcept { return draining_; }
  void set_draining() noexcept { draining_ = true; }
  // Later in a drain: nobody is let in any more, and nothing new is waited for.
  [[nodiscard]] bool doors_are_closed() const noexcept { return doors_are_closed_; }
  void close_doors() noexcept { doors_are_closed_ = true; }
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }

  // Runs until stop() was called and every wait has ended. On the core's thread.
  void run();
  // Does what is ready and returns; for who runs several cores in one thread. True: it did
  // anything.
  bool run_ready();
  // Ends the wait for deadlines and closes every Closable; run() returns when their coroutines have
  // unwound. On the core's thread.
  void stop() noexcept;

 private:
  // What was read of the clock since the loop last called anything.
  struct Turn {
    std::optional<SteadyPoint> steady;
    std::optional<TimePoint> wall;
    std::optional<TimePoint> resident;
  };
  template <class Point, class Read>
  [[nodiscard]] Point in_turn(std::optional<Point>& known, const Read& read) const noexcept {
    if (!turns_) return read();
    if (!known) known = read();
    return *known;
  }

  void gather();
  void end_turn() noexcept;

  const std::size_t index_;
  const Clock& clock_;
  mutable Turn turn_;
  unsigned fruitless_turns_ = 0;  // one after the other
  unsigned skipped_turns_ = 0;    // to look for more
  bool turns_ = false;            // the loop runs, and forgets the time after each call
  Stack& stack_;
  Deadlines deadlines_;
  boost::intrusive::list<Closable, boost::intrusive::constant_time_size<false>> closables_;
  boost::intrusive::list<TurnEnd, boost::intrusive::constant_time_size<false>> turn_ends_;
  std::unique_ptr<Loop> loop_;
  std::size_t buffered_bytes_ = 0;
  const std::size_t buffered_most_bytes_;
  std::vector<char> scratch_;
  std::vector<char> large_scratch_;
  std::atomic<std::size_t> errands_{0};
  std::function<void()> after_errands_;
  bool draining_ = false;
  bool doors_are_closed_ = false;
  bool stopped_ = false;
};

// One errand of a core, while it is held.
class Errand {
 public:
  explicit Errand(Core& core) noexcept : core_(core) { core_.begin_errand(); }
  ~Errand() { core_.end_errand(); }
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;

 private:
  Core& core_;
};

// The cores of one component and their threads.
class CoreGroup {
 public:
  // `name` names the threads. The clock and the stack must outlive the group.
  CoreGroup(std::string name, std::size_t count, const Clock& clock);  // on the kernel's stack
  // `buffered_bytes`: what the buffers of all their connections may hold.
  CoreGroup(std::string name, std::size_t count, const Clock& clock, Stack& stack,
            std::size_t buffered_bytes = limits::buffered_bytes);
  ~CoreGroup();  // stop()

  [[nodiscard]] std::size_t size() const noexcept { return cores_.size(); }
  [[nodiscard]] Core& operator[](std::size_t index) noexcept { return *cores_[index]; }
  [[nodiscard]] const Core& operator[](std::size_t index) const noexcept { return *cores_[index]; }
  // Between start() and stop(): else what is spawned never runs.
  [[nodiscard]] bool running() const noexcept { return running_; }

  void start();
  // The same without threads: who calls drives the cores (Core::run_ready(), and the deadlines),
  // and all the group's methods do their work in the caller's thread.
  void start_without_threads() noexcept { running_ = true; }
  // Runs `work` on every core's thread and waits until all have; used to publish snapshots whole.
  // Not from a core's own thread. Before start(), after stop() or without threads it runs here and
  // now.
  void on_each(const std::function<void(Core&)>& work);
  // Stops every core and joins its thread, or lets its coroutines unwind here. Idempotent.
  void stop();

 private:
  const std::string name_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::thread> threads_;
  bool running_ = false;
};

}  // namespace ringside::net
