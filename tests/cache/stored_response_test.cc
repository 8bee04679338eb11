#include "cache/stored_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  const auto freshness = freshness_of(fields, http::parse_response_directives(fields),
                                      {FakeClock::start, FakeClock::start});
  return std::make_shared<const StoredHead>(response, freshness, "cache-3",
                                            std::vector<std::string>{}, std::string{});
}

std::shared_ptr<const StoredHead> updated(const StoredHead& stored, const http::Fields& fields,
                                          Seconds later = Seconds{100}) {
  return StoredHead::updated(stored, fields, {FakeClock::start + later, FakeClock::start + later});
}

TEST(StoredHead, IsTheTextThatIsSent) {
  const auto head =
      head_of(fields_of({{"Date", "Sun, 06 Nov 1994 08:49:30 GMT"}, {"X-A", "1"}, {"x-a", ""}}),
              404, "Not Found");
  EXPECT_EQ(head->text(),
            "HTTP/1.1 404 Not Found\r\nDate: Sun, 06 Nov 1994 08:49:30 GMT\r\nX-A: 1\r\nx-a: \r\n"
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
  EXPECT_EQ(head->text(),
            "HTTP/1.1 200 OK\r\nX-Kept: k\r\nContent-Encoding: gzip\r\nETag: \"1\"\r\nVia: 1.1 "
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
  EXPECT_THAT(std::string(head->text()), Not(HasSubstr("Age: 25")));
}

TEST(UpdatedHead, KeepsStatusAndVariant) {
  http::ResponseHead response;
  response.status = 404;
  response.reason = "Not Here";
  const StoredHead stored(response, {}, "cache-3", {"accept"}, "accept:a,\n");
  const auto head = updated(stored, fields_of({}));
  EXPECT_EQ(head->status(), 404);
  EXPECT_THAT(std::string(head->text()), HasSubstr("HTTP/1.1 404 Not Here\r\n"));
  EXPECT_EQ(head->vary(), stored.vary());
  EXPECT_EQ(head->variant(), stored.variant());
}

}  // namespace
}  // namespace ringside::cache
