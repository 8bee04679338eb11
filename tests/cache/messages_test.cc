#include "cache/messages.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache/cache_key.h"
#include "http1/head_parser.h"
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

const Asking as_it_is;

Asking to_fill(const StoredHead* validated = nullptr) {
  Asking asking;
  asking.fills = true;
  asking.validated = validated;
  return asking;
}

std::string origin_head(std::string_view bytes, const Asking& asking,
                        std::string_view country = "DE") {
  http::RequestHead request;
  const auto parsed = http::parse_request_head(bytes, http::HeadLimits::defaults(), request);
  EXPECT_TRUE(parsed) << parsed.error().message;
  RequestContext context;
  context.method = request.method;
  context.host = "a.test";
  context.country = country;
  EXPECT_TRUE(http::normalise_target(request.target, context.target));
  http::FieldLines fields;
  fields.add("left", "from before");
  write_origin_fields(fields, request, context, Settings{}, "cache-3", asking);
  return std::string(fields.text());
}

TEST(OriginHead, AsksForTheWholeWhereItFillsTheStore) {
  EXPECT_EQ(origin_head(some_request, to_fill()),
            "Accept: x\r\n"
            "Via: 1.1 one, 1.0 two, 1.1 cache-3\r\nX-Country: DE\r\n");
}

TEST(OriginHead, KeepsTheClientsConditionsWhereItIsPassedOn) {
  EXPECT_EQ(origin_head(some_request, as_it_is),
            "Accept: x\r\nIf-None-Match: \"c\"\r\n"
            "if-modified-since: Sun, 06 Nov 1994 08:49:37 GMT\r\nRange: bytes=0-1\r\n"
            "If-Range: \"c\"\r\nVia: 1.1 one, 1.0 two, 1.1 cache-3\r\nX-Country: DE\r\n");
}

TEST(OriginHead, ConditionsAreTheStoredValidators) {
  http::ResponseHead response;
  response.status = 200;
  response.fields = fields_of({{"ETag", "W/\"s\""}, {"Last-Modified", "then"}});
  const StoredHead both(response, {{}, "cache-3", {}, "", {}});
  EXPECT_THAT(origin_head(some_request, to_fill(&both)),
              HasSubstr("X-Country: DE\r\nIf-None-Match: W/\"s\"\r\nIf-Modified-Since: then\r\n"));
  response.fields = fields_of({});
  const StoredHead none(response, {{}, "cache-3", {}, "", {}});
  EXPECT_EQ(origin_head(some_request, to_fill(&none)), origin_head(some_request, to_fill()));
}

TEST(OriginHead, Rfc9110Section13_1_5AsksForTheRestOfWhatIsStored) {
  http::ResponseHead response;
  response.status = 200;
  response.fields = fields_of({{"ETag", "\"s\""}, {"Last-Modified", "then"}});
  const StoredHead stored(response, {{}, "cache-3", {}, "", {}});
  Asking asking = to_fill();
  asking.range = "bytes=5-";
  asking.same_as = &stored;
  EXPECT_THAT(origin_head(some_request, asking),
              HasSubstr("X-Country: DE\r\nRange: bytes=5-\r\nIf-Range: \"s\"\r\n"));
}

TEST(OriginHead, TellsTheCountryOnlyWhereTheSidecarSaidIt) {
  EXPECT_THAT(origin_head(some_request, to_fill(), ""), Not(HasSubstr("X-Country")));
}

std::string ended(const ResponseNotes& notes) {
  http::Response out;
  end_response(out, notes);
  return std::string(out.fields.text());
}

TEST(EndHead, SaysWhatTheNotesSay) {
  ResponseNotes notes;
  notes.status.cache = "cache-3";
  notes.status.hit = true;
  EXPECT_EQ(ended(notes), "Cache-Status: cache-3; hit\r\n");
  notes.age = Seconds{5};
  notes.length_bytes = 0;
  EXPECT_EQ(ended(notes), "Age: 5\r\nContent-Length: 0\r\nCache-Status: cache-3; hit\r\n");
}

TEST(EndHead, TellsOnlyTheSidecarWhatIsInternal) {
  ResponseNotes notes;
  notes.status.cache = "c";
  notes.outcome = metrics::Outcome::hit;
  notes.near_ttl = Milliseconds{1500};
  EXPECT_EQ(ended(notes), "Cache-Status: c\r\n");
  notes.to_sidecar = true;
  EXPECT_EQ(ended(notes),
            "Cache-Status: c\r\nRingside-Outcome: hit\r\nRingside-Near-Ttl-Ms: 1500\r\n");
  notes.near_ttl.reset();
  EXPECT_EQ(ended(notes), "Cache-Status: c\r\nRingside-Outcome: hit\r\n");
}

