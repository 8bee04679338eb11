#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>

#include "base/clock.h"
#include "base/limits.h"

namespace ringside::cache {

// A response whose client takes nothing more of it for now.
class Stalled : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  // What it keeps from being freed though it is not stored.
  [[nodiscard]] virtual std::size_t pinned_bytes() const = 0;
  // Ends it soon, as if the client had gone. Once.
  virtual void cut() = 0;

 protected:
  ~Stalled() = default;

 private:
  friend class StalledList;
  SteadyPoint since_;
};

// Those of one core, who waits for longest first.
class StalledList {
 public:
  void add(Stalled& one, SteadyPoint now) noexcept {
    one.since_ = now;
    list_.push_back(one);
  }

  // Cuts who waits for longest, of those that pin anything, until they pin so much less. A core
  // does not know who waits at others: it leaves those alone that have only just begun to wait
  // (limits::stalled_least), or an honest client would pay for slow ones elsewhere.
  void cut(std::size_t bytes, SteadyPoint now) {
    std::size_t freed = 0;
    for (auto place = list_.begin(); place != list_.end() && freed < bytes;) {
      Stalled& one = *place++;
      if (now - one.since_ < limits::stalled_least) return;
      const std::size_t pinned = one.pinned_bytes();
      if (pinned == 0) continue;
      freed += pinned;
      one.unlink();
      one.cut();
    }
  }

 private:
  boost::intrusive::list<Stalled, boost::intrusive::constant_time_size<false>> list_;
};

}  // namespace ringside::cache
