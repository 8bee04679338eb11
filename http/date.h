#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace ringside::http {

// An HTTP-date (RFC 9110 §5.6.7) in any of its three forms: IMF-fixdate, RFC 850, asctime. Strict:
// nullopt for anything else, and for days and times that don't exist. Letters in any case (RFC 9111
// §4.2); the name of the weekday is not held against the date. RFC 850's two-digit year is taken
// relative to `now`: never more than 50 years ahead.
[[nodiscard]] std::optional<TimePoint> parse_date(std::string_view text, TimePoint now) noexcept;

// IMF-fixdate, 29 bytes: `Sun, 06 Nov 1994 08:49:37 GMT`.
[[nodiscard]] std::array<char, 29> format_date(TimePoint time) noexcept;

}  // namespace ringside::http
