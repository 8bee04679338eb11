#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/inquiry.h"
#include "cache/stored_response.h"
#include "http/cache_status.h"
#include "http/head.h"
#include "http1/relay.h"
#include "metrics/outcome.h"

namespace ringside::cache {

// How a request goes to the origin.
struct Asking {
  // Without the client's conditions and ranges, to fill the store; else it is passed on as it is.
  bool fills = false;
  const StoredHead* validated = nullptr;  // its validators become the conditions
  std::string_view range{};               // Range; empty: none
  const StoredHead* same_as = nullptr;    // its entity tag becomes If-Range
};

// Writes the head of the request for the origin into `out`. `own_via`: see
// http::HopIdentity.
void write_origin_head(std::string& out, const http::RequestHead& request, const Inquiry& inquiry,
                       const Settings& settings, std::string_view own_via, const Asking& asking);

// What an answer's head says besides the stored or forwarded fields.
struct AnswerNotes {
  http::CacheStatus status;
  metrics::Outcome outcome = metrics::Outcome::miss;
  std::optional<Seconds> age;
  std::optional<std::uint64_t> length_bytes;  // Content-Length
  std::optional<Milliseconds> near_ttl;       // see internal::near_ttl
  http::Coding coding = http::Coding::as_is;
  bool keep_alive = true;
  bool to_sidecar = false;
  std::string_view own_lines{};  // of lines_not_stored
  int client_minor_version = 1;
};

// Appends the lines of `notes` and the empty line to a head that was begun.
void end_head(std::string& out, const AnswerNotes& notes);
// The four below begin a head; `rules` tells what the route makes of the fields.

// Of a stored response as it is.
void begin_stored_head(std::string& out, const StoredHead& stored, const Rules& rules);
// The 206 that has a part of it. `content_type`: in place of its own; empty: its own.
void begin_partial_head(std::string& out, const StoredHead& stored, const Rules& rules,
                        std::string_view content_range, std::string_view content_type);
// The 304 that stands for it (RFC 9110 §15.4.5).
void begin_not_modified_head(std::string& out, const StoredHead& stored, const Rules& rules);
// Of a response that is forwarded and not stored.
void begin_forwarded_head(std::string& out, const http::ResponseHead& response, const Rules& rules,
                          TimePoint now, std::string_view own_name);
// The 416 for ranges of which a stored response has none (RFC 9110 §15.5.17), without content.
void begin_unsatisfiable_head(std::string& out, std::uint64_t complete_length_bytes, TimePoint now);
// The lines of an origin's answer that its head is stored without (see fields_not_stored), for who
// caused the fetch, as far as they may be passed on: private="…" may name any field, such as those
// that frame the message.
[[nodiscard]] std::string lines_not_stored(const http::Fields& fields,
                                           const std::vector<std::string>& names,
                                           const Rules& rules);
// The whole answer to a PURGE.
[[nodiscard]] std::string purge_response(std::size_t removed, bool keep_alive, TimePoint now);

}  // namespace ringside::cache
