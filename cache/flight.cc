#include "cache/flight.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/limits.h"

namespace ringside::cache {

Flight::Reader::Reader(std::shared_ptr<Flight> flight, net::Core& core)
    : flight_(std::move(flight)), core_(core), waiter_(core) {
  wait_.bell = waiter_.bell();
  const std::lock_guard lock(flight_->mutex_);
  joined_ = flight_->first_kept_ == 0;
  if (joined_) flight_->readers_.add(place_);
}

Flight::Reader::~Reader() {
  const std::lock_guard lock(flight_->mutex_);
  wait_.unlink();
  flight_->has_come(wait_);
  flight_->leave(*this);
}

// The deadline has come before the bell.
void Flight::Reader::stop_waiting() {
  const std::lock_guard lock(flight_->mutex_);
  wait_.unlink();
  flight_->has_come(wait_);
}

Task<bool> Flight::Reader::wait_for_head(SteadyPoint deadline) {
  while (true) {
    {
      const std::lock_guard lock(flight_->mutex_);
      flight_->has_come(wait_);
      if (flight_->state_ != State::asking) co_return true;
      wait_.unlink();
      flight_->waiting_.push_back(wait_);
    }
    if (!co_await waiter_.wait(deadline)) {
      stop_waiting();
      co_return false;
    }
  }
}

Flight::Reader::Taken Flight::Reader::take_some() {
  const auto& pieces = flight_->pieces_;
  const std::size_t begin = place_.position();
  const std::size_t end = std::min(pieces.size(), begin + limits::flight_pieces_at_once);
  Taken taken;
  taken.pieces.assign(pieces.begin() + static_cast<std::ptrdiff_t>(begin),
                      pieces.begin() + static_cast<std::ptrdiff_t>(end));
  taken.last = flight_->state_ == State::done && end == pieces.size();
  std::uint64_t offset_bytes = place_.offset_bytes();
  for (const PiecePointer& piece : taken.pieces) offset_bytes += piece->bytes().size();
  flight_->readers_.move(place_, end, offset_bytes);
  if (!flight_->keeping_) flight_->drop_what_was_read();
  return taken;
}

std::optional<Result<Flight::Reader::Taken>> Flight::Reader::take() {
  const std::lock_guard lock(flight_->mutex_);
  flight_->has_come(wait_);
  wait_.unlink();  // else it could be rung, and hold its turn, while it does something else
  if (place_.position() < flight_->first_kept_) {
    left_behind_ = true;
    flight_->leave(*this);  // the fetch goes on for the others alone
    return Error{ErrorKind::timeout, ErrorSource::client, Retry::no,
                 "the client takes less than the others of a response too large to store"};
  }
  const bool is_done = flight_->state_ == State::done;
  if (place_.position() < flight_->pieces_.size() || is_done) return take_some();
  if (flight_->state_ == State::failed) return flight_->error_;
  flight_->waiting_.push_back(wait_);
  return std::nullopt;
}

Task<Result<Flight::Reader::Taken>> Flight::Reader::next(Milliseconds timeout) {
  while (true) {
    if (auto taken = take()) co_return *std::move(taken);
    if (!co_await waiter_.wait(core_.steady_now() + timeout)) {
      stop_waiting();
      co_return Error{ErrorKind::timeout, ErrorSource::origin, Retry::no,
                      "the shared fetch made no progress before the deadline"};
    }
  }
}

std::size_t Flight::Reader::pinned_bytes() const {
  const std::lock_guard lock(flight_->mutex_);
  // What is being stored is held by its fetch, whoever reads it.
  if (flight_->keeping_ && flight_->state_ == State::streaming) return 0;
  return cache::pinned_bytes(std::span(flight_->pieces_).subspan(flight_->first_kept_));
}

Flight::Flight(CacheKey key, std::string name, std::uint64_t purges_seen)
    : key_(std::move(key)), name_(std::move(name)), purges_seen_(purges_seen) {}

Flight::State Flight::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

Flight::Answer Flight::answer() const {
  const std::lock_guard lock(mutex_);
  return answer_;
}

Flight::Completion Flight::completion() const {
  const std::lock_guard lock(mutex_);
  return completion_;
}

StoredPointer Flight::complete_response() const {
  const std::lock_guard lock(mutex_);
  return complete_;
}

Error Flight::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

// Wakes who waits; who reads on sees what is new by itself.
void Flight::tell_readers() {
  to_ring_.splice(to_ring_.end(), waiting_);
  ring_some();
}

// A few at a time, the next ones when those have come: what else a core has to do comes in between.
void Flight::ring_some() {
  while (rung_ < limits::flight_readers_rung && !to_ring_.empty()) {
    Reader::Wait& place = to_ring_.front();
    to_ring_.pop_front();
    place.is_rung = true;
    ++rung_;
    place.bell->wake();
  }
}

void Flight::has_come(Reader::Wait& place) {
  if (!place.is_rung) return;
  place.is_rung = false;
  --rung_;
  ring_some();
}

void Flight::leave(Reader& reader) {
  readers_.remove(reader.place_);
  if (!keeping_) drop_what_was_read();
}

void Flight::publish(Answer answer) {
  const std::lock_guard lock(mutex_);
  RINGSIDE_CHECK(state_ == State::asking);
  state_ = State::streaming;
  answer_ = std::move(answer);
  tell_readers();
}

void Flight::append(PiecePointer piece) {
  const std::lock_guard lock(mutex_);
  RINGSIDE_CHECK(state_ == State::streaming);
  appended_bytes_ += piece->bytes().size();
  pieces_.push_back(std::move(piece));
  tell_readers();
}

void Flight::finish() {
  const std::lock_guard lock(mutex_);
  RINGSIDE_CHECK(state_ == State::streaming);
  state_ = State::done;
  tell_readers();
}

void Flight::complete(StoredPointer response, Completion completion) {
  const std::lock_guard lock(mutex_);
  RINGSIDE_CHECK(state_ == State::asking);
  state_ = State::done;
  complete_ = std::move(response);
  completion_ = completion;
  answer_.head = complete_->head;
  tell_readers();
}

void Flight::release() {
  const std::lock_guard lock(mutex_);
  RINGSIDE_CHECK(state_ == State::asking);
  state_ = State::released;
  tell_readers();
}

void Flight::fail(Error error) {
  const std::lock_guard lock(mutex_);
  state_ = State::failed;
  error_ = std::move(error);
  tell_readers();
}

void Flight::stop_keeping() {
  const std::lock_guard lock(mutex_);
  keeping_ = false;
  drop_what_was_read();
}

// What every reader has had; but of those that are slow and were waited for long enough, nobody
// asks.
void Flight::drop_what_was_read() {
  const std::size_t wanted = readers_.first_wanted(pieces_.size());
  for (; first_kept_ < wanted; ++first_kept_) pieces_[first_kept_].reset();
  readers_.set_first_kept(first_kept_);
  if (!leader_bell_) return;
  const bool nobody_is_slow = readers_.patience() == ReaderOrder::Time{0};
  const bool goes_on = has_room() && (nobody_is_slow || !leader_waits_for_slow_);
  if (goes_on || readers_.empty()) std::exchange(leader_bell_, nullptr)->wake();
}

bool Flight::has_room() const {
  return appended_bytes_ - readers_.furthest_bytes() <= window_bytes_;
}

Task<bool> Flight::wait_for_room(net::Waiter& leader, Milliseconds timeout,
                                 std::size_t window_bytes) {
  using Time = ReaderOrder::Time;
  net::Core& core = leader.core();
  const SteadyPoint deadline = core.steady_now() + timeout;
  while (true) {
    Time for_slow{0};
    {
      const std::lock_guard lock(mutex_);
      leader_bell_ = nullptr;
      window_bytes_ = window_bytes;
      drop_what_was_read();
      if (readers_.empty()) co_return false;
      if (has_room()) {
        for_slow = readers_.patience();
        if (for_slow == Time{0}) co_return true;
      }
      leader_waits_for_slow_ = for_slow > Time{0};
      leader_bell_ = leader.bell();
    }
    const SteadyPoint began = core.steady_now();
    const bool is_for_slow = for_slow > Time{0};
    const bool woken = co_await leader.wait(is_for_slow ? began + for_slow : deadline);
    if (!woken && core.stopped()) co_return false;
    if (is_for_slow) {
      const std::lock_guard lock(mutex_);
      readers_.charge(core.steady_now() - began);
    } else if (!woken) {
      co_return false;
    }
  }
}

std::vector<PiecePointer> Flight::pieces() const {
  const std::lock_guard lock(mutex_);
  return pieces_;
}

}  // namespace ringside::cache
