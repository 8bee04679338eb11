#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cache/core_state.h"
#include "cache/messages.h"
#include "cache/request_context.h"
#include "http/cache_status.h"
#include "http/caller.h"
#include "http/head.h"
#include "http/response.h"
#include "metrics/outcome.h"

namespace ringside::cache {

// A request in hand, and what is to be said and counted of its response. One for each connection,
// used again and again, so that its strings and vectors keep their room. It outlives the response.
struct Transaction {
  explicit Transaction(CoreState& the_core) : core(the_core) {}

  CoreState& core;
  std::shared_ptr<const Settings> settings;  // the request's
  http::RequestHead* request = nullptr;
  http::Caller* caller = nullptr;
  RequestContext context;
  Store::Found found;
  bool is_explained = false;  // it is told what would be done, and nothing is done or counted
  Store::Look look = Store::Look::use;
  StoredPointer given;       // the response's body; null: it comes from elsewhere
  http::CacheStatus status;  // our member of Cache-Status
  std::string shown_key;     // what it says of the key; empty: nothing
  metrics::Outcome outcome = metrics::Outcome::error;
  std::string own_lines;  // of the origin's answer, for this request alone and not stored
  // The response is what the store has for everybody. False: it may have something of this
  // request's.
  bool is_what_is_stored = true;
  std::string purges_done;        // see ResponseNotes
  bool is_asker_unknown = false;  // likewise
  bool is_from_impostor = false;  // see ResponseNotes
  bool is_from_exchange = false;  // its body's failure is counted here; a flight's is by its fill

  // A new request.
  void begin(std::shared_ptr<const Settings> the_settings);
  // The response is gone: an idle connection keeps nothing from being freed.
  void let_go() noexcept {
    found.response = nullptr;
    given = nullptr;
  }
  // What the route makes of requests and responses.
  [[nodiscard]] const Rules& rules() const noexcept { return context.rules(); }
  // Likewise, of this response: a peer that stores it is given it as it came.
  [[nodiscard]] const Rules& response_rules() const noexcept;
  [[nodiscard]] TimePoint now() const noexcept { return core.core.now(); }
  // For all that asks how old something stored is.
  [[nodiscard]] TimePoint resident_now() const noexcept { return core.core.resident_now(); }
  // Whether a holder may be asked now; see limits::fills_most.
  [[nodiscard]] bool may_fill() const noexcept { return core.fills < settings->fills_most; }
  // Why the request has to go forward, as far as is known by now (RFC 9211 §2.2).
  [[nodiscard]] http::CacheStatus::Forward forward_reason() const;
  // Something stale is given, because the origin failed.
  void note_stale() noexcept;
  // What a response says besides its own fields, as far as the request decides it.
  [[nodiscard]] ResponseNotes notes() const noexcept;
  // Who may be told of interim responses; null: nobody, with HTTP/1.0.
  [[nodiscard]] http::Caller* interim_to() const noexcept;

  // Where who asks follows another topology than we do it is told ours; else empty.
  [[nodiscard]] std::string_view told_topology() const noexcept;
  void tell_topology(http::Response& response) const;

  // The error as the response.
  void refuse(const Error& error, http::Response& response);
};

}  // namespace ringside::cache
