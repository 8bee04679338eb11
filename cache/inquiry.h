#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cache/cache_key.h"
#include "cache/settings.h"
#include "http/cache_control.h"
#include "http/head.h"
#include "http/target.h"

namespace ringside::cache {

// What a replica has understood of a request before it asks anybody. Reused from request to request
// of a connection.
struct Inquiry {
  std::string method;  // kept: the request's own views end when its body is read
  http::Target target;
  std::string host;
  std::string country;  // as the sidecar said it; empty where it didn't
  bool from_sidecar = false;
  const Route* route = nullptr;  // into the Settings; null only where PURGE has none
  CacheKey key;
  http::RequestDirectives directives;
  bool may_use_store = false;   // a stored response may answer it
  bool may_fill_store = false;  // and its own answer may be stored and shared
};

// Fails for targets and hosts that are malformed, and where no route matches. A pure function of
// the request and the settings.
[[nodiscard]] Result<void> inquire(const http::RequestHead& request, const Settings& settings,
                                   Inquiry& inquiry);

}  // namespace ringside::cache
