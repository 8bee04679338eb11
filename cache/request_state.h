#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cache/core_state.h"
#include "cache/inquiry.h"
#include "cache/messages.h"
#include "http/cache_status.h"
#include "http/head.h"
#include "http1/access_record.h"
#include "http1/connection.h"
#include "metrics/outcome.h"

namespace ringside::cache {

// The request that a session has in hand, and what is to be said and counted of its answer. One for
// each connection, used again and again, so that its strings and vectors keep their room.
struct RequestState {
  RequestState(CoreState& the_core, http::Connection& the_client)
      : core(the_core), client(the_client) {}

  CoreState& core;
  http::Connection& client;
  std::shared_ptr<const Settings> settings;  // the request's
  http::RequestHead request;
  Inquiry inquiry;
  Store::Found found;
  http::CacheStatus status;  // our member of Cache-Status
  std::string shown_key;     // what it says of the key; empty: nothing
  metrics::Outcome outcome = metrics::Outcome::error;
  std::uint64_t body_bytes = 0;  // that were sent
  http::AccessRecord record;     // for the access log; where there is none, the status alone
  std::string head;              // scratch for heads that are written
  std::string own_lines;         // of the origin's answer, for this request alone and not stored
  bool keep_alive = true;
  // The answer is what the store has for everybody. False: it may have something of this request's.
  bool is_what_is_stored = true;

  // A new request; its head lies in `request` where it was read.
  void begin(bool head_was_read);
  // What an answer's head says besides its own fields, as far as the request decides it.
  [[nodiscard]] AnswerNotes notes() const noexcept;
  // What the route makes of answers.
  [[nodiscard]] const Rules& rules() const noexcept { return inquiry.rules(); }

  // Writes to the client. False: it is gone.
  Task<bool> write(std::span<const std::string_view> buffers);
  // Writes `head` alone.
  Task<bool> write_head();
  // What went out so far must not be taken for a whole answer.
  void cut_off() noexcept;
  // The error as a response; the connection goes on where nothing of the request is left unread.
  Task<void> refuse(Error error);
};

[[nodiscard]] inline std::string_view view(std::string_view bytes) noexcept {
  return {bytes.data(), bytes.size()};
}

}  // namespace ringside::cache
