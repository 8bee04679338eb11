#include "http/arrival_watch.h"

namespace ringside::http {

ArrivalWatch::ArrivalWatch(Connection& upstream, Connection& other)
    : state_(std::make_shared<State>(State{&upstream, &other})) {
  rearm();
}

ArrivalWatch::~ArrivalWatch() { state_->upstream = nullptr; }

void ArrivalWatch::rearm() {
  state_->arrived = false;
  state_->upstream->transport_.socket().async_wait(
      Socket::wait_read, [state = state_](const boost::system::error_code& code) {
        if (state->upstream == nullptr || code) return;
        state->arrived = true;
        state->upstream->interrupt();
        state->other->interrupt();
      });
}

}  // namespace ringside::http
