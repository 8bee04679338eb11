#include "cache/request_context.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http1/head_parser.h"
namespace ringside::cache {
namespace {

Settings settings_of(std::vector<Route> routes) {
  Settings settings;
  std::vector<http::RouteMatch> matches;
  for (const Route& route : routes) matches.push_back(route.match);
  settings.routes = std::move(routes);
  settings.route_table = http::RouteTable::make(matches).value();
  return settings;
}

Settings some_settings() {
  const net::Origin one{Endpoint{"10.0.0.1", 1}};
  const net::Origin two{Endpoint{"10.0.0.2", 2}};
  return settings_of({{"api", {"a.test", "/api"}, {one}}, {"all", {"a.test", "/"}, {two}}});
}

Result<void> read_context(const std::string& bytes, RequestContext& context,
                          const Settings& settings) {
  http::RequestHead request;
  const auto parsed = http::parse_request_head(bytes, http::HeadLimits::defaults(), request);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return cache::read_context(request, settings, "cache-0 (here)", *IpAddress::parse("192.0.2.7"),
                             context);
}

struct UseRow {
  std::string request;  // to the end of its fields
  bool may_use;
  bool may_fill;
  StoreObjection objection = StoreObjection::none;
};

TEST(RequestContext, KnowsWhatTheStoreMayBeAskedFor) {
  const auto settings = some_settings();
  using enum StoreObjection;
  const std::vector<UseRow> rows{
      {"GET / HTTP/1.1\r\nHost: a.test\r\n", true, true},
      {"GET / HTTP/1.0\r\nHost: a.test\r\n", true, true},
      {"HEAD / HTTP/1.1\r\nHost: a.test\r\n", true, false, method},
      {"POST / HTTP/1.1\r\nHost: a.test\r\n", false, false, method},
      {"get / HTTP/1.1\r\nHost: a.test\r\n", false, false, method},
      {"OPTIONS / HTTP/1.1\r\nHost: a.test\r\n", false, false, method},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n", false, false, content},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n", false, false, content},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nCache-Control: no-store\r\n", true, false, no_store},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nCache-Control: no-cache\r\n", true, true},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nRange: bytes=0-1\r\n", true, true},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nRange: bytes=0-1,3-4\r\n", true, false, ranges},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nRange: bytes=0-1\r\nIf-Range: \"a\"\r\n", true, false,
       if_range},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nRange: lines=0-1\r\n", true, true},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nIf-Match: \"a\"\r\n", false, false, condition},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nIf-Unmodified-Since: x\r\n", false, false, condition},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nIf-None-Match: \"a\"\r\n", true, true},
  };
  for (const UseRow& row : rows) {
    RequestContext context;
    ASSERT_TRUE(read_context(row.request + "\r\n", context, settings)) << row.request;
    EXPECT_EQ(context.may_use_store, row.may_use) << row.request;
    EXPECT_EQ(context.may_fill_store, row.may_fill) << row.request;
    EXPECT_EQ(context.objection, row.objection) << row.request;
  }
}

TEST(RequestContext, TellsWhatOfTheRouteForbidsTheStore) {
  Route route{"all", {"a.test", "/"}, {net::Origin{Endpoint{"10.0.0.1", 1}}}};
  route.rules.bypass = {{Condition::In::header, "X-Bypass", std::nullopt}};
  route.rules.no_store = {{Condition::In::query, "preview", std::nullopt}};
  const auto settings = settings_of({route});
  const std::vector<UseRow> rows{
      {"GET / HTTP/1.1\r\nHost: a.test\r\n", true, true},
      {"GET / HTTP/1.1\r\nHost: a.test\r\nX-Bypass: 1\r\n", false, false,
       StoreObjection::bypass_rule},
      {"GET /?preview HTTP/1.1\r\nHost: a.test\r\n", true, false, StoreObjection::no_store_rule},
  };
  for (const UseRow& row : rows) {
    RequestContext context;
    ASSERT_TRUE(read_context(row.request + "\r\n", context, settings)) << row.request;
    EXPECT_EQ(context.may_use_store, row.may_use) << row.request;
    EXPECT_EQ(context.may_fill_store, row.may_fill) << row.request;
    EXPECT_EQ(context.objection, row.objection) << row.request;
  }
}

