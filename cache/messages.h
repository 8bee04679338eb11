#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/inquiry.h"
#include "cache/stored_response.h"
#include "http/cache_status.h"
#include "http/head.h"
#include "http/relay.h"
#include "metrics/outcome.h"

namespace ringside::cache {

// How a request goes to the origin.
enum class Asking {
  as_it_is,  // passed on
  whole,     // to fill the store: without the client's conditions
};

// Writes the head of the request for the origin into `out`. `validated`: a stored response to be
// confirmed, whose validators become the conditions; null: none. `own_via`: see http::via_name.
void write_origin_head(std::string& out, const http::RequestHead& request, const Inquiry& inquiry,
                       const Settings& settings, std::string_view own_via, Asking asking,
                       const StoredHead* validated);

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
  int client_minor_version = 1;
};

// Appends the lines of `notes` and the empty line to a head that was begun.
void end_head(std::string& out, const AnswerNotes& notes);
// Begins the head of a response that is forwarded and not stored.
void begin_forwarded_head(std::string& out, const http::ResponseHead& response, TimePoint now,
                          std::string_view via_name);
// The whole answer to a PURGE.
[[nodiscard]] std::string purge_response(std::size_t removed, bool keep_alive, TimePoint now);
// Begins the 304 that stands for a stored response (RFC 9110 §15.4.5).
void begin_not_modified_head(std::string& out, const StoredHead& stored);

}  // namespace ringside::cache
