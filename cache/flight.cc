#include "cache/flight.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"

namespace ringside::cache {

Flight::Reader::Reader(std::shared_ptr<Flight> flight, http::Core& core)
    : flight_(std::move(flight)), core_(core), waiter_(core) {
  const std::lock_guard lock(flight_->mutex_);
  joined_ = flight_->first_kept_ == 0;
  if (joined_) flight_->readers_.push_back(this);
}

Flight::Reader::~Reader() {
  const std::lock_guard lock(flight_->mutex_);
  std::erase(flight_->readers_, this);
  if (!flight_->keeping_) flight_->drop_what_is_over();
}

http::Task<bool> Flight::Reader::wait_for_head(SteadyPoint deadline) {
  while (true) {
    {
      const std::lock_guard lock(flight_->mutex_);
      if (flight_->state_ != State::asking) co_return true;
      waiting_ = true;
    }
    if (!co_await waiter_.wait(deadline)) co_return false;
  }
}

http::Task<Result<std::vector<PiecePointer>>> Flight::Reader::next(Milliseconds timeout) {
  while (true) {
    {
      const std::lock_guard lock(flight_->mutex_);
      const auto& pieces = flight_->pieces_;
      if (position_ < flight_->first_kept_) {
        left_behind_ = true;
        std::erase(flight_->readers_, this);  // the fetch goes on for the others alone
        flight_->drop_what_is_over();
        co_return Error{ErrorKind::timeout, ErrorSource::client, Retry::no,
                        "the client takes less than the others of a response too large to store"};
      }
      if (position_ < pieces.size()) {
        const std::size_t end = std::min(pieces.size(), position_ + limits::flight_pieces_at_once);
        std::vector<PiecePointer> taken(pieces.begin() + static_cast<std::ptrdiff_t>(position_),
                                        pieces.begin() + static_cast<std::ptrdiff_t>(end));
        for (const PiecePointer& piece : taken) offset_bytes_ += piece->bytes().size();
        position_ = end;
        if (!flight_->keeping_) flight_->drop_what_is_over();
        co_return taken;
      }
      if (flight_->state_ == State::done) co_return std::vector<PiecePointer>{};
      if (flight_->state_ == State::failed) co_return flight_->error_;
      waiting_ = true;
    }
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
  held_bytes_ += piece->bytes().size();
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
  drop_what_is_over();
}

// How far the leader is before the reader that is furthest.
std::uint64_t Flight::ahead_bytes() const {
  std::uint64_t furthest = 0;
  for (const Reader* reader : readers_) furthest = std::max(furthest, reader->offset_bytes_);
  return appended_bytes_ - furthest;
}

// What every reader has had; and what is too far behind the furthest, whoever has not had it: a
// slow reader must not hold up the others.
void Flight::drop_what_is_over() {
  std::size_t read_by_all = pieces_.size();
  for (const Reader* reader : readers_) read_by_all = std::min(read_by_all, reader->position_);
  const std::uint64_t most_bytes = ahead_bytes() + limits::flight_lag_bytes;
  for (; first_kept_ < pieces_.size(); ++first_kept_) {
    if (first_kept_ >= read_by_all && held_bytes_ <= most_bytes) break;
    held_bytes_ -= pieces_[first_kept_]->bytes().size();
    pieces_[first_kept_].reset();
  }
  if (leader_bell_) leader_bell_->wake();
}

http::Task<bool> Flight::wait_for_room(http::Waiter& leader, Milliseconds timeout) {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      leader_bell_ = nullptr;
      if (readers_.empty()) co_return false;
      drop_what_is_over();
      if (ahead_bytes() <= limits::flight_window_bytes) co_return true;
      leader_bell_ = leader.bell();
    }
    if (!co_await leader.wait(leader.core().steady_now() + timeout)) co_return false;
  }
}

std::vector<PiecePointer> Flight::pieces() const {
  const std::lock_guard lock(mutex_);
  return pieces_;
}

}  // namespace ringside::cache