TEST(RequestContext, BelievesOnlyASidecarAboutCountryAndKey) {
  const auto settings = some_settings();
  RequestContext plain;
  ASSERT_TRUE(
      read_context("GET /x HTTP/1.1\r\nHost: a.test\r\nX-Country: DE\r\n"
                   "Ringside-Extra-Key: DE\r\n\r\n",
                   plain, settings));
  EXPECT_FALSE(plain.from_sidecar);
  EXPECT_EQ(plain.country, "");
  RequestContext told;
  ASSERT_TRUE(
      read_context("GET /x HTTP/1.1\r\nHost: a.test\r\nX-Country: DE\r\n"
                   "Ringside-Extra-Key: DE\r\nRingside-Topology: t\r\n\r\n",
                   told, settings));
  EXPECT_TRUE(told.from_sidecar);
  EXPECT_EQ(told.country, "DE");
  CacheKey expected;
  expected.assign(http::Scheme::http, "a.test", told.target, "DE");
  EXPECT_EQ(told.key.text, expected.text);
  EXPECT_NE(told.key.text, plain.key.text);
}

// What a route's header lets through must not be given to who does not have it, whoever asks.
TEST(RequestContext, ARouteThatAHeaderChoseHasKeysOfItsOwn) {
  http::RouteMatch previews;
  previews.conditions.headers = {{"x-preview", {}, {}}};
  http::RouteMatch betas;
  betas.conditions.query = {{"beta", {}, {}}};
  const auto settings =
      settings_of({{"all", {}, {}}, {"previews", previews, {}}, {"b", betas, {}}});
  const auto key = [&](const std::string& target, const std::string& lines) {
    RequestContext context;
    EXPECT_TRUE(read_context("GET " + target + " HTTP/1.1\r\nHost: a.test\r\n" + lines + "\r\n",
                             context, settings));
    return readable(context.key);
  };
  const std::string told = "Ringside-Topology: t\r\nRingside-Extra-Key: country=DE&\r\n";
  EXPECT_EQ(key("/x", told), "http a.test /x country=DE&");
  EXPECT_EQ(key("/x", told + "X-Preview: 1\r\n"), "http a.test /x country=DE&route=previews&");
  EXPECT_EQ(key("/x", "X-Preview: 1\r\n"), "http a.test /x route=previews&");
  EXPECT_EQ(key("/x", told + "X-Preview: 1\r\nConnection: X-Preview\r\n"),
            "http a.test /x country=DE&");
  EXPECT_EQ(key("/x?beta", told), "http a.test /x?beta country=DE&") << "it is in the URI";
}

// While a rolling restart added the route, what a client with the header was given was stored for
// all others.
TEST(RequestContext, WhoChoosesAnotherRouteThanItIsToldStoresAndGivesNothing) {
  http::RouteMatch previews;
  previews.conditions.headers = {{"x-preview", {}, {}}};
  const auto settings = settings_of({{"all", {}, {}}, {"previews", previews, {}}});
  const auto read = [&](const std::string& lines, RequestContext& context) {
    return read_context(
        "GET /x HTTP/1.1\r\nHost: a.test\r\nRingside-Topology: t\r\n" + lines + "\r\n", context,
        settings);
  };
  const std::string fill = "Ringside-Fill: cache-1\r\n";
  for (const auto& [lines, agrees] : {std::pair<std::string, bool>{"", true},
                                      {"X-Preview: 1\r\nRingside-Route: previews\r\n", true},
                                      {"X-Preview: 1\r\n", false},
                                      {"X-Preview: 1\r\nRingside-Route: betas\r\n", false},
                                      {"Ringside-Route: previews\r\n", false}}) {
    RequestContext asked;
    ASSERT_TRUE(read(lines, asked)) << lines;
    EXPECT_EQ(asked.may_use_store, agrees) << lines;
    EXPECT_EQ(asked.may_keep_answer, agrees) << lines;
    RequestContext filling;
    EXPECT_EQ(bool(read(lines + fill, filling)), agrees) << lines;
  }
}

// Else it would lie where the shard key of another route has it, under a key of this one's.
TEST(RequestContext, AnAnswerToPostIsKeptWhereTheRouteOfGetIsTheSame) {
  http::RouteMatch posts{"", "/posts", {}, {{"POST"}, {}, {}}};
  const auto settings = settings_of({{"all", {}, {}}, {"posts", posts, {}}});
  for (const auto& [target, may_keep] : {std::pair("/posts", false), std::pair("/other", true)}) {
    RequestContext context;
    ASSERT_TRUE(read_context("POST " + std::string(target) + " HTTP/1.1\r\nHost: a.test\r\n\r\n",
                             context, settings));
    EXPECT_EQ(context.may_keep_answer, may_keep) << target;
  }
  RequestContext context;
  ASSERT_TRUE(read_context("GET /posts HTTP/1.1\r\nHost: a.test\r\n\r\n", context, settings));
  EXPECT_TRUE(context.may_fill_store);
}

