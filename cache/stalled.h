#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>

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
};

// Those of one core, who waits for longest first.
class StalledList {
 public:
  void add(Stalled& one) noexcept { list_.push_back(one); }

  // Cuts who waits for longest, of those that pin anything, until they pin so much less.
  void cut(std::size_t bytes) {
    std::size_t freed = 0;
    for (auto place = list_.begin(); place != list_.end() && freed < bytes;) {
      Stalled& one = *place++;
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
