#include "program/cache_rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program/configuration.h"
#include "program/configuration_file.h"
#include "program/configuration_json.h"
#include "program/settings.h"

namespace ringside::program {
namespace {

using cache::Condition;
using cache::Rules;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string some_cache = "name: c\norigin: http://o\n";

Result<Configuration> read(const std::string& text) {
  Configuration configuration = defaults(Command::up);
  if (auto overlaid = overlay_yaml(configuration, text, "f"); !overlaid) return overlaid.error();
  if (auto checked = check(Command::up, configuration); !checked) return checked.error();
  return configuration;
}

// What the only route, `default`, has in effect.
Rules rules_of(const std::string& lines) {
  const auto configuration = read("cache:\n" + lines);
  EXPECT_TRUE(configuration) << lines << configuration.error().message;
  if (!configuration) return {};
  return effective_routes(*configuration).at(0).cache.values;
}

TEST(CacheRules, EachKeySetsWhatItIsNamedFor) {
  const std::vector<cache::StatusTtl> ttls{
      {404, 404, Seconds(10)}, {200, 299, Seconds(3600)}, {500, 599, Seconds(0)}};
  EXPECT_EQ(rules_of(" ttl_by_status: {404: 10s, 200-299: 1h, 500-599: 0s}").ttl_by_status, ttls);
  EXPECT_EQ(rules_of(" default_ttl: 30d").default_ttl, Seconds(2'592'000));
  EXPECT_EQ(rules_of(" default_ttl: 0s").default_ttl, Seconds(0));
  EXPECT_FALSE(rules_of(" default_ttl: none").default_ttl);
  EXPECT_FALSE(rules_of(" heuristic: false").heuristic);
  EXPECT_FALSE(rules_of(" ignore_origin: true\n default_ttl: 1m").heed_origin);
  EXPECT_TRUE(rules_of(" ignore_origin: false").heed_origin);
  EXPECT_EQ(rules_of(" stale_while_revalidate: 1m").stale_while_revalidate, Seconds(60));
  EXPECT_EQ(rules_of(" stale_if_error: 1d").stale_if_error, Seconds(86'400));
  EXPECT_EQ(rules_of(" early_refresh_percent: 10").early_refresh_percent, 10U);
  EXPECT_THAT(rules_of(" targeted: [A-Cache-Control, B]").targeted,
              ElementsAre("A-Cache-Control", "B"));
  EXPECT_TRUE(rules_of(" targeted: []").targeted.empty());
  EXPECT_EQ(rules_of(" invalid_age: stale").invalid_age, cache::InvalidAge::stale);
  EXPECT_EQ(rules_of(" set_cookie: strip").set_cookie, cache::SetCookie::strip);
  EXPECT_EQ(rules_of(" set_cookie: store").set_cookie, cache::SetCookie::store);
  EXPECT_EQ(rules_of(" client_no_cache: ignore").client_no_cache, std::nullopt);
  EXPECT_EQ(rules_of(" client_no_cache: honour").client_no_cache, Seconds(0));
  EXPECT_EQ(rules_of(" client_no_cache: 10s").client_no_cache, Seconds(10));
  EXPECT_EQ(rules_of(" variants_most: 8").variants_most, 8U);
  EXPECT_THAT(rules_of(" content_codings: [BR, x-gzip, identity]").content_codings,
              ElementsAre("br", "gzip", "identity"));
  EXPECT_TRUE(rules_of(" cache_status_key: true").status_key);
  EXPECT_EQ(rules_of(" slice: 1MiB").slice_size_bytes, limits::kMiB);
  EXPECT_EQ(rules_of(" slice: 0").slice_size_bytes, 0U);
  EXPECT_EQ(rules_of(" invalid_age: ignore\n set_cookie: pass\n heuristic: true"), Rules{});
}

TEST(CacheRules, Conditions) {
  const auto rules = rules_of(
      " bypass: [\"header:Authorization\", 'cookie:session', \"query:nocache=1\",\n"
      "   'header:X-A=b, c=d', 'cookie:a=', 'query:%c3=%c3=x']\n no_store: header:X-Debug\n");
  using In = Condition::In;
  const std::vector<Condition> bypass{
      {In::header, "Authorization", {}}, {In::cookie, "session", {}}, {In::query, "nocache", "1"},
      {In::header, "X-A", "b, c=d"},     {In::cookie, "a", ""},       {In::query, "%C3", "%C3=x"}};
  EXPECT_EQ(rules.bypass, bypass);
  EXPECT_EQ(rules.no_store, (std::vector<Condition>{{In::header, "X-Debug", {}}}));
  const std::vector<Condition> always{{In::every_request, "", {}}};
  EXPECT_EQ(rules_of(" bypass: true").bypass, always);
  EXPECT_EQ(rules_of(" bypass: [true]").bypass, always);
}

TEST(CacheRules, QueriesAndHeaders) {
  const auto rules = rules_of(
      " query: {sort: true, keep: [id, 'page*'], drop: ['a%2fb', utm_*]}\n"
      " request_headers: {set: {X-Tier: 'a: \"b\"', Authorization: Bearer x}, remove: [Cookie]}\n"
      " response_headers:\n   remove: Server\n   set: {cache-control: max-age=5}\n");
  EXPECT_EQ(rules.query, (http::QueryRules{true, {"id", "page*"}, {"a%2Fb", "utm_*"}}));
  EXPECT_EQ(
      rules.request_fields,
      (http::FieldRules{{"Cookie"}, {{"X-Tier", "a: \"b\""}, {"Authorization", "Bearer x"}}}));
  EXPECT_EQ(rules.response_fields,
            (http::FieldRules{{"Server"}, {{"cache-control", "max-age=5"}}}));
  EXPECT_TRUE(rules_of(" query: {}").query.empty());
}

// Keyed by it, all clients would have had one entry.
TEST(ShardKeys, AHeaderThatIsNotPassedOnWouldTellNothingApart) {
  for (const std::string name : {"X-Forwarded-For", "host", "X-Country", "Forwarded", "x-real-ip",
                                 "X_Theme", "Connection"}) {
    const auto loaded = read("routes:\n - name: b\n   shard_key: path,header:" + name + "\n");
    ASSERT_FALSE(loaded) << name;
    EXPECT_THAT(loaded.error().message, HasSubstr("take host, ip or country"));
  }
  EXPECT_TRUE(read("shard_key: path,header:x-theme,header:x-forwarded-host\n"));
}

TEST(CacheRules, PathsAreCanonicalWhereRoutesTellThemApart) {
  const auto paths = [](const std::string& text) {
    const auto configuration = read(text);
    EXPECT_TRUE(configuration) << configuration.error().message;
    return effective_routes(*configuration).at(0).cache.values.paths;
  };
  const std::string routes = "routes:\n - name: b\n - name: a\n   path: /a\n";
  EXPECT_EQ(paths("name: x\n"), http::PathRules{});
  EXPECT_EQ(paths("routes:\n - name: b\n   host: b.test\n"), http::PathRules{});
  EXPECT_EQ(paths(routes), (http::PathRules{true, true, std::nullopt}));
  EXPECT_EQ(paths(routes + "cache: {paths: {escaped_slashes: keep, path_parameters: refuse}}\n"),
            (http::PathRules{true, false, true}));
  EXPECT_EQ(paths("routes:\n - {name: a, path: /a, cache: {paths: {merge_slashes: false}}}\n"
                  "cache: {paths: {escaped_slashes: keep}}\n"),
            (http::PathRules{false, true, std::nullopt}));
}

struct Wrong {
  std::string line;  // below `cache:`, so line 2 of the file
  std::string message;
};

void expect_errors(const std::vector<Wrong>& cases) {
  for (const Wrong& one : cases) {
    const auto loaded = read("cache:\n " + one.line + "\n");
    ASSERT_FALSE(loaded) << one.line;
    EXPECT_THAT(loaded.error().message, StartsWith("f:2: ")) << one.line;
    EXPECT_THAT(loaded.error().message, HasSubstr(one.message)) << one.line;
  }
}

std::string many(std::size_t count, const std::string& item, const std::string& end = "") {
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += (i == 0 ? "" : ", ") + item + std::to_string(i) + end;
  return out;
}

TEST(CacheRules, LifetimesThatAreNone) {
  std::string ranges;
  for (std::size_t i = 0; i <= limits::rule_ttls; ++i) ranges += std::to_string(200 + i) + ": 1s, ";
  expect_errors({
      {"default_ttl: 250ms", "default_ttl: \"250ms\" has a unit that is not known; write whole"},
      {"default_ttl: 10", "has no unit; write whole seconds with s, m, h or d"},
      {"default_ttl: -1s", "does not start with a whole number"},
      {"default_ttl: 30000d", "is too much"},
      {"default_ttl: 99999999999999999999s", "is too much"},
      {"default_ttl: [1s]", "\"default_ttl\" is a list; write a single value"},
      {"stale_while_revalidate: soon", "stale_while_revalidate: \"soon\""},
      {"stale_if_error: 1w", "stale_if_error: \"1w\" has a unit"},
      {"ttl_by_status: 1h", "ttl_by_status is a single value; write a map, such as {200-299: 1h"},
      {"ttl_by_status: {2xx: 1h}", "\"2xx\" is no status or range of them; write one such as 404"},
      {"ttl_by_status: {199: 1h}", "from 200 to 599"},
      {"ttl_by_status: {200-600: 1h}", "from 200 to 599"},
      {"ttl_by_status: {299-200: 1h}", "\"299-200\" is no status"},
      {"ttl_by_status: {200-: 1h}", "\"200-\" is no status"},
      {"ttl_by_status: {200: none}", "200: \"none\" does not start with"},
      {"ttl_by_status: {200-299: 1h, 204: 1s}",
       "204 never counts, since 200-299 stands before it; put the narrower one first"},
      {"ttl_by_status: {200: 1h, 200-200: 1s}", "200-200 never counts"},
      {"ttl_by_status: {" + ranges + "}", "33 of them; write at most 32"},
      {"heuristic: on", "heuristic: \"on\" is neither; write true or false"},
      {"ignore_origin: yes", "ignore_origin: \"yes\" is neither"},
      {"ignore_origin: true",
       "ignore_origin: of route default: nothing says how long responses are fresh; give "
       "default_ttl or ttl_by_status too"},
      {"early_refresh_percent: 100", "from 0 to 99"},
      {"early_refresh_percent: 10%", "from 0 to 99"},
      {"invalid_age: fresh", "\"fresh\" is neither; write ignore or stale"},
  });
}

TEST(CacheRules, ChoicesAndListsThatAreNone) {
  expect_errors({
      {"set_cookie: keep", "\"keep\" is none of them; write pass, strip or store"},
      {"targeted: Cache-Control", "\"Cache-Control\" is what comes after targeted fields; take it"},
      {"targeted: [expires]", "take it out"},
      {"targeted: [A, a]", "targeted: \"a\" is there twice; take one out"},
      {"targeted: ['a b']", "\"a b\" is no name of a header"},
      {"targeted: [" + many(limits::targeted_fields + 1, "A") + "]", "9 of them; name at most 8"},
      {"targeted: {a: b}", "targeted: it is a map; write a list"},
      {"targeted: [[a]]", "an item is a list; write single values"},
      {"bypass: Authorization", "\"Authorization\" is no condition; write header:NAME, cookie:"},
      {"bypass: 'header:'", "\"\" is no name of it"},
      {"bypass: 'header:a b'", "\"a b\" is no name of it"},
      {"bypass: 'cookie:=x'", "\"\" is no name of it"},
      {"bypass: 'query:=x'", "\"\" is no name of it"},
      {"bypass: 'query:a&b'", "\"a&b\" can't stand in a query"},
      {"bypass: 'query:a=b c'", "\"b c\" can't stand in a query"},
      {"bypass: 'cookie:a=b;c'", "has a semicolon"},
      {"bypass: \"header:a=b\\r\\nc\"", "has line ends or other bytes"},
      {"bypass: ['cookie:a', 'cookie:a']", "\"cookie:a\" is there twice"},
      {"bypass: [" + many(limits::rule_conditions + 1, "cookie:a") + "]", "33 of them"},
      {"no_store: path:/a", "no_store: \"path:/a\" is no condition"},
      {"variants_most: 0", "variants_most: \"0\" is no whole number from 1 to 256"},
      {"variants_most: 257", "from 1 to 256"},
      {"content_codings: '*'", "\"*\" is no content coding; write one, such as br or gzip"},
      {"content_codings: [gzip, X-GZIP]", "\"X-GZIP\" is there twice"},
      {"content_codings: [" + many(limits::content_codings + 1, "c") + "]", "at most 8"},
      {"slice: 32KiB", "slice: 32KiB is not from 64KiB to 64MiB; write such a size, or 0 for none"},
      {"slice: 65MiB", "is not from 64KiB to 64MiB"},
      {"slice: big", "write a number with KiB"},
      {"query: sorted", "query is a single value; write a map, such as {sort: true"},
      {"query: {sort: 1}", "sort: \"1\" is neither; write true or false"},
      {"client_no_cache: sometimes",
       "write honour, ignore, or a time in whole seconds such as 10s"},
      {"paths: true", "paths is a single value; write a map, such as {escaped_slashes: keep}"},
      {"paths: {merge_slashes: keep}", "\"keep\" is neither; write true or false"},
      {"paths: {escaped_slashes: true}", "\"true\" is none of them; write refuse or keep"},
      {"paths: {slashes: keep}", "\"slashes\" is no key of paths"},
      {"query: {dorp: [a]}", "\"dorp\" is no key of query; did you mean drop?"},
      {"query: {drop: [utm*x]}", "\"utm*x\" has a * before its end"},
      {"query: {keep: ['a=1']}", "\"a=1\" is no parameter's name"},
      {"query: {keep: ['']}", "\"\" is no parameter's name"},
      {"query: {drop: ['a b']}", "\"a b\" can't stand in a query"},
      {"query: {drop: [" + many(limits::rule_names + 1, "a") + "]}", "65 of them"},
      {"query: {keep: [a], drop: [a]}", "query: keep names \"a\", which drop takes away by \"a\""},
      {"query: {keep: [utm_id], drop: [utm_*]}", "takes away by \"utm_*\"; take one of them out"},
      {"query: {keep: [utm_*], drop: [utm*]}", "takes away by \"utm*\""},
      {"negative_ttl: 1s", "\"negative_ttl\" is no key of cache; it may be ttl_by_status, default"},
      {"defualt_ttl: 1s", "did you mean default_ttl?"},
  });
}

TEST(CacheRules, HeadersThatAreNotToBeChanged) {
  std::vector<Wrong> cases{
      {"request_headers: [X-A]", "request_headers is a list; write a map, such as {remove:"},
      {"request_headers: {add: {X-A: b}}", "\"add\" is no key of request_headers"},
      {"request_headers: {set: [X-A]}", "set is a list; write a map"},
      {"request_headers: {set: {'X A': b}}", "set: \"X A\" is no name of a header"},
      {"request_headers: {set: {X-A: b, x-a: c}}", "\"x-a\" is there twice"},
      {"request_headers: {set: {X-A: b}, remove: [x-a]}", "\"X-A\" is both set and removed"},
      {"request_headers: {set: {X-A: \"b\\r\\nX-B: c\"}}", "X-A: \"b??X-B: c\" has line ends"},
      {"request_headers: {set: {X-A: \"b\\0\"}}", "has line ends or other bytes"},
      {"request_headers: {set: {X-A: \"\\u00e9\"}}", "has line ends or other bytes"},
      {"request_headers: {set: {X-A: ' b'}}", "has blanks at an end"},
      {"request_headers: {set: {X-A: ''}}", "is empty"},
      {"request_headers: {set: {X-A: [b]}}", "\"X-A\" is a list"},
      {"request_headers: {set: {X-A: " + std::string(limits::head_size_bytes / 2, 'b') + "}}",
       "16387 bytes; set at most 16384"},
      {"response_headers: {remove: [" + many(limits::rule_names + 1, "X-") + "]}", "65 of them"},
      {"response_headers: {set: {" + many(limits::rule_names + 1, "X-", ": y") + "}}",
       "65 fields; set at most 64"},
      {"request_headers: {remove: accept-encoding}", "use content_codings"},
      {"request_headers: {remove: x-country}",
       "request_headers: of route default: \"X-Country\" tells the origin the country; take it "
       "out, "
       "or choose another country_header"},
  };
  for (const char* const name : {"Content-Length", "Transfer-Encoding", "connection", "Keep-Alive",
                                 "TE", "Trailer", "Upgrade", "Proxy-Authorization",
                                 "Content-Encoding", "Content-Range", "Via", "ringside-topology"}) {
    for (const char* const key : {"request", "response"}) {
      cases.push_back({fmt::format("{}_headers: {{set: {{{}: x}}}}", key, name), "; take it out"});
      cases.push_back({fmt::format("{}_headers: {{remove: {}}}", key, name), "; take it out"});
    }
  }
  for (const char* const name :
       {"Host", "Expect", "Max-Forwards", "Range", "If-None-Match", "If-Range"}) {
    cases.push_back({fmt::format("request_headers: {{remove: {}}}", name), "; take it out"});
  }
  for (const char* const name : {"Age", "Date", "Cache-Status"}) {
    cases.push_back({fmt::format("response_headers: {{remove: {}}}", name), "; take it out"});
  }
  expect_errors(cases);
}

TEST(CacheRules, AMistakeInAListIsNamedByItsOwnLine) {
  const auto list = read("cache:\n  bypass:\n    - cookie:a\n    - b\n");
  EXPECT_THAT(list.error().message, StartsWith("f:4: bypass: \"b\" is no condition"));
  const auto map = read("cache:\n  ttl_by_status:\n    200: 1s\n    404: x\n");
  EXPECT_THAT(map.error().message, StartsWith("f:4: 404: \"x\""));
  EXPECT_THAT(read("cache: 1h").error().message, StartsWith("f:1: cache is a single value; write"));
  EXPECT_THAT(read("routes:\n - name: a\n   cache: []").error().message,
              StartsWith("f:3: cache is"));
  EXPECT_THAT(read("cahce: {}").error().message, HasSubstr("did you mean cache?"));
}

TEST(CacheRules, ARoutesKeyGoesBeforeTheOneForAll) {
  const auto configuration = read(
      "cache: {default_ttl: 1m, stale_if_error: 1h, query: {sort: true}, bypass: cookie:a}\n"
      "routes:\n"
      " - name: own\n   path: /own\n"
      "   cache: {default_ttl: none, query: {drop: [a]}, bypass: [], set_cookie: strip}\n"
      " - name: rest\n");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto routes = effective_routes(*configuration);
  const Rules& own = routes[0].cache.values;
  EXPECT_FALSE(own.default_ttl);
  EXPECT_EQ(own.stale_if_error, Seconds(3600));
  EXPECT_EQ(own.query, (http::QueryRules{false, {}, {"a"}}));
  EXPECT_TRUE(own.bypass.empty());
  EXPECT_EQ(own.set_cookie, cache::SetCookie::strip);
  const Rules& rest = routes[1].cache.values;
  EXPECT_EQ(rest.default_ttl, Seconds(60));
  EXPECT_EQ(rest.stale_if_error, Seconds(3600));
  EXPECT_TRUE(rest.query.sort);
  EXPECT_EQ(rest.bypass.size(), 1U);
  EXPECT_EQ(rest.set_cookie, cache::SetCookie::pass);
}

TEST(CacheRules, WhatDoesNotFitTogetherOnARouteNamesTheLine) {
  struct Row {
    std::string text;
    std::string message;  // how it starts; empty: valid
  };
  const std::string near = "routes:\n - name: a\n   near_ttl: 1s\n   cache: ";
  const std::vector<Row> rows{
      {"cache: {ignore_origin: true}\nroutes:\n - name: a\n   cache: {default_ttl: 1s}", ""},
      {"cache: {ignore_origin: true}\nroutes:\n - name: a\n   cache: {ttl_by_status: {200: 1s}}",
       ""},
      {"cache: {ignore_origin: true, default_ttl: 1s}\nroutes:\n - name: a\n"
       "   cache: {default_ttl: none}",
       "f:1: ignore_origin: of route a: nothing says"},
      {"routes:\n - name: a\n   cache:\n     ignore_origin: true",
       "f:4: ignore_origin: of route a: nothing says"},
      {near + "{bypass: cookie:a}",
       "f:4: bypass: of route a: the near cache answers without looking at \"cookie:a\"; take it "
       "or "
       "near_ttl out"},
      {near + "{bypass: ['query:b', 'header:X-Debug=1']}",
       "f:4: bypass: of route a: the near cache answers without looking at \"header:X-Debug=1\""},
      // What the near cache keeps away from by itself, or has in its key.
      {near + "{bypass: ['header:authorization', 'query:a', 'header:Range']}", ""},
      {near + "{no_store: cookie:a}", ""},
      {"cache: {bypass: 'query:a=1', query: {drop: ['a*']}}",
       "f:1: bypass: of route default: query takes \"a\" away before anybody looks at it; keep it"},
      {"cache:\n  no_store: ['query:b', 'query:a']\nroutes:\n - name: r\n"
       "   cache: {query: {keep: [b]}}",
       "f:2: no_store: of route r: query takes \"a\" away"},
      {"cache: {bypass: ['query:a=1', 'cookie:c'], query: {keep: [a], sort: true}}", ""},
      {"country_header: Land\ncache: {request_headers: {set: {land: DE}}}",
       "f:2: request_headers: of route default: \"Land\" tells the origin"},
      {"country_header: Land\ncache: {request_headers: {set: {X-Country: DE}}}", ""},
  };
  for (const Row& row : rows) {
    const auto configuration = read(row.text);
    ASSERT_EQ(configuration.has_value(), row.message.empty()) << row.text;
    if (configuration) continue;
    EXPECT_THAT(configuration.error().message, StartsWith(row.message)) << row.text;
  }
}

TEST(CacheRules, TheSettingsCarryThem) {
  const auto configuration =
      read(some_cache +
           "cache: {default_ttl: 1m, query: {sort: true}}\n"
           "routes:\n - name: a\n   path: /a\n   cache: {slice: 1MiB}\n - name: b\n");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto membership = tier::make_membership({{{"c", 1, ""}, {"127.0.0.1", 1}}}, "ring", 1);
  ASSERT_TRUE(membership);
  const auto cache = *make_cache_settings(*configuration, *membership);
  EXPECT_EQ(cache->routes[0].rules.slice_size_bytes, limits::kMiB);
  EXPECT_EQ(cache->routes[1].rules.slice_size_bytes, 0U);
  EXPECT_EQ(cache->routes[1].rules.default_ttl, Seconds(60));
  const auto sidecar = *make_sidecar_settings(*configuration, *membership, nullptr);
  EXPECT_TRUE(sidecar->routes[1].query.sort);
}

// What GET /config says of the rules is a file of the same rules.
TEST(CacheRules, TheJsonShowsWhatIsNotTheDefault) {
  const auto plain = read(some_cache + "cache: {heuristic: true, query: {}, set_cookie: pass}");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_THAT(to_json(Command::cache, *plain), testing::Not(HasSubstr("\"cache\"")));

  const auto configuration = read(
      some_cache +
      "cache: {ignore_origin: true, ttl_by_status: {404: 90s, 200-299: 2d}}\n"
      "routes:\n - name: a\n   cache: {query: {drop: [utm_*]}, bypass: ['query:a=%22'],\n"
      "     response_headers: {set: {X-A: 'say \"hi\"\\'}}, stale_if_error: 0s, targeted: []}\n");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto page = nlohmann::ordered_json::parse(to_json(Command::cache, *configuration));
  const auto& rules = page.at("routes").at(0).at("cache");
  EXPECT_EQ(rules.dump(), R"({"ttl_by_status":{"404":"90s","200-299":"2d"},"ignore_origin":true,)"
                          R"("stale_if_error":"0s","targeted":[],"bypass":["query:a=%22"],)"
                          R"("query":{"sort":false,"keep":[],"drop":["utm_*"]},)"
                          R"("response_headers":{"set":{"X-A":"say \"hi\"\\"},"remove":[]}})");
  const auto again = read(page.dump());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(effective_routes(*again)[0].cache.values,
            effective_routes(*configuration)[0].cache.values);
  // A sidecar has no use for the others.
  const auto sidecar = nlohmann::ordered_json::parse(to_json(Command::sidecar, *configuration));
  EXPECT_EQ(sidecar.at("routes").at(0).at("cache").size(), 1U);
}

}  // namespace
}  // namespace ringside::program