// A client at a replica's own port chose the country of an entry by `Ringside-Extra-Key`.
TEST(RequestContext, NothingInternalIsLeftOfAStranger) {
  http::Fields fields;
  for (const auto* name : {"ringside-topology", "Accept", "Ringside-Extra-Key", "RINGSIDE-Bucket",
                           "Ringside-Of-A-Later-Release", "Ringside-Extra-Key", "X-Ringside"}) {
    fields.add(name, "x");
  }
  EXPECT_TRUE(strip_internal(fields));
  EXPECT_EQ(fields.size(), 2U);
  EXPECT_TRUE(fields.has("accept") && fields.has("x-ringside"));
  EXPECT_FALSE(strip_internal(fields));
}

// The scheme in the key was always http.
TEST(RequestContext, BelievesOnlyASidecarAboutTheScheme) {
  const auto settings = some_settings();
  const auto key = [&](const std::string& lines) {
    RequestContext context;
    EXPECT_TRUE(
        read_context("GET /x HTTP/1.1\r\nHost: a.test\r\n" + lines + "\r\n", context, settings));
    return readable(context.key);
  };
  EXPECT_EQ(key("Ringside-Scheme: https\r\nRingside-Topology: t\r\n"), "https a.test /x");
  EXPECT_EQ(key("Ringside-Scheme: https\r\n"), "http a.test /x");
  EXPECT_EQ(key("Ringside-Scheme: gopher\r\nRingside-Topology: t\r\n"), "http a.test /x");
  EXPECT_EQ(key("Ringside-Topology: t\r\n"), "http a.test /x");
}

TEST(RequestContext, KnowsTheBucketWhereASidecarSaysIt) {
  struct Row {
    std::string lines;
    std::optional<shard::Bucket> expected;
  };
  const std::string topology = "Ringside-Topology: t\r\n";
  const std::vector<Row> rows{
      {topology + "Ringside-Bucket: 0\r\n", 0},
      {topology + "Ringside-Bucket: 16383\r\n", 16'383},
      {topology + "Ringside-Bucket: 16384\r\n", std::nullopt},
      {topology + "Ringside-Bucket: 65536\r\n", std::nullopt},
      {topology + "Ringside-Bucket: 65543\r\n", std::nullopt},  // 7 in 16 bits
      {topology + "Ringside-Bucket: -1\r\n", std::nullopt},
      {topology + "Ringside-Bucket: +1\r\n", std::nullopt},
      {topology + "Ringside-Bucket: 7x\r\n", std::nullopt},
      {topology + "Ringside-Bucket: 7, 8\r\n", std::nullopt},
      {topology + "Ringside-Bucket:\r\n", std::nullopt},
      {topology, std::nullopt},
      {"Ringside-Bucket: 7\r\n", std::nullopt},  // nobody's word
  };
  const auto settings = some_settings();
  RequestContext context;  // reused, as from request to request of a connection
  for (const Row& row : rows) {
    const std::string request = "GET /x HTTP/1.1\r\nHost: a.test\r\n" + row.lines + "\r\n";
    ASSERT_TRUE(read_context(request, context, settings));
    EXPECT_EQ(context.key.bucket, row.expected) << row.lines;
    EXPECT_EQ(readable(context.key), "http a.test /x") << "it is no part of the key";
  }
}

TEST(RequestContext, IsNormalisedAndFindsItsRoute) {
  const auto settings = some_settings();
  RequestContext context;
  ASSERT_TRUE(
      read_context("GET /x/../api/%7Ea?b HTTP/1.1\r\nHost: A.Test:80\r\n\r\n", context, settings));
  EXPECT_EQ(context.method, "GET");
  EXPECT_EQ(context.host, "a.test");
  EXPECT_EQ(context.target.text(), "/api/~a?b");
  EXPECT_EQ(context.route->name, "api");
  ASSERT_TRUE(read_context("GET /apis HTTP/1.1\r\nHost: a.test\r\n\r\n", context, settings));
  EXPECT_EQ(context.route->name, "all");
}

TEST(RequestContext, FailsForWhatItCantPlace) {
  const auto settings = some_settings();
  RequestContext context;
  const auto elsewhere = read_context("GET / HTTP/1.1\r\nHost: b.test\r\n\r\n", context, settings);
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().kind, ErrorKind::not_found);
  const auto broken = read_context("GET /%00 HTTP/1.1\r\nHost: a.test\r\n\r\n", context, settings);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, ErrorKind::malformed);
  EXPECT_EQ(broken.error().source, ErrorSource::client);
}

