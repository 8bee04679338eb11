#pragma once

#include <boost/intrusive/set.hpp>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/limits.h"

namespace ringside::cache {

// How far the readers of an unstored flight are, and who of them is waited for. Whatever happens
// costs O(log n) of their number, however many there are. Pure; its owner locks.
//
//   near ──the furthest is limits::flight_lag_bytes ahead──▶ slow ──its patience is over──▶ lost
//     ◀──it takes enough, or the furthest has left──────────────┴───────────────────────────┘
class ReaderOrder {
 public:
  using Time = SteadyPoint::duration;

  // Where one reader is.
  class Place {
   public:
    [[nodiscard]] std::size_t position() const noexcept { return position_; }  // of the next piece
    [[nodiscard]] std::uint64_t offset_bytes() const noexcept { return offset_bytes_; }

   private:
    friend class ReaderOrder;
    using Hook = boost::intrusive::set_member_hook<>;
    enum class State { gone, near, slow, lost };

    Hook by_offset_;
    Hook by_end_;  // while it is slow
    State state_ = State::gone;
    std::size_t position_ = 0;
    std::uint64_t offset_bytes_ = 0;
    Time patience_ = limits::flight_patience;  // that is left for it
    Time end_{0};                              // when it is over, by waited_
  };

  void add(Place& place);
  void remove(Place& place) noexcept;
  // It has taken what lies before.
  void move(Place& place, std::size_t position, std::uint64_t offset_bytes);

  // Nobody is waited for or has anything to come.
  [[nodiscard]] bool empty() const noexcept { return near_.empty() && slow_.empty(); }
  // Of the reader that is furthest.
  [[nodiscard]] std::uint64_t furthest_bytes() const noexcept;
  // Pieces before it are wanted by nobody who is waited for; `end` where there is none.
  [[nodiscard]] std::size_t first_wanted(std::size_t end) const noexcept;
  // Pieces before it are gone: who wants them is not waited for any more.
  void set_first_kept(std::size_t position) noexcept { first_kept_ = position; }

  // How long to wait for slow readers now; 0: there is nobody to wait for.
  [[nodiscard]] Time patience() const noexcept;
  // It was waited for them for so long.
  void charge(Time waited) noexcept;

 private:
  struct NearerFirst {
    bool operator()(const Place& a, const Place& b) const noexcept {
      return a.offset_bytes_ < b.offset_bytes_;
    }
  };
  struct SoonerFirst {
    bool operator()(const Place& a, const Place& b) const noexcept { return a.end_ < b.end_; }
  };
  using ByOffset = boost::intrusive::multiset<
      Place, boost::intrusive::member_hook<Place, Place::Hook, &Place::by_offset_>,
      boost::intrusive::compare<NearerFirst>>;
  using ByEnd =
      boost::intrusive::multiset<Place,
                                 boost::intrusive::member_hook<Place, Place::Hook, &Place::by_end_>,
                                 boost::intrusive::compare<SoonerFirst>>;

  [[nodiscard]] bool is_behind(const Place& place) const noexcept;
  void take_out(Place& place) noexcept;
  void put_in(Place& place) noexcept;
  void put_near(Place& place) noexcept;
  void let_fall_back() noexcept;
  void find_a_furthest() noexcept;

  ByOffset near_;
  ByOffset slow_;
  ByOffset lost_;
  ByEnd ends_;      // of those in slow_
  Time waited_{0};  // for slow readers, in all
  std::size_t first_kept_ = 0;
};

}  // namespace ringside::cache
