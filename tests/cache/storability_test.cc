#include "cache/storability.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/detail.h"
#include "tests/cache/some_fields.h"
#include "tests/support/fake_clock.h"
#include "tests/support/pages.h"

namespace ringside::cache {
namespace {

// Whoever reads such a word in Cache-Status finds it there, and no other word.
TEST(Storability, TheTableOfTheDocsHasEachDetailAndNoOther) {
  std::set<std::string> said(detail::all.begin(), detail::all.end());
  for (int i = 1; i <= static_cast<int>(Storability::no_lifetime); ++i) {
    said.emplace(name(static_cast<Storability>(i)));
  }
  EXPECT_EQ(support::rows_of("/docs/cache-status.md", "detail="), said);
}

struct Row {
  Storability expected;
  http::Fields fields;  // of the response
  std::string_view method = "GET";
  int status = 200;
  std::string_view request{};  // Cache-Control
  bool authorized = false;
};

struct Circumstances {
  Rules rules = {};
  bool content_location_is_target = false;
  bool is_understood_part = false;
};

Storability judged(const Row& row, const Circumstances& also = {}) {
  const TimePoint now = support::FakeClock::start;
  const auto directives = effective_directives(row.fields, also.rules);
  const auto asked = http::parse_request_directives(fields_of({{"Cache-Control", row.request}}));
  const auto freshness = freshness_of({row.status, row.fields, directives, {now, now}, also.rules});
  return storability({row.method, asked, row.authorized, row.status, row.fields, directives,
                      freshness, also.rules, also.content_location_is_target,
                      also.is_understood_part});
}

void expect_judged(const std::vector<Row>& rows, const Circumstances& also = {}) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_EQ(name(judged(rows[row], also)), name(rows[row].expected)) << row;
  }
}

http::Fields said(std::string_view cache_control) {
  return fields_of({{"Cache-Control", cache_control}});
}

const http::Field lives{"Cache-Control", "max-age=60"};
const http::Field tag{"ETag", "\"a\""};
const http::Field modified{"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"};
const http::Field cookie{"Set-Cookie", "a=b"};

TEST(Storability, Rfc9111Section3MethodAndRequest) {
  using enum Storability;
  const auto good = fields_of({lives});
  expect_judged({
      {storable, good},
      {method, good, "HEAD"},
      {method, good, "PUT"},
      {method, good, "POST"},
      {method, good, "get"},
      {request_said, good, "GET", 200, "no-store"},
      {request_said, said("public, max-age=60"), "GET", 200, "no-store, max-stale"},
      {storable, good, "GET", 200, "no-cache"},
      {storable, good, "GET", 200, "max-age=0"},
  });
}

TEST(Storability, Rfc9110Section9Point3Point3Post) {
  using enum Storability;
  const Circumstances same{.content_location_is_target = true};
  expect_judged(
      {
          {storable, said("max-age=60"), "POST"},
          {storable, said("s-maxage=60"), "POST"},
          {storable, fields_of({{"Expires", "Sun, 06 Nov 1994 08:49:38 GMT"}}), "POST"},
          {no_store, said("max-age=60, no-store"), "POST"},
          {is_private, said("max-age=60, private"), "POST"},
          {no_lifetime, said("max-age=0"), "POST"},
          {method, said("public"), "POST"},
          {method, fields_of({tag}), "POST"},
          {method, fields_of({{"Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT"}}), "POST"},
          {method, said("max-age=60"), "POST", 201},
          {method, said("max-age=60"), "POST", 204},
          {method, said("max-age=60"), "POST", 404},
          {method, said("max-age=60"), "PUT"},
          {method, said("max-age=60"), "HEAD"},
          {storable, said("max-age=60"), "GET"},
      },
      same);
  expect_judged({{method, said("max-age=60"), "POST"}});
  Circumstances by_rule = same;
  by_rule.rules.default_ttl = Seconds{60};  // the response itself says nothing
  expect_judged({{method, fields_of({}), "POST"}}, by_rule);
}

