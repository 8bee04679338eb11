#include "http1/arrival_watch.h"

namespace ringside::http {

ArrivalWatch::ArrivalWatch(Connection& upstream, Caller& other)
    : state_(std::make_shared<State>(State{&upstream, &other})) {
  rearm();
}

ArrivalWatch::~ArrivalWatch() { state_->upstream = nullptr; }

void ArrivalWatch::rearm() {
  state_->arrived = false;
  state_->upstream->transport_->wait(net::Transport::Ready::bytes_came,
                                     [state = state_](std::error_code code) {
                                       if (state->upstream == nullptr || code) return;
                                       state->arrived = true;
                                       state->upstream->interrupt();
                                       state->other->interrupt();
                                     });
}

}  // namespace ringside::http