TEST(RequestContext, APurgeNeedsNoRoute) {
  const auto settings = some_settings();
  RequestContext context;
  ASSERT_TRUE(read_context("PURGE / HTTP/1.1\r\nHost: b.test\r\n\r\n", context, settings));
  EXPECT_EQ(context.route, nullptr);
  EXPECT_FALSE(context.may_use_store || context.may_fill_store);
}

TEST(RequestContext, KeepsNothingOfTheRequestBefore) {
  const auto settings = some_settings();
  RequestContext context;
  ASSERT_TRUE(read_context(
      "GET /x?y HTTP/1.1\r\nHost: a.test\r\nX-Country: DE\r\n"
      "Ringside-Extra-Key: k\r\nRingside-Topology: t\r\nCache-Control: no-store\r\n\r\n",
      context, settings));
  ASSERT_TRUE(read_context("GET /z HTTP/1.1\r\nHost: a.test\r\n\r\n", context, settings));
  RequestContext fresh;
  ASSERT_TRUE(read_context("GET /z HTTP/1.1\r\nHost: a.test\r\n\r\n", fresh, settings));
  EXPECT_EQ(context.key.text, fresh.key.text);
  EXPECT_EQ(context.key.hash, fresh.key.hash);
  EXPECT_EQ(context.country, "");
  EXPECT_FALSE(context.from_sidecar);
  EXPECT_FALSE(context.directives.no_store);
  EXPECT_TRUE(context.may_fill_store);
}

TEST(RequestContext, TakesNoLongerThanTheSidecarWaits) {
  struct Row {
    std::string fields;
    std::int64_t allowed_ms;
  };
  auto settings = some_settings();
  settings.request_deadline = Milliseconds{5'000};
  const std::string from_sidecar = "Ringside-Topology: 0\r\n";
  for (const Row& row :
       std::vector<Row>{{"", 5'000},
                        {from_sidecar, 5'000},
                        {from_sidecar + "Ringside-Deadline-Ms: 1200\r\n", 1'200},
                        {from_sidecar + "Ringside-Deadline-Ms: 0\r\n", 0},
                        {from_sidecar + "Ringside-Deadline-Ms: 60000\r\n", 5'000},
                        {from_sidecar + "Ringside-Deadline-Ms: -1\r\n", 5'000},
                        {from_sidecar + "Ringside-Deadline-Ms: 1s\r\n", 5'000},
                        {from_sidecar + "Ringside-Deadline-Ms: 99999999999999999999\r\n", 5'000},
                        {"Ringside-Deadline-Ms: 1200\r\n", 5'000}}) {
    RequestContext context;
    ASSERT_TRUE(read_context("GET / HTTP/1.1\r\nHost: a.test\r\n" + row.fields + "\r\n", context,
                             settings));
    EXPECT_EQ(context.time_allowed, Milliseconds{row.allowed_ms}) << row.fields;
  }
}

TEST(RequestContext, IsOfTheClientThatASidecarTellsOfOrElseOfWhoAsks) {
  struct Row {
    std::string fields;
    std::string client;  // empty: nobody's
  };
  const auto settings = some_settings();
  const std::string from_sidecar = "Ringside-Topology: 0\r\n";
  for (const Row& row :
       std::vector<Row>{{"", "192.0.2.7"},
                        {"Ringside-Client: 198.51.100.1\r\n", "192.0.2.7"},
                        {from_sidecar, ""},
                        {from_sidecar + "Ringside-Client: mallory\r\n", ""},
                        {from_sidecar + "Ringside-Client: 198.51.100.1\r\n", "198.51.100.1"},
                        {from_sidecar + "Ringside-Client: 2001:db8::1:2:3:4\r\n", "2001:db8::"}}) {
    RequestContext context;
    ASSERT_TRUE(read_context("GET / HTTP/1.1\r\nHost: a.test\r\n" + row.fields + "\r\n", context,
                             settings));
    const auto expected = row.client.empty() ? IpAddress{} : *IpAddress::parse(row.client);
    EXPECT_EQ(context.client, expected) << row.fields << context.client.text();
  }
}

}  // namespace
}  // namespace ringside::cache
