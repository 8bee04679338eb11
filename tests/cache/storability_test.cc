#include "cache/storability.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cache/some_fields.h"
#include "tests/support/fake_clock.h"

namespace ringside::cache {
namespace {

struct Row {
  Storability expected;
  http::Fields fields;  // of the response
  std::string_view method = "GET";
  int status = 200;
  std::string_view request{};  // Cache-Control
  bool authorized = false;
};

Storability judged(const Row& row) {
  const TimePoint now = support::FakeClock::start;
  const auto directives = http::parse_response_directives(row.fields);
  const auto asked = http::parse_request_directives(fields_of({{"Cache-Control", row.request}}));
  const auto freshness = freshness_of(row.fields, directives, {now, now});
  return storability(
      {row.method, asked, row.authorized, row.status, row.fields, directives, freshness});
}

TEST(Storability, Rfc9111Section3EachReason) {
  using enum Storability;
  const http::Field lives{"Cache-Control", "max-age=60"};
  const http::Field tag{"ETag", "\"a\""};
  const auto good = fields_of({lives});
  const std::vector<Row> rows{
      {storable, good},
      {storable, fields_of({{"Expires", "Sun, 06 Nov 1994 08:49:38 GMT"}})},
      {storable, good, "GET", 404},
      {storable, good, "GET", 301},
      {storable, good, "GET", 204},
      {storable, good, "GET", 503},
      {storable, fields_of({tag})},
      {storable, fields_of({{"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"}})},
      {storable, fields_of({tag, {"Cache-Control", "no-cache"}})},
      {storable, fields_of({tag, {"Cache-Control", "max-age=0"}})},
      {method, good, "POST"},
      {method, good, "HEAD"},
      {method, good, "get"},
      {request_said, good, "GET", 200, "no-store"},
      {no_store, fields_of({{"Cache-Control", "max-age=60, no-store"}})},
      {no_store, fields_of({lives, {"Cache-Control", "No-Store"}})},
      {storable, fields_of({{"Cache-Control", "max-age=60, no-store, must-understand"}})},
      {storable, fields_of({{"Cache-Control", "max-age=60, must-understand"}}), "GET", 404},
      {Storability::status, fields_of({{"Cache-Control", "max-age=60, must-understand"}}), "GET",
       299},
      {is_private, fields_of({{"Cache-Control", "max-age=60, private"}})},
      {is_private, fields_of({{"Cache-Control", "max-age=60, private=\"x\""}})},
      {Storability::status, good, "GET", 206},
      {Storability::status, good, "GET", 304},
      {Storability::status, good, "GET", 103},
      {authorization, good, "GET", 200, "", true},
      {authorization, fields_of({{"Cache-Control", "proxy-revalidate, max-age=60"}}), "GET", 200,
       "", true},
      {storable, fields_of({{"Cache-Control", "public, max-age=60"}}), "GET", 200, "", true},
      {storable, fields_of({{"Cache-Control", "must-revalidate, max-age=60"}}), "GET", 200, "",
       true},
      {storable, fields_of({{"Cache-Control", "s-maxage=60"}}), "GET", 200, "", true},
      {vary_any, fields_of({lives, {"Vary", "*"}})},
      {vary_any, fields_of({lives, {"Vary", "Accept"}, {"Vary", "Cookie , *"}})},
      {storable, fields_of({lives, {"Vary", "Accept"}})},
      {set_cookie, fields_of({lives, {"Set-Cookie", "a=b"}})},
      {no_lifetime, fields_of({})},
      {no_lifetime, fields_of({{"Cache-Control", "max-age=0"}})},
      {no_lifetime, fields_of({{"Cache-Control", "no-cache, max-age=60"}})},
      {no_lifetime, fields_of({{"Expires", "0"}})},
      {no_lifetime, fields_of({lives, {"Age", "60"}})},  // came stale
      {no_lifetime, fields_of({tag}), "GET", 404},
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_EQ(name(judged(rows[row])), name(rows[row].expected)) << row;
  }
}

TEST(Storability, EachReasonHasItsOwnName) {
  std::set<std::string_view> names;
  for (int value = 0; value <= static_cast<int>(Storability::no_lifetime); ++value) {
    names.insert(name(static_cast<Storability>(value)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Storability::no_lifetime) + 1);
}

}  // namespace
}  // namespace ringside::cache
