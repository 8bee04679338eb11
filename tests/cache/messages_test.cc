#include "cache/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache/cache_key.h"
#include "tests/cache/some_fields.h"

namespace ringside::cache {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view some_request =
    "GET /a HTTP/1.1\r\nHost: A.test\r\nAccept: x\r\nIf-None-Match: \"c\"\r\n"
    "if-modified-since: Sun, 06 Nov 1994 08:49:37 GMT\r\nRange: bytes=0-1\r\nIf-Range: \"c\"\r\n"
    "Connection: X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\nExpect: 100-continue\r\nX-Country: US\r\n"
    "Ringside-Topology: t\r\nRingside-Extra-Key: DE\r\nVia: 1.1 one\r\nVia: 1.0 two\r\n\r\n";

std::string origin_head(std::string_view bytes, Asking asking,
                        const StoredHead* validated = nullptr, std::string_view country = "DE") {
  http::RequestHead request;
  const auto parsed = http::parse_request_head(bytes, http::HeadLimits::defaults(), request);
  EXPECT_TRUE(parsed) << parsed.error().message;
  Inquiry inquiry;
  inquiry.method = request.method;
  inquiry.host = "a.test";
  inquiry.country = country;
  EXPECT_TRUE(http::normalise_target(request.target, inquiry.target));
  std::string out("left from before");
  write_origin_head(out, request, inquiry, Settings{}, "cache-3", asking, validated);
  return out;
}

TEST(OriginHead, AsksForTheWholeWhereItFillsTheStore) {
  EXPECT_EQ(origin_head(some_request, Asking::whole),
            "GET /a HTTP/1.1\r\nHost: a.test\r\nAccept: x\r\n"
            "Via: 1.1 one, 1.0 two, 1.1 cache-3\r\nX-Country: DE\r\n\r\n");
}

TEST(OriginHead, KeepsTheClientsConditionsWhereItIsPassedOn) {
  EXPECT_EQ(origin_head(some_request, Asking::as_it_is),
            "GET /a HTTP/1.1\r\nHost: a.test\r\nAccept: x\r\nIf-None-Match: \"c\"\r\n"
            "if-modified-since: Sun, 06 Nov 1994 08:49:37 GMT\r\nRange: bytes=0-1\r\n"
            "If-Range: \"c\"\r\nVia: 1.1 one, 1.0 two, 1.1 cache-3\r\nX-Country: DE\r\n\r\n");
}

TEST(OriginHead, ConditionsAreTheStoredValidators) {
  http::ResponseHead response;
  response.status = 200;
  response.fields = fields_of({{"ETag", "W/\"s\""}, {"Last-Modified", "then"}});
  const StoredHead both(response, {}, "cache-3", {}, "");
  EXPECT_THAT(
      origin_head(some_request, Asking::whole, &both),
      HasSubstr("X-Country: DE\r\nIf-None-Match: W/\"s\"\r\nIf-Modified-Since: then\r\n\r\n"));
  response.fields = fields_of({});
  const StoredHead none(response, {}, "cache-3", {}, "");
  EXPECT_EQ(origin_head(some_request, Asking::whole, &none),
            origin_head(some_request, Asking::whole));
}

TEST(OriginHead, TellsTheCountryOnlyWhereTheSidecarSaidIt) {
  EXPECT_THAT(origin_head(some_request, Asking::whole, nullptr, ""), Not(HasSubstr("X-Country")));
}

// RFC 9110 §10.1.1
TEST(OriginHead, PassesTheExpectationOfABodyOn) {
  EXPECT_EQ(origin_head("PUT /a HTTP/1.1\r\nHost: a.test\r\nExpect: 100-Continue\r\n"
                        "Content-Length: 5\r\n\r\n",
                        Asking::as_it_is),
            "PUT /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nExpect: 100-continue\r\n"
            "Via: 1.1 cache-3\r\nX-Country: DE\r\n\r\n");
}

TEST(OriginHead, SendsTheNormalisedTargetAndOurFraming) {
  EXPECT_EQ(origin_head("POST /a/../%7eb?c HTTP/1.0\r\nHost: a.test\r\nContent-Length: 5\r\n\r\n",
                        Asking::as_it_is),
            "POST /~b?c HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nVia: 1.0 cache-3\r\n"
            "X-Country: DE\r\n\r\n");
  EXPECT_EQ(origin_head("PUT /? HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n",
                        Asking::as_it_is),
            "PUT /? HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nVia: 1.1 cache-3\r\n"
            "X-Country: DE\r\n\r\n");
}

std::string ended(const AnswerNotes& notes) {
  std::string out;
  end_head(out, notes);
  return out;
}

TEST(EndHead, SaysWhatTheNotesSay) {
  AnswerNotes notes;
  notes.status.cache = "cache-3";
  notes.status.hit = true;
  EXPECT_EQ(ended(notes), "Cache-Status: cache-3; hit\r\n\r\n");
  notes.age = Seconds{5};
  notes.length_bytes = 0;
  EXPECT_EQ(ended(notes), "Age: 5\r\nContent-Length: 0\r\nCache-Status: cache-3; hit\r\n\r\n");
  notes.length_bytes.reset();
  notes.coding = http::Coding::chunked;
  EXPECT_EQ(ended(notes),
            "Age: 5\r\nCache-Status: cache-3; hit\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(EndHead, Rfc9112Section9Point3SaysHowTheConnectionGoesOn) {
  struct Row {
    bool keep_alive;
    int minor_version;
    std::string said;
  };
  const std::vector<Row> rows{{true, 1, ""},
                              {false, 1, "Connection: close\r\n"},
                              {true, 0, "Connection: keep-alive\r\n"},
                              {false, 0, "Connection: close\r\n"}};
  for (const Row& row : rows) {
    AnswerNotes notes;
    notes.status.cache = "c";
    notes.keep_alive = row.keep_alive;
    notes.client_minor_version = row.minor_version;
    EXPECT_EQ(ended(notes), "Cache-Status: c\r\n" + row.said + "\r\n");
  }
}

TEST(EndHead, TellsOnlyTheSidecarWhatIsInternal) {
  AnswerNotes notes;
  notes.status.cache = "c";
  notes.outcome = metrics::Outcome::hit;
  notes.near_ttl = Milliseconds{1500};
  EXPECT_EQ(ended(notes), "Cache-Status: c\r\n\r\n");
  notes.to_sidecar = true;
  EXPECT_EQ(ended(notes),
            "Cache-Status: c\r\nRingside-Outcome: hit\r\nRingside-Near-Ttl-Ms: 1500\r\n\r\n");
  notes.near_ttl.reset();
  EXPECT_EQ(ended(notes), "Cache-Status: c\r\nRingside-Outcome: hit\r\n\r\n");
}

TEST(ForwardedHead, LeavesOutHopsAndInternals) {
  http::ResponseHead response;
  response.status = 299;
  response.reason = "Odd";
  response.minor_version = 0;
  response.fields = fields_of({{"Content-Length", "5"},
                               {"Connection", "X-Hop"},
                               {"X-Hop", "1"},
                               {"Transfer-Encoding", "chunked"},
                               {"Ringside-Outcome", "hit"},
                               {"Set-Cookie", "a"},
                               {"Set-Cookie", "b"},
                               {"Via", "1.1 inner"}});
  std::string out("left from before");
  begin_forwarded_head(out, response, TimePoint{}, "cache-3");
  EXPECT_EQ(out,
            "HTTP/1.1 299 Odd\r\nContent-Length: 5\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n"
            "Via: 1.1 inner\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nVia: 1.0 cache-3\r\n");
}

TEST(NotModifiedHead, Rfc9110Section15Point4Point5) {
  http::ResponseHead response;
  response.status = 200;
  response.fields = fields_of({{"Date", "d"},
                               {"Content-Type", "t"},
                               {"content-encoding", "e"},
                               {"Content-Location", "/l"},
                               {"ETag", "\"1\""},
                               {"Cache-Control", "max-age=60"},
                               {"Vary", "Accept"}});
  const StoredHead stored(response, {}, "cache-3", {}, "");
  std::string out("left from before");
  begin_not_modified_head(out, stored);
  EXPECT_EQ(out,
            "HTTP/1.1 304 Not Modified\r\nDate: d\r\nContent-Location: /l\r\nETag: \"1\"\r\n"
            "Cache-Control: max-age=60\r\nVary: Accept\r\nVia: 1.1 cache-3\r\n");
}

}  // namespace
}  // namespace ringside::cache