TEST(Storability, Rfc9111Section3EveryFinalStatusWithExplicitFreshness) {
  using enum Storability;
  for (int status = 100; status < 700; ++status) {
    const bool is_stored = status >= 200 && status < 600 && status != 206 && status != 304;
    const auto expected = is_stored ? storable : Storability::status;
    for (const std::string_view directives : {"max-age=60", "s-maxage=60", "public, max-age=60"}) {
      expect_judged({{expected, said(directives), "GET", status}});
    }
  }
  const Circumstances part{.is_understood_part = true};
  expect_judged({{storable, fields_of({lives}), "GET", 206},
                 {storable, fields_of({tag}), "GET", 206},
                 {Storability::status, fields_of({lives}), "GET", 304}},
                part);
}

// Without it: those of RFC 9110 §15.1, and any with `public`.
TEST(Storability, Rfc9111Section3StatusesWithoutALifetime) {
  using enum Storability;
  const auto heuristic = fields_of({{"Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT"}});
  const auto open =
      fields_of({{"Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT"}, {"Cache-Control", "public"}});
  for (int status = 200; status < 600; ++status) {
    if (status == 206 || status == 304) continue;
    const auto expected = is_heuristically_cacheable(status) ? storable : no_lifetime;
    expect_judged({{expected, heuristic, "GET", status}, {storable, open, "GET", status}});
  }
  // Nor may what can be validated be stored, if nobody says that it may.
  expect_judged({{no_lifetime, fields_of({tag}), "GET", 201},
                 {no_lifetime, fields_of({tag}), "GET", 202},
                 {storable, fields_of({tag, {"Cache-Control", "public"}}), "GET", 201},
                 {storable, fields_of({tag, {"Cache-Control", "max-age=0"}}), "GET", 201}});
  Circumstances by_rule;
  by_rule.rules.ttl_by_status = {{302, 302, Seconds{5}}, {404, 404, Seconds{0}}};
  expect_judged({{storable, fields_of({}), "GET", 302},
                 {no_lifetime, fields_of({}), "GET", 303},
                 {no_lifetime, fields_of({}), "GET", 404}},
                by_rule);
}

TEST(Storability, Rfc9111Section5Point2Point2Point5NoStoreAndMustUnderstand) {
  using enum Storability;
  expect_judged({
      {no_store, said("max-age=60, no-store")},
      {no_store, said("public, s-maxage=60, no-store")},
      {no_store, fields_of({lives, {"Cache-Control", "No-Store"}})},
      {no_store, fields_of({lives, tag, {"Cache-Control", "no-store"}})},
      {storable, said("max-age=60, no-store, must-understand")},
      {storable, said("max-age=60, must-understand"), "GET", 404},
      {Storability::status, said("max-age=60, must-understand"), "GET", 299},
      {Storability::status, said("max-age=60, must-understand, no-store"), "GET", 599},
      {Storability::status, said("max-age=60, must-understand"), "GET", 206},
      {is_private, said("max-age=60, no-store, must-understand, private")},
      {request_said, said("max-age=60, no-store, must-understand"), "GET", 200, "no-store"},
  });
  expect_judged({{storable, said("max-age=60, must-understand, no-store"), "GET", 206}},
                {.is_understood_part = true});
}

TEST(Storability, Rfc9111Section5Point2Point2Point7PrivateAndNoCacheWithNames) {
  using enum Storability;
  expect_judged({
      {is_private, said("max-age=60, private")},
      {is_private, said("public, s-maxage=60, private")},
      {is_private, said("max-age=60, private=\"x\", private")},
      {is_private, said("max-age=60, private=\"content-type\"")},
      {storable, said("max-age=60, private=\"x\"")},
      {storable, said("max-age=60, no-cache=\"x\"")},
      {no_lifetime, said("max-age=60, no-cache=\"vary\"")},
      {no_lifetime, said("max-age=60, no-cache")},
      {storable, fields_of({tag, {"Cache-Control", "max-age=60, no-cache"}})},
      {storable, fields_of({modified, {"Cache-Control", "no-cache"}})},
      // What is not kept can't be asked with.
      {no_lifetime, fields_of({tag, {"Cache-Control", "max-age=0, private=\"etag\""}})},
      {no_lifetime, fields_of({tag, {"Cache-Control", "max-age=0, no-cache=\"ETAG\""}})},
      {storable, fields_of({tag, modified, {"Cache-Control", "max-age=0, no-cache=\"etag\""}})},
  });
}

