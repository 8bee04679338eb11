#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cache/request_context.h"
#include "cache/stored_response.h"
#include "hop/upstream.h"
#include "http/cache_status.h"
#include "http/field_lines.h"
#include "http/head.h"
#include "http/response.h"
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

// The fields of the request for the origin, in place of what `out` had. `own_via`: see
// http::HopIdentity.
void write_origin_fields(http::FieldLines& out, const http::RequestHead& request,
                         const RequestContext& context, const Settings& settings,
                         std::string_view own_via, const Asking& asking);

// What a holder is told besides by a replica that asks it.
struct FillAsking {
  std::string_view own_via;
  std::string_view own_name;
  Milliseconds time_allowed;  // of which it is given a little less
};
// Likewise for the request to the bucket's holder, which knows it by the same key.
void write_holder_fields(http::FieldLines& out, const http::RequestHead& request,
                         const RequestContext& context, const Settings& settings,
                         const FillAsking& fill, const Asking& asking);

// What a response says besides the stored or forwarded fields.
struct ResponseNotes {
  http::CacheStatus status;
  metrics::Outcome outcome = metrics::Outcome::miss;
  std::optional<Seconds> age{};
  std::optional<std::uint64_t> length_bytes{};  // Content-Length
  std::optional<Milliseconds> near_ttl{};       // see internal::near_ttl
  bool to_sidecar = false;
  std::string_view topology{};     // our own's id, where who asks follows another one
  bool to_peer = false;            // which says itself how it came by it
  Milliseconds age_beyond{0};      // see internal::age_beyond
  std::string_view purges_done{};  // see internal::purges_done
  bool is_asker_unknown = false;   // see internal::unknown_asker
  bool to_impostor = false;        // it spoke like a sidecar, and has not proved to be one
  std::string_view own_lines{};    // of lines_not_stored
};

// Adds the notes to a response that was begun.
void end_response(http::Response& out, const ResponseNotes& notes);
// The five below begin a response; `rules` tells what the route makes of the fields.

// A stored one as it is.
void begin_stored(http::Response& out, const std::shared_ptr<const StoredHead>& stored,
                  const Rules& rules);
// The 206 that has a part of it. `content_type`: in place of its own; empty: its own.
void begin_partial(http::Response& out, const StoredHead& stored, const Rules& rules,
                   std::string_view content_range, std::string_view content_type);
// The 304 that stands for it (RFC 9110 §15.4.5).
void begin_not_modified(http::Response& out, const StoredHead& stored, const Rules& rules);
// One that is forwarded and not stored.
void begin_forwarded(http::Response& out, const http::ResponseHead& response, const Rules& rules,
                     TimePoint now, std::string_view own_name);
// The 416 for ranges of which a stored response has none (RFC 9110 §15.5.17), without content.
void begin_unsatisfiable(http::Response& out, std::uint64_t complete_length_bytes, TimePoint now);

// The lines of an origin's answer that its head is stored without (see fields_not_stored), for who
// caused the fetch, as far as they may be passed on: private="…" may name any field, such as those
// that frame the message.
[[nodiscard]] std::string lines_not_stored(const http::Fields& fields,
                                           const std::vector<std::string>& names,
                                           const Rules& rules);
// The answer to a PURGE.
void make_purge_response(http::Response& out, std::size_t removed, TimePoint now,
                         std::span<const std::string> missing = {});

}  // namespace ringside::cache
