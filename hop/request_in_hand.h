#pragma once

#include "base/address.h"
#include "base/clock.h"
#include "base/lent.h"
#include "hop/access_log.h"
#include "hop/handler.h"
#include "http/head.h"
#include "http/response.h"
#include "net/core.h"

namespace ringside::hop {

// A request, what its handler makes of it, and what the access log tells of it. Used for one
// request after the other.
class RequestInHand {
 public:
  // All outlive it. `log` is the core's; null: none is written.
  RequestInHand(net::Core& core, Handler& handler, AccessLog::Queue* log) noexcept
      : core_(core), handler_(handler), log_(log) {}

  [[nodiscard]] http::RequestHead& head() { return room_->head; }
  [[nodiscard]] http::Response& response() { return room_->response; }
  [[nodiscard]] Handler& handler() noexcept { return handler_; }

  // It has arrived; or bytes have, of which no head could be read.
  void begin(const IpAddress& from, bool head_was_read) {
    is_open_ = true;
    began_ = core_.steady_now();
    handler_.begin(from);
    is_recorded_ = log_ != nullptr && log_->is_wanted();
    if (is_recorded_) room_->record.begin(core_.now(), from, head_was_read ? &head() : nullptr);
  }
  // The response is sent, or has failed; `sent.took` is measured here.
  void end(Sent sent) {
    is_open_ = false;
    response().begin(0, {});
    sent.took =
        std::chrono::duration_cast<std::chrono::microseconds>(core_.clock().steady_now() - began_);
    handler_.sent(sent);
    if (!is_recorded_) return;
    const AccessNotes notes = handler_.access_notes();
    AccessRecord& record = room_->record;
    record.client = notes.client;
    record.replica = notes.replica;
    record.status = sent.status;
    record.end(notes.outcome, notes.country, sent.took, sent.body_bytes);
    log_->write(record);
  }
  // After end(): nobody knows when the next one comes.
  void rest() noexcept { room_.give_back(); }
  // It has begun and not ended.
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }

 private:
  struct Room {
    [[nodiscard]] std::size_t room_bytes() const noexcept { return response.fields.capacity(); }
    http::RequestHead head;
    http::Response response;
    AccessRecord record;
  };
  net::Core& core_;
  Handler& handler_;
  AccessLog::Queue* const log_;
  Lent<Room> room_;
  SteadyPoint began_{};
  bool is_open_ = false;
  bool is_recorded_ = false;  // from its beginning
};

}  // namespace ringside::hop
