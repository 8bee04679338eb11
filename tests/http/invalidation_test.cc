#include "http/invalidation.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"

namespace ringside::http {
namespace {

using Targets = std::vector<std::string>;

Target target_of(std::string_view text) {
  Target target;
  EXPECT_TRUE(normalise_target(text, target)) << text;
  return target;
}

struct Answer {
  int status = 200;
  std::string location;  // empty: none
  std::string content_location;
};

Targets invalidated(std::string_view method, std::string_view host, std::string_view target,
                    const Answer& answer) {
  Fields fields;
  fields.add("Content-Type", "text/plain");
  if (!answer.location.empty()) fields.add("Location", answer.location);
  if (!answer.content_location.empty()) fields.add("Content-Location", answer.content_location);
  return invalidated_targets(method, host, target_of(target), answer.status, fields);
}

// What Location adds to a POST to http://a.test/dir/page?q, in either field.
void expect_added(std::string_view host, const std::string& reference, const Targets& added) {
  Targets all{"/dir/page?q"};
  all.insert(all.end(), added.begin(), added.end());
  EXPECT_EQ(invalidated("POST", host, "/dir/page?q", {201, reference, ""}), all) << reference;
  EXPECT_EQ(invalidated("POST", host, "/dir/page?q", {201, "", reference}), all) << reference;
}

TEST(InvalidatedTargets, Rfc9110Section9Point2Point1OnlyMethodsThatAreKnownToBeSafeAre) {
  for (const std::string_view safe : {"GET", "HEAD", "OPTIONS", "TRACE"}) {
    EXPECT_EQ(invalidated(safe, "a.test", "/a", {200, "/b", "/c"}), Targets{}) << safe;
  }
  for (const std::string_view other :
       {"POST", "PUT", "DELETE", "PATCH", "PURGE", "REFRESH", "get", "M-SEARCH", "!"}) {
    EXPECT_EQ(invalidated(other, "a.test", "/a", {}), Targets{"/a"}) << other;
  }
}

TEST(InvalidatedTargets, Rfc9111Section4Point4OnlyAnswersThatAreNoErrorsInvalidate) {
  for (const int status : {200, 201, 204, 206, 299, 300, 303, 304, 399}) {
    EXPECT_EQ(invalidated("DELETE", "a.test", "/a", {status, "/b", ""}), (Targets{"/a", "/b"}))
        << status;
  }
  for (const int status : {100, 101, 199, 400, 404, 409, 500, 502, 599, 999}) {
    EXPECT_EQ(invalidated("DELETE", "a.test", "/a", {status, "/b", ""}), Targets{}) << status;
  }
}

TEST(InvalidatedTargets, Rfc9111Section4Point4TheUrisOfLocationAndContentLocation) {
  struct Row {
    std::string target;
    Answer answer;
    Targets targets;
  };
  for (const auto& [target, answer, targets] :
       std::vector<Row>{{"/a", {201, "", ""}, {"/a"}},
                        {"/a?", {201, "", ""}, {"/a?"}},
                        {"/a", {201, "/b", ""}, {"/a", "/b"}},
                        {"/a", {201, "", "/c"}, {"/a", "/c"}},
                        {"/a", {201, "/b", "/c"}, {"/a", "/b", "/c"}},
                        {"/a", {201, "/b", "http://a.test/b"}, {"/a", "/b"}},  // each once
                        {"/a", {201, "/a", "/a#part"}, {"/a"}},
                        {"/a", {201, "http://b.test/x", "/c"}, {"/a", "/c"}},
                        {"/a", {201, "/%zz", "/c"}, {"/a", "/c"}}}) {
    EXPECT_EQ(invalidated("POST", "a.test", target, answer), targets) << target;
  }
}

TEST(InvalidatedTargets, Rfc9110Section10Point2Point2TheFirstOfSeveralLocationsIsHeard) {
  Fields fields;
  fields.add("location", "/b");
  fields.add("LOCATION", "/c");
  EXPECT_EQ(invalidated_targets("POST", "a.test", target_of("/a"), 201, fields),
            (Targets{"/a", "/b"}));
}

TEST(InvalidatedTargets, Rfc3986Section5Point2ReferencesAreResolved) {
  for (const auto& [reference, added] : std::vector<std::pair<std::string, Targets>>{
           {"/b", {"/b"}},
           {"/b?x=1#part", {"/b?x=1"}},
           {"other", {"/dir/other"}},
           {"./other", {"/dir/other"}},
           {"../up", {"/up"}},
           {"../../../up", {"/up"}},
           {"..", {"/"}},
           {".", {"/dir/"}},
           {"sub/x/../y?z", {"/dir/sub/y?z"}},
           {"./a:b", {"/dir/a:b"}},
           {"x/a:b", {"/dir/x/a:b"}},
           {"?other", {"/dir/page?other"}},
           {"?", {"/dir/page?"}},
           {"#part", {}},
           {"page", {"/dir/page"}},  // not the query of the base (§5.2.2)
           {"/a/./b/../%63?%2e", {"/a/c?%2E"}},
           {"/%2e%2e/x", {"/x"}},
           {"/\"\xc3\xa9", {"/%22%C3%A9"}},
           {"/.//x", {"//x"}},
           {"/x y", {}},
           {"/%", {}},
           {"/%00", {}}}) {
    expect_added("a.test", reference, added);
  }
}

TEST(InvalidatedTargets, Rfc9110Section4Point3Point1OnlyThoseOfTheSameOrigin) {
  struct Row {
    std::string host;
    std::string reference;
    Targets added;
  };
  for (const auto& [host, reference, added] :
       std::vector<Row>{{"a.test", "http://a.test/b", {"/b"}},
                        {"a.test", "HTTP://A.Test./b", {"/b"}},
                        {"a.test", "http://a.test:80/b", {"/b"}},
                        {"a.test", "http://a.test:/b", {"/b"}},
                        {"a.test", "http://a.test", {"/"}},
                        {"a.test", "http://a.test?x", {"/?x"}},
                        {"a.test", "http://a.test#x", {"/"}},
                        {"a.test", "//a.test/b", {"/b"}},
                        {"a.test", "//A.TEST:80/b", {"/b"}},
                        {"a.test", "http://a.test:8080/b", {}},
                        {"a.test", "http://b.test/b", {}},
                        {"a.test", "http://www.a.test/b", {}},
                        {"a.test", "http://a.test.b.test/b", {}},
                        {"a.test", "//b.test/b", {}},
                        {"a.test", "http://a.test@b.test/b", {}},
                        {"a.test", "http://user@a.test/b", {}},  // RFC 9110 §4.2.4
                        {"a.test", "http://a.test:x/b", {}},
                        {"a.test", "http:///b", {}},
                        {"a.test", "http:b", {}},
                        {"a.test", "http:/b", {}},
                        {"a.test", "ftp://a.test/b", {}},
                        {"a.test", "urn:b", {}},
                        {"a.test", "a.test:80", {}},
                        {"a.test:8080", "http://a.test:8080/b", {"/b"}},
                        {"a.test:8080", "//a.test:8080/b", {"/b"}},
                        {"a.test:8080", "http://a.test/b", {}},
                        {"[2001:db8::1]:81", "http://[2001:DB8::1]:81/b", {"/b"}},
                        {"[2001:db8::1]", "http://[2001:db8::2]/b", {}}}) {
    SCOPED_TRACE(host);
    expect_added(host, reference, added);
  }
}

// The scheme that clients see is not known here; each has its own default port (RFC 9110 §4.2.2).
TEST(InvalidatedTargets, Rfc9110Section4Point3Point2HttpsOfTheSameHostCountsBehindTlsTermination) {
  struct Row {
    std::string host;
    std::string reference;
    Targets added;
  };
  for (const auto& [host, reference, added] :
       std::vector<Row>{{"a.test", "https://a.test/b", {"/b"}},
                        {"a.test", "HTTPS://a.test:443/b", {"/b"}},
                        {"a.test", "//a.test:443/b", {"/b"}},
                        {"a.test:443", "https://a.test/b", {"/b"}},
                        {"a.test:443", "//a.test/b", {"/b"}},
                        {"a.test:8443", "https://a.test:8443/b", {"/b"}},
                        {"a.test", "https://a.test:80/b", {}},
                        {"a.test", "http://a.test:443/b", {}},
                        {"a.test:443", "http://a.test/b", {}},
                        {"a.test:8443", "https://a.test/b", {}},
                        {"a.test", "https://b.test/b", {}}}) {
    SCOPED_TRACE(host);
    expect_added(host, reference, added);
  }
}

TEST(InvalidatedTargets, TheAsteriskIsNoUriOfAStoredResponse) {
  EXPECT_EQ(invalidated("REFRESH", "a.test", "*", {}), Targets{});
  EXPECT_EQ(invalidated("REFRESH", "a.test", "*", {200, "b", "/*"}), (Targets{"/b", "/*"}));
  EXPECT_EQ(invalidated("POST", "a.test", "/a", {200, "*", ""}), (Targets{"/a", "/*"}));
}

TEST(InvalidatedTargets, WhatIsTooLongToBeAskedForIsLeftOut) {
  const std::string longest = "/" + std::string(limits::request_line_size_bytes - 1, 'x');
  EXPECT_EQ(invalidated("POST", "a.test", "/a", {201, longest, "/c"}),
            (Targets{"/a", longest, "/c"}));
  EXPECT_EQ(invalidated("POST", "a.test", "/a", {201, longest + "x", "/c"}), (Targets{"/a", "/c"}));
}

}  // namespace
}  // namespace ringside::http
