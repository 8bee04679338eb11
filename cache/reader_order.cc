#include "cache/reader_order.h"

#include <algorithm>

namespace ringside::cache {

// One that is slow itself is never the furthest, but where all others have left.
std::uint64_t ReaderOrder::furthest_bytes() const noexcept {
  return near_.empty() ? 0 : near_.rbegin()->offset_bytes_;
}

bool ReaderOrder::is_behind(const Place& place) const noexcept {
  return place.offset_bytes_ + limits::flight_lag_bytes < furthest_bytes();
}

void ReaderOrder::add(Place& place) { put_near(place); }

void ReaderOrder::remove(Place& place) noexcept {
  take_out(place);
  find_a_furthest();
}

void ReaderOrder::move(Place& place, std::size_t position, std::uint64_t offset_bytes) {
  take_out(place);
  place.position_ = position;
  place.offset_bytes_ = offset_bytes;
  put_in(place);
  let_fall_back();
}

void ReaderOrder::take_out(Place& place) noexcept {
  switch (place.state_) {
    case Place::State::gone:
      return;
    case Place::State::near:
      near_.erase(near_.iterator_to(place));
      break;
    case Place::State::slow:
      place.patience_ = place.end_ - waited_;
      ends_.erase(ends_.iterator_to(place));
      slow_.erase(slow_.iterator_to(place));
      break;
    case Place::State::lost:
      lost_.erase(lost_.iterator_to(place));
      break;
  }
  place.state_ = Place::State::gone;
}

void ReaderOrder::put_near(Place& place) noexcept {
  place.state_ = Place::State::near;
  near_.insert(place);
}

void ReaderOrder::put_in(Place& place) noexcept {
  if (!is_behind(place)) return put_near(place);
  if (place.patience_ <= Time{0}) {
    place.state_ = Place::State::lost;
    lost_.insert(place);
    return;
  }
  place.state_ = Place::State::slow;
  place.end_ = waited_ + place.patience_;
  slow_.insert(place);
  ends_.insert(place);
}

// Each does so once for each time that it has caught up.
void ReaderOrder::let_fall_back() noexcept {
  while (!near_.empty() && is_behind(*near_.begin())) {
    Place& place = *near_.begin();
    take_out(place);
    put_in(place);
  }
}

// Those who were behind the one that has left are looked at when they take something or when their
// patience is over, and not all of them now: somebody might leave again and again.
void ReaderOrder::find_a_furthest() noexcept {
  if (!near_.empty()) return;
  const bool is_lost = !lost_.empty() && lost_.rbegin()->position_ >= first_kept_ &&
                       (slow_.empty() || NearerFirst{}(*slow_.rbegin(), *lost_.rbegin()));
  if (!is_lost && slow_.empty()) return;
  Place& place = is_lost ? *lost_.rbegin() : *slow_.rbegin();
  take_out(place);
  put_near(place);
}

std::size_t ReaderOrder::first_wanted(std::size_t end) const noexcept {
  if (!near_.empty()) end = std::min(end, near_.begin()->position_);
  if (!slow_.empty()) end = std::min(end, slow_.begin()->position_);
  return end;
}

ReaderOrder::Time ReaderOrder::patience() const noexcept {
  return ends_.empty() ? Time{0} : ends_.begin()->end_ - waited_;
}

void ReaderOrder::charge(Time waited) noexcept {
  waited_ += waited;
  while (!ends_.empty() && ends_.begin()->end_ <= waited_) {
    Place& place = *ends_.begin();
    take_out(place);
    put_in(place);
  }
}

}  // namespace ringside::cache