TEST(Storability, Rfc9111Section3Point5Authorization) {
  using enum Storability;
  expect_judged({
      {authorization, said("max-age=60"), "GET", 200, "", true},
      {authorization, said("proxy-revalidate, max-age=60"), "GET", 200, "", true},
      {authorization, said("no-cache=\"x\", max-age=60"), "GET", 200, "", true},
      {authorization, fields_of({tag}), "GET", 200, "", true},
      {storable, said("public, max-age=60"), "GET", 200, "", true},
      {storable, said("must-revalidate, max-age=60"), "GET", 200, "", true},
      {storable, said("s-maxage=60"), "GET", 200, "", true},
      {storable, fields_of({lives, {"CDN-Cache-Control", "public, max-age=60"}}), "GET", 200, "",
       true},
      {authorization, fields_of({{"Cache-Control", "public"}, {"CDN-Cache-Control", "max-age=60"}}),
       "GET", 200, "", true},
      {is_private, said("public, private, max-age=60"), "GET", 200, "", true},
  });
  Circumstances by_rule;  // a route's lifetime opens nothing
  by_rule.rules.heed_origin = false;
  by_rule.rules.default_ttl = Seconds{60};
  expect_judged({{authorization, said("public, max-age=60"), "GET", 200, "", true},
                 {storable, said("public, max-age=60")}},
                by_rule);
}

TEST(Storability, Rfc9111Section4Point1VaryOnAnything) {
  using enum Storability;
  expect_judged({
      {vary_any, fields_of({lives, {"Vary", "*"}})},
      {vary_any, fields_of({lives, {"Vary", "Accept, *"}})},
      {vary_any, fields_of({lives, {"Vary", "Accept"}, {"Vary", "Cookie , *"}})},
      {storable, fields_of({lives, {"Vary", "Accept"}})},
  });
}

TEST(Storability, Rfc9111Section7Point3SetCookie) {
  using enum Storability;
  const std::vector<SetCookie> ways{SetCookie::pass, SetCookie::strip, SetCookie::store};
  for (const SetCookie way : ways) {
    Circumstances also;
    also.rules.set_cookie = way;
    const auto expected = way == SetCookie::pass ? set_cookie : storable;
    expect_judged(
        {{expected, fields_of({lives, cookie})},
         {expected, fields_of({cookie, {"Cache-Control", "public, s-maxage=60"}})},
         {expected, fields_of({cookie, {"Cache-Control", "max-age=60, private=\"x\""}})},
         // The rest is for everybody, as the response says itself.
         {storable, fields_of({cookie, {"Cache-Control", "max-age=60, private=\"Set-Cookie\""}})},
         {storable, fields_of({cookie, {"Cache-Control", "max-age=60, no-cache=\"set-cookie\""}})},
         {is_private, fields_of({cookie, {"Cache-Control", "max-age=60, private"}})}},
        also);
  }
}

TEST(Storability, Rfc9111Section3WhatCouldNeverBeUsed) {
  using enum Storability;
  expect_judged({
      {no_lifetime, fields_of({})},
      {no_lifetime, said("public")},
      {no_lifetime, said("max-age=0")},
      {no_lifetime, said("stale-while-revalidate=0")},
      {no_lifetime, fields_of({{"Expires", "0"}})},
      {no_lifetime, fields_of({tag}), "GET", 404},
      {no_lifetime, fields_of({tag, {"Cache-Control", "max-age=0"}}), "GET", 404},
      {storable, fields_of({tag})},
      {storable, fields_of({modified})},
      {storable, fields_of({tag, {"Cache-Control", "max-age=0"}})},
      {storable, fields_of({tag, {"Cache-Control", "max-age=0, must-revalidate"}})},
      {storable, said("max-age=0, stale-while-revalidate=1")},
      {storable, said("max-age=0, stale-if-error=1")},
      {storable, said("stale-if-error=1")},
      {no_lifetime, said("max-age=0, stale-if-error=1, must-revalidate")},
      {no_lifetime, said("max-age=0, stale-if-error=1, no-cache")},
  });
}

