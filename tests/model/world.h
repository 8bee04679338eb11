#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

// The small world of the property test: what requests and answers may say, as values. The model
// reads these and never the text that they become on the wire.
namespace ringside::model {

// Cache-Control of a response.
struct Control {
  bool no_store = false;
  bool no_cache = false;
  bool is_private = false;
  bool is_public = false;
  bool must_revalidate = false;
  std::optional<int> max_age_s;
  std::optional<int> s_maxage_s;
  std::optional<int> stale_while_revalidate_s;
  std::optional<int> stale_if_error_s;
};

enum class Vary { language, encoding, both, any };

// The fields of an answer that mean something to a cache. Absent is absent on the wire.
struct Fields {
  std::optional<Control> control;
  std::optional<TimePoint> expires;  // never_valid: `Expires: 0`
  std::optional<TimePoint> date;
  std::optional<int> age_s;
  std::optional<Vary> vary;
  std::optional<std::string> tag;
  std::optional<TimePoint> modified;
};
inline constexpr TimePoint never_valid = TimePoint::min();

// Positions within a body, both included.
struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
};

// What a client asks.
struct Request {
  std::string method = "GET";
  int uri = 0;
  std::string language;  // of Accept-Language; empty: absent
  std::string encoding;  // of Accept-Encoding; likewise
  bool no_cache = false;
  bool no_store = false;
  bool only_if_cached = false;
  bool authorized = false;
  std::optional<int> max_age_s;
  std::optional<int> min_fresh_s;
  std::optional<int> max_stale_s;
  std::optional<std::string> if_none_match;  // one tag, or `*`
  std::optional<TimePoint> if_modified_since;
  std::optional<Range> range;
};

[[nodiscard]] std::string date_text(TimePoint time);
[[nodiscard]] std::string text(const Control& control);
[[nodiscard]] std::string text(Vary vary);
[[nodiscard]] std::string expires_text(TimePoint expires);

// With their CRLFs.
[[nodiscard]] std::string lines(const Fields& fields);
[[nodiscard]] std::string lines(const Request& request);

[[nodiscard]] std::string path(int uri);

}  // namespace ringside::model
