#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cache/cache_key.h"
#include "cache/settings.h"
#include "http/cache_control.h"
#include "http/head.h"
#include "http/hop.h"
#include "http/target.h"

namespace ringside::cache {

// What a replica has understood of a request before it asks anybody. Reused from request to request
// of a connection.
struct Inquiry {
  http::Hop hop;
  std::string method;  // kept: the request's own views end when its body is read
  http::Target target;
  std::string host;
  std::string country;  // as the sidecar said it; empty where it didn't
  bool from_sidecar = false;
  const Route* route = nullptr;  // into the Settings; null only where PURGE has none
  // For all of it, from its arrival on: our own limit, or less where the sidecar waits no longer.
  Milliseconds time_allowed{0};
  CacheKey key;
  http::RequestDirectives directives;
  bool may_use_store = false;   // a stored response may answer it
  bool may_fill_store = false;  // and its own answer may be stored and shared
};

// Fails for targets and hosts that are malformed, and where no route matches; for TRACE, and for
// requests that have been at `own_via` before. With hop.answer_here nothing else is decided. A pure
// function of the request, the settings and the name.
[[nodiscard]] Result<void> inquire(const http::RequestHead& request, const Settings& settings,
                                   std::string_view own_via, Inquiry& inquiry);

}  // namespace ringside::cache
