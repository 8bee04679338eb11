#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <functional>

#include "base/clock.h"

namespace ringside::net {

class Deadlines;

// A point in time at which a wait is broken off. Belongs to one core's Deadlines and its thread.
// Setting it is two stores where it moves later, which is what connections do all the time: the
// wheel looks again when the old time comes.
class Deadline : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  explicit Deadline(Deadlines& wheel) noexcept : wheel_(wheel) {}
  virtual ~Deadline() = default;
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  void set(SteadyPoint at) noexcept;
  void clear() noexcept { armed_ = false; }
  [[nodiscard]] bool armed() const noexcept { return armed_; }
  [[nodiscard]] SteadyPoint at() const noexcept { return at_; }

 protected:
  // Called once when the time has come; the deadline is not armed any more. May set a new one, may
  // not destroy another Deadline.
  virtual void expire() noexcept = 0;

 private:
  friend class Deadlines;
  Deadlines& wheel_;
  SteadyPoint at_{};
  std::uint64_t slot_tick_ = 0;  // where it is linked
  bool armed_ = false;
};

// A hashed timing wheel (Varghese & Lauck 1987, scheme 6): one slot a limits::deadline_tick, so
// that ten thousand idle connections cost nothing until their time comes. One per core.
class Deadlines {
 public:
  // `earlier` is called when a deadline is set that comes before what next() has said.
  explicit Deadlines(SteadyPoint now, std::function<void()> earlier = {});

  // Expires what is due. Called by the core when next() has come, or by a test with its own clock.
  void advance(SteadyPoint now) noexcept;
  // When there is something to look at, at the latest after one turn of the wheel: until then who
  // calls advance() may sleep.
  [[nodiscard]] SteadyPoint next() noexcept;

 private:
  friend class Deadline;
  static constexpr std::size_t slot_count = 4096;  // 82 s; later deadlines go round again
  using Slot = boost::intrusive::list<Deadline, boost::intrusive::constant_time_size<false>>;

  [[nodiscard]] std::uint64_t tick_of(SteadyPoint at) const noexcept;
  void link(Deadline& deadline) noexcept;

  SteadyPoint start_;
  std::function<void()> earlier_;
  std::uint64_t current_tick_ = 0;
  std::uint64_t awaited_tick_ = 0;  // what next() said; 0: nobody has asked since it came
  std::array<Slot, slot_count> slots_;
};

}  // namespace ringside::net
