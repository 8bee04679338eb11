#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "http/field_rules.h"
#include "http/path_rules.h"
#include "http/query_rules.h"

namespace ringside::cache {

// What is done with a response that has Set-Cookie.
enum class SetCookie {
  pass,   // it is not stored: a cookie is most often meant for one client
  strip,  // it is stored without its cookies; who caused the fetch gets them
  store,  // it is stored with them (RFC 9111 §7.3): everybody gets the same cookies
};

// What an Age means that is no single non-negative integer.
enum class InvalidAge {
  ignore,  // nothing, or its first value where that is a number (RFC 9111 §5.1)
  stale,   // that nobody knows how old the response is; but a list of different numbers on one line
           // is its first
};

// Something that a request may have.
struct Condition {
  enum class In { header, cookie, query, every_request };
  In in = In::header;
  std::string name;                  // of a header in any case; else as it stands
  std::optional<std::string> value;  // absent: any
  bool operator==(const Condition&) const = default;
};

// For statuses from `first` to `last`.
struct StatusTtl {
  int first = 0;
  int last = 0;
  Seconds ttl{0};
  bool operator==(const StatusTtl&) const = default;
};

// What a route says of caching, beside what responses say of themselves. A response's own word
// comes first, unless `heed_origin` is off. docs/rules.md has the keys.
struct Rules {
  bool heed_origin = true;               // off: Cache-Control, Expires and the like say nothing
  std::vector<StatusTtl> ttl_by_status;  // lifetimes where nothing is said; the first match counts
  std::optional<Seconds> default_ttl;    // likewise, of 200, 203, 204, 206, 300, 301, 308, 404,
                                         // 405, 410, 414, 501: those that heuristics are for
  bool heuristic = true;                 // without any of them: RFC 9111 §4.2.2
  std::optional<Seconds> stale_while_revalidate;  // where a response doesn't say (RFC 5861 §3)
  std::optional<Seconds> stale_if_error;          // likewise (§4)
  // The last part of a lifetime in which one request refreshes it beforehand; 0: none does.
  unsigned early_refresh_percent = 0;
  // Fields before Cache-Control, the most specific first (RFC 9213).
  std::vector<std::string> targeted = {"CDN-Cache-Control", "Surrogate-Control"};
  InvalidAge invalid_age = InvalidAge::ignore;
  SetCookie set_cookie = SetCookie::pass;
  // How often clients may have fresh answers looked at by the origin again, by no-cache, max-age,
  // min-fresh and Pragma: each time; once in so long, of each response; nullopt: never.
  std::optional<Seconds> client_no_cache = Seconds{0};
  std::vector<Condition> bypass;    // requests that neither ask the store nor fill it
  std::vector<Condition> no_store;  // requests whose answers are not stored
  std::size_t variants_most = limits::variants_per_key;
  // Accept-Encoding becomes the first of them that the client takes, else it is removed; empty: it
  // stays as it came.
  std::vector<std::string> content_codings;
  http::QueryRules query;
  http::PathRules paths;
  http::FieldRules request_fields;   // of what the origin is asked
  http::FieldRules response_fields;  // of what clients are answered
  bool status_key = false;           // Cache-Status tells the key (RFC 9211 §2.7)
  std::size_t slice_size_bytes = 0;  // large objects are fetched in parts of it; 0: whole
  bool operator==(const Rules&) const = default;
};

}  // namespace ringside::cache
