#include "cache/flight.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"

namespace ringside::cache {

Flight::Reader::Reader(std::shared_ptr<Flight> flight, net::Core& core)
    : flight_(std::move(flight)), core_(core), waiter_(core) {
  const std::lock_guard lock(flight_->mutex_);
  joined_ = flight_->first_kept_ == 0;
  if (joined_) flight_->readers_.push_back(this);
}

Flight::Reader::~Reader() {
  const std::lock_guard lock(flight_->mutex_);
  std::erase(flight_->readers_, this);
  if (!flight_->keeping_) flight_->drop_what_was_read();
}

Task<bool> Flight::Reader::wait_for_head(SteadyPoint deadline) {
  while (true) {
    {
      const std::lock_guard lock(flight_->mutex_);
      if (flight_->state_ != State::asking) co_return true;
      waiting_ = true;
    }
    if (!co_await waiter_.wait(deadline)) co_return false;
  }
}

std::optional<Result<Flight::Reader::Taken>> Flight::Reader::take() {
  const std::lock_guard lock(flight_->mutex_);
  const auto& pieces = flight_->pieces_;
  if (position_ < flight_->first_kept_) {
    left_behind_ = true;
    std::erase(flight_->readers_, this);  // the fetch goes on for the others alone
    flight_->drop_what_was_read();
    return Error{ErrorKind::timeout, ErrorSource::client, Retry::no,
                 "the client takes less than the others of a response too large to store"};
  }
  const bool is_done = flight_->state_ == State::done;
  if (position_ < pieces.size() || is_done) {
    const std::size_t end = std::min(pieces.size(), position_ + limits::flight_pieces_at_once);
    Taken taken;
    taken.pieces.assign(pieces.begin() + static_cast<std::ptrdiff_t>(position_),
                        pieces.begin() + static_cast<std::ptrdiff_t>(end));
    taken.last = is_done && end == pieces.size();
    for (const PiecePointer& piece : taken.pieces) offset_bytes_ += piece->bytes().size();
    position_ = end;
    if (!flight_->keeping_) flight_->drop_what_was_read();
    return taken;
  }
  if (flight_->state_ == State::failed) return flight_->error_;
  waiting_ = true;
  return std::nullopt;
}

Task<Result<Flight::Reader::Taken>> Flight::Reader::next(Milliseconds timeout) {
  while (true) {
    if (auto taken = take()) co_return *std::move(taken);
    if (!co_await waiter_.wait(core_.steady_now() + timeout)) {
      co_return Error{ErrorKind::timeout, ErrorSource::origin, Retry::no,
                      "the shared fetch made no progress before the deadline"};
    }
  }
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
void Flight::ring_readers() {
  for (Reader* reader : readers_) {
    if (!reader->waiting_) continue;
    reader->waiting_ = false;
    reader->waiter_.bell()->wake();
  }
}

void Flight::publish(Answer answer) {
  const std::lock_guard lock(mutex_);
  RINGSIDE_CHECK(state_ == State::asking);
  state_ = State::streaming;
  answer_ = std::move(answer);
  ring_readers();
}

void Flight::append(PiecePointer piece) {
  const std::lock_guard lock(mutex_);
  RINGSIDE_CHECK(state_ == State::streaming);
  appended_bytes_ += piece->bytes().size();
  pieces_.push_back(std::move(piece));
  ring_readers();
}

void Flight::finish() {
  const std::lock_guard lock(mutex_);
  RINGSIDE_CHECK(state_ == State::streaming);
  state_ = State::done;
  ring_readers();
}

void Flight::complete(StoredPointer response, Completion completion) {
  const std::lock_guard lock(mutex_);
  RINGSIDE_CHECK(state_ == State::asking);
  state_ = State::done;
  complete_ = std::move(response);
  completion_ = completion;
  answer_.head = complete_->head;
  ring_readers();
}

void Flight::release() {
  const std::lock_guard lock(mutex_);
  RINGSIDE_CHECK(state_ == State::asking);
  state_ = State::released;
  ring_readers();
}

void Flight::fail(Error error) {
  const std::lock_guard lock(mutex_);
  state_ = State::failed;
  error_ = std::move(error);
  ring_readers();
}

void Flight::stop_keeping() {
  const std::lock_guard lock(mutex_);
  keeping_ = false;
  drop_what_was_read();
}

// Of the reader that is furthest.
std::uint64_t Flight::furthest_bytes() const {
  std::uint64_t furthest = 0;
  for (const Reader* reader : readers_) furthest = std::max(furthest, reader->offset_bytes_);
  return furthest;
}

bool Flight::is_slow(const Reader& reader) const {
  return reader.offset_bytes_ + limits::flight_lag_bytes < furthest_bytes();
}

// What every reader has had; but of those that are slow and were waited for long enough, nobody
// asks.
void Flight::drop_what_was_read() {
  std::size_t wanted = pieces_.size();
  for (const Reader* reader : readers_) {
    const bool is_given_up = reader->patience_ <= SteadyPoint::duration{0} && is_slow(*reader);
    if (!is_given_up) wanted = std::min(wanted, reader->position_);
  }
  for (; first_kept_ < wanted; ++first_kept_) pieces_[first_kept_].reset();
  if (leader_bell_) leader_bell_->wake();
}

// How long to wait for slow readers now; 0: there is nobody to wait for.
SteadyPoint::duration Flight::patience() const {
  SteadyPoint::duration least{0};
  for (const Reader* reader : readers_) {
    if (!is_slow(*reader) || reader->patience_ <= SteadyPoint::duration{0}) continue;
    if (least == SteadyPoint::duration{0} || reader->patience_ < least) least = reader->patience_;
  }
  return least;
}

void Flight::charge_slow(SteadyPoint::duration waited) {
  for (Reader* reader : readers_) {
    if (is_slow(*reader)) reader->patience_ -= waited;
  }
}

Task<bool> Flight::wait_for_room(net::Waiter& leader, Milliseconds timeout) {
  net::Core& core = leader.core();
  const SteadyPoint deadline = core.steady_now() + timeout;
  while (true) {
    SteadyPoint::duration for_slow{0};
    {
      const std::lock_guard lock(mutex_);
      leader_bell_ = nullptr;
      if (readers_.empty()) co_return false;
      drop_what_was_read();
      if (appended_bytes_ - furthest_bytes() <= limits::flight_window_bytes) {
        for_slow = patience();
        if (for_slow == SteadyPoint::duration{0}) co_return true;
      }
      leader_bell_ = leader.bell();
    }
    const SteadyPoint began = core.steady_now();
    const bool is_for_slow = for_slow > SteadyPoint::duration{0};
    const bool woken = co_await leader.wait(is_for_slow ? began + for_slow : deadline);
    if (is_for_slow) {
      const std::lock_guard lock(mutex_);
      charge_slow(core.steady_now() - began);
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
