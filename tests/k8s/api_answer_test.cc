#include "k8s/api_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "tests/k8s/some_objects.h"

namespace ringside::k8s {
namespace {

using testing::HasSubstr;
using testing::Not;

const Question question{"list", "statefulsets.apps", "shop"};

std::string status_object(int code, const std::string& reason, const std::string& message,
                          const json& details = nullptr) {
  return json{{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"}, {"code", code},
              {"reason", reason}, {"message", message}, {"details", details}}
      .dump();
}

std::string forbidden_to(const std::string& user) {
  return status_object(403, "Forbidden",
                       "statefulsets.apps is forbidden: User \"" + user +
                           "\" cannot list resource \"statefulsets\" in API group \"apps\" in the "
                           "namespace \"shop\"");
}

Failure failure(int status, std::string_view body, std::string_view retry_after = "") {
  return failure_of(status, retry_after, body, question, "the service account");
}

TEST(ApiAnswer, NamesTheRightThatIsMissing) {
  const Failure of_account = failure(403, forbidden_to("system:serviceaccount:shop:ringside"));
  EXPECT_EQ(of_account.reason, FailureReason::forbidden);
  EXPECT_EQ(of_account.message,
            "may not list statefulsets.apps in namespace shop (as "
            "system:serviceaccount:shop:ringside): give the ServiceAccount a Role with the verbs "
            "get, list and watch on it, as k8s/base/service-account.yaml has it");
  EXPECT_THAT(failure(403, forbidden_to("jane")).message,
              HasSubstr("(as jane): give the user a Role"));
  EXPECT_THAT(failure(403, forbidden_to("system:anonymous")).message,
              HasSubstr("given nothing to know us by: give a token or a client certificate (the "
                        "service account)"));
}

TEST(ApiAnswer, SaysOfAnother403WhatTheServerSaid) {
  for (const char* body : {"no way", R"({"kind": "Status", "message": "no way"})",
                           R"({"kind": "Status", "message": 5, "x": "no way"})"}) {
    const Failure told = failure(403, body);
    EXPECT_EQ(told.reason, FailureReason::forbidden) << body;
    EXPECT_THAT(told.message, HasSubstr("may not list statefulsets.apps in namespace shop (with "
                                        "the service account)"));
    EXPECT_THAT(told.message, HasSubstr("no way"));
  }
  EXPECT_THAT(failure(403, R"({"kind": "Status", "message": "User \"cut"})").message,
              HasSubstr("User \"cut"));
}

struct Answer {
  int status;
  std::string body;
  FailureReason reason;
  const char* word;
};

TEST(ApiAnswer, SaysWhyAndWhatHelps) {
  const Answer table[] = {
      {401, status_object(401, "Unauthorized", "Unauthorized"), FailureReason::unauthorized,
       "answered 401: Unauthorized; it does not believe the token or certificate of the service "
       "account"},
      {401, "", FailureReason::unauthorized, "answered 401; it does not believe"},
      {404, "404 page not found\n", FailureReason::not_found,
       "answered 404: 404 page not found; is this the API server's address"},
      {410, status_object(410, "Expired", "too old resource version: 2 (747)"), FailureReason::gone,
       "everything is listed again"},
      {410, "", FailureReason::gone, "everything is listed again"},
      {400, status_object(400, "Expired", "x"), FailureReason::gone, "answered 400"},
      {504,
       status_object(504, "Timeout", "Timeout: Too large resource version: 9, current: 3",
                     {{"causes", json::array({{{"reason", "ResourceVersionTooLarge"}}})}}),
       FailureReason::gone, "Too large resource version"},
      {504, status_object(504, "Timeout", "slow"), FailureReason::other, "it is asked again"},
      {500, "oops", FailureReason::other, "answered 500: oops; it is asked again"},
      {503, "", FailureReason::other, "answered 503; it is asked again"},
      {429, "", FailureReason::throttled, "asked again later"},
      {302, "", FailureReason::other, "is this a Kubernetes API server's address"},
      {204, "", FailureReason::other, "answered 204"},
      {400, "bad", FailureReason::other, "answered 400: bad"},
      // The status line counts, whatever code a body tells.
      {500, status_object(403, "Forbidden", "x"), FailureReason::other, "answered 500"},
  };
  for (const Answer& row : table) {
    const Failure told = failure(row.status, row.body);
    EXPECT_EQ(told.reason, row.reason) << row.status << row.body << name(told.reason);
    EXPECT_THAT(told.message, HasSubstr(row.word)) << row.status;
    EXPECT_EQ(told.retry_after, std::nullopt) << row.status;
    if (row.status != 403) {
      EXPECT_THAT(told.message, HasSubstr("cannot list statefulsets.apps in namespace shop"));
    }
  }
}

TEST(ApiAnswer, WaitsAsLongAsItIsAsked) {
  using Wait = std::optional<Milliseconds>;
  const std::pair<const char*, Wait> table[] = {
      {"1", Seconds(1)},
      {"0", Seconds(0)},
      {" 7\t", Seconds(7)},
      {"007", Seconds(7)},
      {"60", limits::api_retry_after_most},
      {"61", limits::api_retry_after_most},
      {"4294967297", limits::api_retry_after_most},
      {"99999999999999999999999999", limits::api_retry_after_most},
      {"", std::nullopt},
      {" ", std::nullopt},
      {"-1", std::nullopt},
      {"+1", std::nullopt},
      {"1.5", std::nullopt},
      {"1s", std::nullopt},
      {"soon", std::nullopt},
      {"Fri, 31 Dec 1999 23:59:59 GMT", std::nullopt},
  };
  for (const auto& [text, wait] : table) {
    const Failure told = failure(429, "", text);
    EXPECT_EQ(told.retry_after, wait) << text;
    EXPECT_EQ(told.reason, FailureReason::throttled) << text;
    const Failure unavailable = failure(503, "", text);
    EXPECT_EQ(unavailable.reason, wait ? FailureReason::throttled : FailureReason::other) << text;
  }
}

TEST(ApiAnswer, WaitsAsLongAsTheBodyAsksWithoutAHeader) {
  const std::string body =
      status_object(503, "ServiceUnavailable", "x", {{"retryAfterSeconds", 9}});
  EXPECT_EQ(failure(503, body).retry_after, Seconds(9));
  EXPECT_EQ(failure(503, body).reason, FailureReason::throttled);
  EXPECT_EQ(failure(503, body, "3").retry_after, Seconds(3));
  EXPECT_EQ(failure(503, body, "junk").retry_after, Seconds(9));
  const std::string long_wait =
      status_object(429, "TooManyRequests", "x", {{"retryAfterSeconds", 86400}});
  EXPECT_EQ(failure(429, long_wait).retry_after, limits::api_retry_after_most);
  const std::string junk = status_object(429, "x", "said", {{"retryAfterSeconds", -1}});
  EXPECT_EQ(failure(429, junk).retry_after, std::nullopt);
}

TEST(ApiAnswer, QuotesALittleOfWhateverABodyIs) {
  const std::string bodies[] = {
      "<html>\r\n<head><title>502</title></head>\n\x1b[31m" + std::string(100'000, 'x'),
      std::string("\0\0\xff\xfe", 4),
      R"({"kind": "Status", "message": ")" + std::string(5000, 'y') + "\"}",
      R"({"kind": "Status", "message": "cut)",
      R"(["Status"])",
      R"({"kind": ["Status"]})",
      "\"text\"",
      std::string(1'000'000, '['),
      " \n ",
  };
  for (const int status : {200, 302, 400, 401, 403, 404, 410, 429, 500, 502, 503}) {
    for (const std::string& body : bodies) {
      const Failure told = failure(status, body);
      EXPECT_LT(told.message.size(), 600U) << told.message;
      for (const char c : told.message) {
        ASSERT_FALSE(static_cast<unsigned char>(c) < ' ' || c == '\x7f') << told.message;
      }
    }
  }
  EXPECT_THAT(failure(502, bodies[0]).message, HasSubstr("<html> <head><title>502</title>"));
  EXPECT_THAT(failure(502, bodies[0]).message, HasSubstr("?[31mxxx"));
  EXPECT_THAT(failure(502, bodies[0]).message, HasSubstr("…"));
  EXPECT_THAT(failure(502, "short").message, Not(HasSubstr("…")));
  const Failure long_user = failure(403, forbidden_to(std::string(5000, 'u') + "\n"));
  EXPECT_LT(long_user.message.size(), 600U);
}

std::string group(const std::string& preferred, const std::vector<std::string>& versions) {
  json out{{"kind", "APIGroup"}, {"name", "discovery.k8s.io"}, {"versions", json::array()}};
  for (const std::string& version : versions) {
    out["versions"].push_back(
        {{"groupVersion", "discovery.k8s.io/" + version}, {"version", version}});
  }
  if (!preferred.empty()) {
    out["preferredVersion"] = {{"groupVersion", "discovery.k8s.io/" + preferred},
                               {"version", preferred}};
  }
  return out.dump();
}

TEST(ApiAnswer, ChoosesTheVersionOfSlices) {
  const std::pair<std::string, const char*> table[] = {
      {group("v1", {"v1"}), "v1"},
      {group("v1", {"v1", "v1beta1"}), "v1"},
      {group("v1beta1", {"v1beta1"}), "v1beta1"},
      {group("v1beta1", {"v1", "v1beta1"}), "v1beta1"},
      {group("v2", {"v2", "v1beta1", "v1"}), "v1"},
      {group("v2", {"v2", "v1beta1"}), "v1beta1"},
      {group("", {"v1beta1", "v1"}), "v1"},
  };
  for (const auto& [document, version] : table) {
    const auto chosen = endpoint_slice_version(document);
    ASSERT_TRUE(chosen) << document << chosen.error().message;
    EXPECT_EQ(*chosen, version) << document;
  }
}

TEST(ApiAnswer, RefusesAGroupWithoutAVersionThatItKnows) {
  for (const std::string& document : {group("v2", {"v2"}), group("", {}), std::string("{}")}) {
    const auto chosen = endpoint_slice_version(document);
    EXPECT_TRUE(failed_as(chosen, FailureReason::not_found, "1.17 or newer")) << document;
  }
  for (const char* document :
       {"", "<html>", "[]", R"({"versions": 1})", R"({"versions": [{"version": 1}]})",
        R"({"preferredVersion": "v1", "versions": []})"}) {
    EXPECT_TRUE(failed_as(endpoint_slice_version(document), FailureReason::malformed)) << document;
  }
}

}  // namespace
}  // namespace ringside::k8s