// Status, reason and fields.
std::string text_of(const http::Response& response) {
  return fmt::format("{} {}\r\n{}{}", response.status, response.reason, response.shared_lines,
                     response.fields.text());
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
  http::Response out;
  out.fields.add("Left", "from before");
  begin_forwarded(out, response, Rules{}, TimePoint{}, "cache-3");
  EXPECT_EQ(text_of(out),
            "299 Odd\r\nContent-Length: 5\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n"
            "Via: 1.1 inner\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nVia: 1.0 cache-3\r\n");
}

// RFC 9110 §8.6
TEST(ForwardedHead, A204KeptTheContentLengthThatItMayNotHave) {
  for (const int status : {200, 204, 304}) {
    http::ResponseHead response;
    response.status = status;
    response.fields = fields_of({{"Content-Length", "0"}, {"Date", "d"}});
    http::Response out;
    begin_forwarded(out, response, Rules{}, TimePoint{}, "cache-3");
    const bool has_length = out.fields.text().find("Content-Length") != std::string_view::npos;
    EXPECT_EQ(has_length, status != 204) << status;
  }
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
  const auto shared =
      std::make_shared<const StoredHead>(response, StoredHead::Making{{}, "cache-3", {}, "", {}});
  const StoredHead& stored = *shared;
  http::Response out;
  out.fields.add("Left", "from before");
  begin_not_modified(out, stored, Rules{});
  EXPECT_EQ(text_of(out),
            "304 Not Modified\r\nDate: d\r\nContent-Location: /l\r\nETag: \"1\"\r\n"
            "Cache-Control: max-age=60\r\nVary: Accept\r\nVia: 1.1 cache-3\r\n");
}

Rules rewriting() {
  Rules rules;
  rules.response_fields.remove = {"X-Powered-By"};
  rules.response_fields.set = {{"Cache-Control", "no-cache"}};
  return rules;
}

TEST(AnswerHead, TheRoutesRulesRewriteFields) {
  http::ResponseHead response;
  response.status = 200;
  response.reason = "OK";
  response.fields = fields_of({{"Date", "d"},
                               {"x-powered-by", "cgi"},
                               {"Cache-Control", "max-age=60"},
                               {"Content-Type", "t"}});
  const auto shared =
      std::make_shared<const StoredHead>(response, StoredHead::Making{{}, "cache-3", {}, "", {}});
  const StoredHead& stored = *shared;
  http::Response out;
  out.fields.add("Left", "from before");
  begin_stored(out, shared, rewriting());
  EXPECT_EQ(text_of(out),
            "200 OK\r\nDate: d\r\nContent-Type: t\r\nVia: 1.1 cache-3\r\n"
            "Cache-Control: no-cache\r\n");
  begin_not_modified(out, stored, rewriting());
  EXPECT_EQ(text_of(out),
            "304 Not Modified\r\nDate: d\r\nVia: 1.1 cache-3\r\n"
            "Cache-Control: no-cache\r\n");
  begin_forwarded(out, response, rewriting(), TimePoint{}, "cache-3");
  EXPECT_EQ(text_of(out),
            "200 OK\r\nDate: d\r\nContent-Type: t\r\nCache-Control: no-cache\r\n"
            "Via: 1.1 cache-3\r\n");
}

TEST(AnswerHead, Rfc9110Section15_3_7) {
  http::ResponseHead response;
  response.status = 200;
  response.reason = "OK";
  response.fields = fields_of({{"Date", "d"}, {"Content-Type", "t"}, {"ETag", "\"1\""}});
  const auto shared =
      std::make_shared<const StoredHead>(response, StoredHead::Making{{}, "cache-3", {}, "", {}});
  const StoredHead& stored = *shared;
  http::Response out;
  out.fields.add("Left", "from before");
  begin_partial(out, stored, Rules{}, "bytes 0-1/5", {});
  EXPECT_EQ(text_of(out),
            "206 Partial Content\r\nDate: d\r\nContent-Type: t\r\nETag: \"1\"\r\n"
            "Via: 1.1 cache-3\r\nContent-Range: bytes 0-1/5\r\n");
  begin_partial(out, stored, Rules{}, {}, "multipart/byteranges; boundary=b");
  EXPECT_EQ(text_of(out),
            "206 Partial Content\r\nDate: d\r\nETag: \"1\"\r\nVia: 1.1 cache-3\r\n"
            "Content-Type: multipart/byteranges; boundary=b\r\n");
  begin_unsatisfiable(out, 5, TimePoint{});
  EXPECT_EQ(text_of(out),
            "416 Range Not Satisfiable\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "Content-Range: bytes */5\r\n");
}

}  // namespace
}  // namespace ringside::cache
