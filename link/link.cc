#include "link/link.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"

namespace ringside::link {

Link::Link(net::Core& core, http::Pool::Lease lease)
    : core_(core),
      lease_(std::move(lease)),
      channel_(*lease_.connection, Channel::End::asks),
      used_(core.steady_now()) {}

bool Link::has_room() const noexcept {
  return !retired_ && !ended_ && (!free_.empty() || places_.size() < limits::link_streams);
}

Stream Link::ask(const hop::UpstreamRequest& request, Asked& asked) {
  if (free_.empty()) {
    free_.push_back(static_cast<Stream>(places_.size()));
    places_.emplace_back();
  }
  const Stream stream = free_.back();
  free_.pop_back();
  places_[stream] = {State::asked, &asked};
  used_ = core_.steady_now();
  append_request(channel_.out(), stream, request);
  return stream;
}

void Link::free(Stream stream) {
  places_[stream] = {};
  free_.push_back(stream);
  close_if_done();
}

void Link::close_if_done() {
  const auto waits = [](const Place& place) { return place.state == State::asked; };
  if (retired_ && std::none_of(places_.begin(), places_.end(), waits)) channel_.close();
}

// The stream is free once the other end has said what became of it.
void Link::cancel(Stream stream) {
  places_[stream] = {State::left, nullptr};
  append_word(channel_.out(), FrameType::cancel, stream, {});
  close_if_done();
}

void Link::leave(Stream stream) {
  if (ended_) {
    places_[stream] = {};
  } else {
    cancel(stream);
  }
}

// Later: who gives up may be in the middle of a round of all who wait.
void Link::give_up(Stream stream) {
  core_.post([self = shared_from_this(), stream] {
    const Place place = self->places_[stream];
    if (self->ended_ || place.state != State::asked || !place.asked->is_over()) return;
    self->cancel(stream);
    place.asked->fail(
        {ErrorKind::timeout, ErrorSource::peer, Retry::no, "no progress before the deadline"});
  });
}

Result<void> Link::take(const Frame& frame) {
  const auto wrong = [](const char* what) {
    return Error{ErrorKind::malformed, ErrorSource::peer, Retry::no, what};
  };
  ++frames_;
  switch (frame.type) {
    case FrameType::going_away:
      retire();
      return {};
    case FrameType::answer:
    case FrameType::ticket:
    case FrameType::failed:
    case FrameType::interim:
      break;
    case FrameType::request:
    case FrameType::cancel:
      return wrong("link: a frame that is for who answers");
  }
  if (frame.stream >= places_.size() || places_[frame.stream].state == State::free) {
    return wrong("link: an answer to nothing");
  }
  const Place place = places_[frame.stream];
  used_ = core_.steady_now();
  if (frame.type != FrameType::interim) free(frame.stream);
  if (place.state == State::asked) place.asked->deliver(frame);
  return {};
}

Task<Error> Link::run() {
  const auto self = shared_from_this();
  Error end = co_await channel_.run(*this);
  ended_ = true;
  for (Place& place : places_) {
    const Place asked = std::exchange(place, {});
    if (asked.state == State::asked) asked.asked->fail(end);
  }
  co_return end;
}

void Link::retire() {
  retired_ = true;
  close_if_done();
}

std::optional<SteadyPoint> Link::idle_since() const noexcept {
  if (free_.size() != places_.size()) return std::nullopt;
  return used_;
}

}  // namespace ringside::link
