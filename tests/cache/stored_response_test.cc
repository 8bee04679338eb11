#include "cache/stored_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/vary.h"
#include "tests/cache/some_fields.h"
#include "tests/support/fake_clock.h"

namespace ringside::cache {
namespace {

using support::FakeClock;
using testing::HasSubstr;
using testing::Not;

std::shared_ptr<const StoredHead> head_of(const http::Fields& fields, int status = 200,
                                          std::string_view reason = "OK") {
  http::ResponseHead response;
  response.status = status;
  response.reason = reason;
  response.fields = fields;
  const Rules rules;
  const auto freshness = freshness_of({status,
                                       fields,
                                       effective_directives(fields, rules),
                                       {FakeClock::start, FakeClock::start},
                                       rules});
  return std::make_shared<const StoredHead>(response,
                                            StoredHead::Making{freshness, "cache-3", {}, {}, {}});
}

std::shared_ptr<const StoredHead> updated(const StoredHead& stored, const http::Fields& fields,
                                          Seconds later = Seconds{100}) {
  return StoredHead::updated(stored, fields, {},
                             {FakeClock::start + later, FakeClock::start + later}, Rules{});
}

TEST(StoredHead, IsTheTextThatIsSent) {
  const auto head =
      head_of(fields_of({{"Date", "Sun, 06 Nov 1994 08:49:30 GMT"}, {"X-A", "1"}, {"x-a", ""}}),
              404, "Not Found");
  EXPECT_EQ(head->lines(),
            "Date: Sun, 06 Nov 1994 08:49:30 GMT\r\nX-A: 1\r\nx-a: \r\n"
            "Via: 1.1 cache-3\r\n");
  EXPECT_EQ(head->status(), 404);
  EXPECT_EQ(head->fields().size(), 4U);
  EXPECT_EQ(head->fields().first("x-a"), "1");
  EXPECT_EQ(head->fields().count("X-A"), 2U);
  EXPECT_EQ(head->fields().first("via"), "1.1 cache-3");
}

TEST(StoredHead, LeavesOutWhatIsForOneConnectionOrOneMoment) {
  const auto head = head_of(fields_of({{"Connection", "close, X-Named"},
                                       {"connection", "Cache-Control, X-Too"},
                                       {"Keep-Alive", "timeout=5"},
                                       {"Transfer-Encoding", "chunked"},
                                       {"Proxy-Authenticate", "Basic"},
                                       {"Trailer", "X"},
                                       {"Upgrade", "h2c"},
                                       {"x-named", "1"},
                                       {"X-Too", "1"},
                                       {"Ringside-Outcome", "hit"},
                                       {"ringside-near-ttl-ms", "5"},
                                       {"Age", "5"},
                                       {"Content-Length", "5"},
                                       {"Cache-Control", "max-age=60"},
                                       {"Content-Type", "text/plain"}}));
  std::string names;
  for (const http::Field& field : head->fields()) names.append(field.name).append(" ");
  EXPECT_EQ(names, "Cache-Control Content-Type Via Date ");
}

// RFC 9110 §6.6.1: who stores a response without Date adds one.
TEST(StoredHead, GetsADateWhereTheOriginHasNoClock) {
  EXPECT_EQ(head_of(fields_of({}))->fields().first("date"), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(StoredHead, KeepsTheViaOfHopsBefore) {
  const auto head = head_of(fields_of({{"Via", "1.0 inner"}}));
  EXPECT_EQ(head->fields().combined("via"), "1.0 inner, 1.1 cache-3");
}

TEST(UpdatedHead, Rfc9111Section3Point2ReplacesFieldsAndKeepsTheRest) {
  const auto stored = head_of(fields_of({{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                                         {"Cache-Control", "max-age=1"},
                                         {"X-Two", "a"},
                                         {"X-Two", "b"},
                                         {"X-Kept", "k"},
                                         {"Content-Type", "text/plain"},
                                         {"Content-Encoding", "gzip"},
                                         {"ETag", "\"1\""}}));
  const auto head = updated(*stored, fields_of({{"Date", "Sun, 06 Nov 1994 08:51:17 GMT"},
                                                {"cache-control", "max-age=60"},
                                                {"x-two", "c"},
                                                {"X-New", "n"},
                                                {"Content-Type", "text/html"},
                                                {"Content-Encoding", "br"},
                                                {"Content-Range", "bytes 0-0/1"},
                                                {"Content-Length", "0"},
                                                {"Connection", "X-Hop"},
                                                {"X-Hop", "h"},
                                                {"Age", "3"},
                                                {"Via", "1.1 other"},
                                                {"Ringside-Outcome", "hit"}}));
  EXPECT_EQ(head->lines(),
            "X-Kept: k\r\nContent-Encoding: gzip\r\nETag: \"1\"\r\nVia: 1.1 "
            "cache-3\r\n"
            "Date: Sun, 06 Nov 1994 08:51:17 GMT\r\ncache-control: max-age=60\r\nx-two: c\r\n"
            "X-New: n\r\nContent-Type: text/html\r\n");
  EXPECT_EQ(head->fields().first("x-new"), "n");
  EXPECT_EQ(head->freshness().lifetime, Seconds{60});
  EXPECT_EQ(head->freshness().received, FakeClock::start + Seconds{100});
  EXPECT_EQ(stored->fields().combined("x-two"), "a, b");
}

TEST(UpdatedHead, IsNotStaleAtOnceWhere304HasNoDate) {
  const auto stored = head_of(
      fields_of({{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"}, {"Cache-Control", "max-age=60"}}));
  const auto head = updated(*stored, fields_of({{"ETag", "\"1\""}}));
  EXPECT_EQ(head->fields().combined("date"), "Sun, 06 Nov 1994 08:51:17 GMT");
  EXPECT_EQ(age(head->freshness(), FakeClock::start + Seconds{100}), Seconds{0});
}

TEST(UpdatedHead, IsAsOldAs304SaysItIs) {
  const auto stored = head_of(fields_of({{"Cache-Control", "max-age=60"}, {"Age", "7"}}));
  EXPECT_EQ(stored->freshness().initial_age, Seconds{7});
  const auto head = updated(*stored, fields_of({{"Age", "25"}}));
  EXPECT_EQ(head->freshness().initial_age, Seconds{25});
  EXPECT_THAT(std::string(head->lines()), Not(HasSubstr("Age: 25")));
}

TEST(UpdatedHead, KeepsStatusAndVariant) {
  http::ResponseHead response;
  response.status = 404;
  response.reason = "Not Here";
  response.fields = fields_of({{"Vary", "Accept"}});
  const StoredHead stored(response, {{}, "cache-3", {"accept"}, "accept:a,\n", {}});
  const auto head = updated(stored, fields_of({}));
  EXPECT_EQ(head->status(), 404);
  EXPECT_EQ(head->reason(), "Not Here");
  EXPECT_EQ(head->vary(), stored.vary());
  EXPECT_EQ(head->variant(), stored.variant());
}

constexpr ExchangeTimes later{FakeClock::start + Seconds{100}, FakeClock::start + Seconds{100}};

std::string names_of(const StoredHead& head) {
  std::string names;
  for (const http::Field& field : head.fields()) names.append(field.name).append(" ");
  return names;
}

// RFC 9111 §3.3: a part is kept as what it is part of.
TEST(StoredHead, Rfc9111Section3_3APartIsKeptAsThe200ThatItIsPartOf) {
  const auto head = head_of(fields_of({{"Content-Range", "bytes 0-4/10"},
                                       {"Content-Length", "5"},
                                       {"ETag", "\"1\""},
                                       {"Date", "Sun, 06 Nov 1994 08:49:37 GMT"}}),
                            206, "Partial Content");
  EXPECT_EQ(head->status(), 200);
  EXPECT_TRUE(head->reason() == "OK" && head->status() == 200);
  EXPECT_EQ(names_of(*head), "ETag Date Via ");
}

TEST(StoredHead, Rfc9111Section5_2_2_7LeavesOutWhatIsWithheld) {
  http::ResponseHead response;
  response.status = 200;
  response.reason = "OK";
  response.fields = fields_of({{"X-User", "me"},
                               {"x-user", "too"},
                               {"Set-Cookie", "a=b"},
                               {"X-Users", "all"},
                               {"Date", "Sun, 06 Nov 1994 08:49:37 GMT"}});
  const StoredHead head(response, {{}, "cache-3", {}, {}, {"x-USER", "set-cookie"}});
  EXPECT_EQ(names_of(head), "X-Users Date Via ");
}

TEST(UpdatedHead, Rfc9111Section5_2_2_7WhatA304NewlyWithholdsIsRemoved) {
  const auto stored = head_of(fields_of({{"Cache-Control", "max-age=60"},
                                         {"X-User", "me"},
                                         {"X-All", "a"},
                                         {"Date", "Sun, 06 Nov 1994 08:49:37 GMT"}}));
  for (const auto* control :
       {"max-age=60, private=\"x-user\"", "max-age=60, no-cache=\"X-User\""}) {
    const auto silent = updated(*stored, fields_of({{"Cache-Control", control}}));
    EXPECT_FALSE(silent->fields().has("x-user")) << control;
    EXPECT_EQ(silent->fields().first("x-all"), "a");
    EXPECT_EQ(silent->freshness().lifetime, Seconds{60});
    EXPECT_FALSE(silent->freshness().no_cache);
    const auto saying =
        updated(*stored, fields_of({{"Cache-Control", control}, {"X-User", "you"}}));
    EXPECT_FALSE(saying->fields().has("x-user")) << control;
  }
}

TEST(UpdatedHead, Rfc9111Section5_2_2_7WhatTheStoredOneWithholdsCountsWhereThe304IsSilent) {
  const auto stored = head_of(fields_of({{"Cache-Control", "max-age=60, private=\"x-user\""}}));
  const auto head = updated(*stored, fields_of({{"X-User", "you"}, {"X-All", "a"}}));
  EXPECT_FALSE(head->fields().has("x-user"));
  EXPECT_EQ(head->fields().first("x-all"), "a");
  // And where it takes the word back, it is a field like others.
  const auto freed =
      updated(*stored, fields_of({{"Cache-Control", "max-age=60"}, {"X-User", "all"}}));
  EXPECT_EQ(freed->fields().first("x-user"), "all");
}

// RFC 9213 §2.1: a targeted field says it in Cache-Control's place.
TEST(UpdatedHead, Rfc9213Section2_1ATargetedFieldWithholdsToo) {
  const auto stored = head_of(fields_of(
      {{"Cache-Control", "max-age=60"}, {"CDN-Cache-Control", "max-age=90"}, {"X-User", "me"}}));
  const auto head =
      updated(*stored, fields_of({{"CDN-Cache-Control", "max-age=10, private=\"x-user\""}}));
  EXPECT_EQ(head->freshness().lifetime, Seconds{10});
  EXPECT_FALSE(head->fields().has("x-user"));
}

TEST(UpdatedHead, Rfc9111Section7_3A304sCookieIsStoredOnlyWhereTheRouteSaysSo) {
  const auto stored = head_of(fields_of({{"Cache-Control", "max-age=60"}}));
  const auto fields = fields_of({{"Set-Cookie", "a=b"}});
  for (const SetCookie rule : {SetCookie::pass, SetCookie::strip, SetCookie::store}) {
    Rules rules;
    rules.set_cookie = rule;
    const auto head = StoredHead::updated(*stored, fields, {}, later, rules);
    EXPECT_EQ(head->fields().has("set-cookie"), rule == SetCookie::store);
  }
}

// A part's digest and coding describe the bytes that are kept.
TEST(UpdatedHead, Rfc9111Section3_2WhatDescribesTheStoredBytesStays) {
  const auto stored = head_of(fields_of({{"Cache-Control", "max-age=60"},
                                         {"Content-Encoding", "gzip"},
                                         {"Repr-Digest", "sha-256=:old:"},
                                         {"Content-MD5", "old"}}));
  const auto head = updated(*stored, fields_of({{"Content-Encoding", "identity"},
                                                {"repr-digest", "sha-256=:new:"},
                                                {"Content-MD5", "new"},
                                                {"Content-Digest", "sha-256=:new:"},
                                                {"Content-Language", "en"}}));
  EXPECT_EQ(head->fields().combined("content-encoding"), "gzip");
  EXPECT_EQ(head->fields().combined("repr-digest"), "sha-256=:old:");
  EXPECT_EQ(head->fields().combined("content-md5"), "old");
  EXPECT_FALSE(head->fields().has("content-digest"));
  EXPECT_EQ(head->fields().first("content-language"), "en");
}

// What it varies on now is told apart by the request that was asked with.
TEST(UpdatedHead, Rfc9111Section4_1A304MayNameAnotherVary) {
  const auto stored = head_of(fields_of({{"Cache-Control", "max-age=60"}}));
  const auto request = fields_of({{"Accept-Language", "de"}});
  const auto head = StoredHead::updated(*stored, fields_of({{"Vary", "Accept-Language"}}), request,
                                        later, Rules{});
  EXPECT_EQ(head->vary(), std::vector<std::string>{"accept-language"});
  EXPECT_EQ(head->variant(), http::variant_key(head->vary(), request));
  EXPECT_NE(head->variant(), http::variant_key(head->vary(), {}));
}

}  // namespace
}  // namespace ringside::cache
