#pragma once

#include <string_view>

#include "cache/freshness.h"
#include "http/cache_control.h"
#include "tests/cache/some_fields.h"
#include "tests/support/fake_clock.h"

namespace ringside::cache {

inline constexpr TimePoint received = support::FakeClock::start;

// Of a 200 with this Cache-Control.
inline Freshness stored_with(std::string_view cache_control, const Rules& rules = {}) {
  const auto fields = fields_of({{"Cache-Control", cache_control}});
  const auto directives = effective_directives(fields, rules);
  return freshness_of({200, fields, directives, {received, received}, rules});
}

inline http::RequestDirectives asked_with(std::string_view cache_control) {
  return http::parse_request_directives(fields_of({{"Cache-Control", cache_control}}));
}

}  // namespace ringside::cache