// §5.2.1.2: a client may take it all the same.
TEST(Storability, Rfc9111Section4Point2Point4WhatCameStale) {
  using enum Storability;
  expect_judged({
      {storable, fields_of({lives, {"Age", "59"}})},
      {storable, fields_of({lives, {"Age", "60"}})},
      {storable, fields_of({lives, {"Age", "86459"}})},
      {no_lifetime, fields_of({lives, {"Age", "86460"}})},
      {no_lifetime, fields_of({lives, {"Age", "2147483648"}})},
      {storable, fields_of({lives, tag, {"Age", "2147483648"}})},
      {storable, fields_of({{"Cache-Control", "s-maxage=60"}, {"Age", "59"}})},
      {no_lifetime, fields_of({{"Cache-Control", "s-maxage=60"}, {"Age", "60"}})},
      {no_lifetime, fields_of({{"Cache-Control", "max-age=60, must-revalidate"}, {"Age", "60"}})},
      {no_lifetime, fields_of({{"Cache-Control", "max-age=60, no-cache"}, {"Age", "60"}})},
      {storable,
       fields_of({{"Cache-Control", "max-age=60, stale-if-error=99999"}, {"Age", "100058"}})},
      {no_lifetime,
       fields_of({{"Cache-Control", "max-age=60, stale-if-error=99999"}, {"Age", "100059"}})},
      {storable, fields_of({{"Cache-Control", "max-age=1500"}, {"Age", "2000"}})},
  });
}

TEST(Storability, WhatProtectsSomebodyIsHeededEvenWhereTheOriginIsNot) {
  using enum Storability;
  Circumstances deaf;
  deaf.rules.heed_origin = false;
  deaf.rules.default_ttl = Seconds{60};
  expect_judged({{storable, said("no-cache, max-age=0, must-revalidate")},
                 {storable, fields_of({{"Expires", "0"}})},
                 {storable, said("private=\"x\"")},
                 {is_private, said("private, max-age=60")},
                 {no_store, said("no-store, max-age=60")},
                 {storable, said("no-store, must-understand")},
                 {vary_any, fields_of({{"Vary", "*"}})},
                 {set_cookie, fields_of({cookie})}},
                deaf);
}

TEST(FieldsNotStored, Rfc9111Section3Point1WhatIsNamedAndTheCookies) {
  const auto names = [](std::string_view cache_control, SetCookie way) {
    Rules rules;
    rules.set_cookie = way;
    return fields_not_stored(effective_directives(said(cache_control), rules), rules);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("max-age=60", SetCookie::pass), Names{"Set-Cookie"});  // of a later 304
  EXPECT_EQ(names("max-age=60", SetCookie::store), Names{});
  EXPECT_EQ(names("max-age=60", SetCookie::strip), Names{"Set-Cookie"});
  EXPECT_EQ(names("no-cache=\"a, b\", private=c", SetCookie::store), (Names{"c", "a", "b"}));
  EXPECT_EQ(names("private=\"X\"", SetCookie::strip), (Names{"X", "Set-Cookie"}));
  EXPECT_EQ(names("private=\"Set-Cookie\"", SetCookie::store), Names{"Set-Cookie"});
  // Validated each time: what it names is confirmed with the rest.
  EXPECT_EQ(names("no-cache, no-cache=\"a\"", SetCookie::store), Names{});
  EXPECT_EQ(names("no-cache=\"a, content-type\"", SetCookie::store), Names{});
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
