#pragma once

#include "base/address.h"
#include "base/clock.h"
#include "hop/access_log.h"
#include "hop/handler.h"
#include "http/head.h"
#include "http/response.h"
#include "net/core.h"

namespace ringside::hop {

// A request, what its handler makes of it, and what the access log tells of it. Used for one
// request after the other, so that its strings keep their room.
class RequestInHand {
 public:
  // All outlive it. `log` is the core's; null: none is written.
  RequestInHand(net::Core& core, Handler& handler, AccessLog::Queue* log) noexcept
      : core_(core), handler_(handler), log_(log) {}

  [[nodiscard]] http::RequestHead& head() noexcept { return head_; }
  [[nodiscard]] http::Response& response() noexcept { return response_; }
  [[nodiscard]] Handler& handler() noexcept { return handler_; }

  // It has arrived; or bytes have, of which no head could be read.
  void begin(const IpAddress& from, bool head_was_read) {
    is_open_ = true;
    began_ = core_.steady_now();
    handler_.begin(from);
    if (log_ != nullptr) record_.begin(core_.now(), from, head_was_read ? &head_ : nullptr);
  }
  // The response is sent, or has failed; `sent.took` is measured here.
  void end(Sent sent) {
    is_open_ = false;
    response_.begin(0, {});
    sent.took =
        std::chrono::duration_cast<std::chrono::microseconds>(core_.clock().steady_now() - began_);
    handler_.sent(sent);
    if (log_ == nullptr) return;
    const AccessNotes notes = handler_.access_notes();
    record_.client = notes.client;
    record_.replica = notes.replica;
    record_.status = sent.status;
    record_.end(notes.outcome, notes.country, sent.took, sent.body_bytes);
    log_->write(record_);
  }
  // It has begun and not ended.
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }

 private:
  net::Core& core_;
  Handler& handler_;
  AccessLog::Queue* const log_;
  http::RequestHead head_;
  http::Response response_;
  AccessRecord record_;
  SteadyPoint began_{};
  bool is_open_ = false;
};

}  // namespace ringside::hop
