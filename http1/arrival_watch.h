#pragma once

#include <memory>

#include "http/caller.h"
#include "http1/connection.h"

namespace ringside::http {

// Notices that an upstream says something while we wait for somebody else: a server may answer
// before it has the whole request (RFC 9112 §9.5). What the two sides wait for at that moment
// is interrupted (Connection::interrupt, Caller::interrupt) and can be waited for again. On their
// core's thread.
class ArrivalWatch {
 public:
  // Both must outlive the watch.
  ArrivalWatch(Connection& upstream, Caller& other);
  ~ArrivalWatch();
  ArrivalWatch(const ArrivalWatch&) = delete;
  ArrivalWatch& operator=(const ArrivalWatch&) = delete;

  [[nodiscard]] bool arrived() const noexcept { return state_->arrived; }
  // Watches again, once what had arrived was read.
  void rearm();

 private:
  // Shared with the pending wait, which can't be taken back alone and may outlive the watch.
  struct State {
    Connection* upstream;
    Caller* other;
    bool arrived = false;
  };
  std::shared_ptr<State> state_;
};

}  // namespace ringside::http
