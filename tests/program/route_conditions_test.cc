#include "program/route_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program/configuration_file.h"
#include "program/configuration_json.h"

namespace ringside::program {
namespace {

using testing::HasSubstr;

// Of the one route, which has these keys too.
Result<Configuration> read_conditions(const std::string& keys, const std::string& more = {}) {
  Configuration configuration = defaults(Command::up);
  configuration.origins = {net::Origin{Endpoint{"o", 1}}};
  const std::string text = "routes:\n  - name: all\n" + keys + more;
  if (auto overlaid = overlay_yaml(configuration, text, "f"); !overlaid) return overlaid.error();
  if (auto checked = check(Command::up, configuration); !checked) return checked.error();
  return configuration;
}

TEST(RouteConditions, AreReadAndShownAgain) {
  const auto read_in = read_conditions(
      "    path_regex: '/[a-z]{2}/.*'\n"
      "    methods: [GET, HEAD, POST, GET]\n"
      "    headers: {X-Preview: {present: true}, X-Plan: 'paid,gold', User-Agent: {regex: "
      "'.*Mobi.*'}}\n"
      "    query: {beta: '', q: a%2fb, v: {regex: '[0-9]+'}}\n");
  ASSERT_TRUE(read_in) << read_in.error().message;
  const http::RouteMatch& match = read_in->routes.at(0).match;
  EXPECT_EQ(match.path_regex->text(), "/[a-z]{2}/.*");
  const http::RequestConditions expected{
      {"GET", "POST"},
      {{"X-Preview", {}, {}},
       {"X-Plan", "paid, gold", {}},
       {"User-Agent", {}, *http::Regex::make(".*Mobi.*")}},
      {{"beta", "", {}}, {"q", "a%2Fb", {}}, {"v", {}, *http::Regex::make("[0-9]+")}}};
  EXPECT_EQ(match.conditions, expected);

  const auto page = nlohmann::json::parse(program::to_json(Command::up, *read_in));
  const auto& route = page.at("routes").at(0);
  EXPECT_EQ(route.at("path_regex"), "/[a-z]{2}/.*");
  EXPECT_EQ(route.at("methods"), nlohmann::json({"GET", "POST"}));
  EXPECT_EQ(route.at("headers").at("X-Plan"), "paid, gold");
  EXPECT_EQ(route.at("headers").at("X-Preview").at("present"), true);
  EXPECT_EQ(route.at("query").at("v").at("regex"), "[0-9]+");
  EXPECT_EQ(read_in->routes.at(0).match.path_prefix, "/");
}

TEST(RouteConditions, WhatCannotBeIsRefusedWithItsLineAndARemedy) {
  struct Row {
    std::string keys;
    std::vector<std::string> told;
  };
  for (const Row& row : std::vector<Row>{
           {"    path_regex: '(a'\n", {"f:3: path_regex: ", "missing )", "RE2's syntax"}},
           {"    path_regex: '((a{99}){99}){99}'\n", {"f:3: path_regex: ", "smaller repetitions"}},
           {"    path_regex: [a]\n", {"f:3: \"path_regex\" is a list", "single value"}},
           {"    methods: [HEAD]\n", {"f:3: methods: HEAD is answered", "name GET"}},
           {"    methods: []\n", {"f:3: methods: no method is named"}},
           {"    methods: [get]\n", {"f:3: methods: \"get\"", "in capitals"}},
           {"    methods: [PURGE]\n", {"f:3: methods: PURGE goes by no route"}},
           {"    methods: GET POST\n", {"f:3: methods: \"GET POST\" is no method"}},
           {"    headers: [X-A]\n", {"f:3: headers is a list; write a map"}},
           {"    headers: {'X A': 1}\n", {"f:3: headers: \"X A\" is no name of a header"}},
           {"    headers:\n      X-A: 1\n      x-a: 2\n", {"f:5: headers: \"x-a\" is there twice"}},
           {"    headers: {X-A: {regex: '['}}\n", {"f:3: regex: ", "missing ]"}},
           {"    headers: {X-A: {present: false}}\n", {"f:3: X-A: that something is absent"}},
           {"    headers: {X-A: {}}\n", {"f:3: X-A: not one condition; write a value"}},
           {"    headers: {X-A: {exact: 1}}\n", {"f:3: ", "\"exact\"", "present"}},
           {"    query: {utm_*: {present: true}}\n", {"f:3: query: \"utm_*\" ends with *"}},
           {"    query: {'a&b': 1}\n", {"f:3: query: \"a&b\" can't stand in a query"}},
           {"    headers: {X-Forwarded-For: {present: true}}\n",
            {"f:2: of route all: headers: \"X-Forwarded-For\" is not passed on"}},
           {"    headers: {X-Country: DE}\n", {"\"X-Country\" is not passed on"}},
           {"    headers: {Host: a}\n", {"\"Host\" is not passed on"}},
           {"    headers: {Via: a}\n", {"\"Via\" is not passed on"}},
           {"    headers: {Range: {present: true}}\n", {"\"Range\" is not passed on"}},
           {"    headers: {X_A: {present: true}}\n", {"\"X_A\" is not passed on"}},
           {"    headers: {Accept-Encoding: {regex: '.*br.*'}}\n", {"take another header"}},
           {"    methods: GET\n    cache: {query: {sort: true}}\n  - {name: b}\n",
            {"f:4: query: of route all: ", "one form; write it for the route of that path"}},
           {"    headers: {X-A: 1}\n    path: /a\n    cache: {paths: {merge_slashes: false}}\n"
            "  - {name: b}\n",
            {"f:5: paths: of route all: "}},
           {"    headers: {X-A: 1}\n  - {name: b, path: /b, cache: {request_headers: "
            "{remove: [x-a]}}}\n",
            {"f:2: of route all: headers: request_headers of route b changes \"X-A\""}},
           {"    query: {v: {present: true}}\n  - {name: b, cache: {query: {drop: ['v*']}}}\n",
            {"f:2: of route all: query: the cache rule query takes \"v\" away"}},
           {"    query: {v: 1}\ncache: {query: {keep: [w]}}\n",
            {"of route all: query: the cache rule", "\"v\" away"}},
       }) {
    const auto read_in = read_conditions(row.keys);
    ASSERT_FALSE(read_in) << row.keys;
    for (const std::string& told : row.told) {
      EXPECT_THAT(read_in.error().message, HasSubstr(told)) << row.keys;
    }
  }
}

// And what GET /config says of it can be read again.
TEST(RouteConditions, AUriHasTheFormOfTheRouteOfItsPathWithoutThem) {
  const auto read_in = read_conditions(
      "    methods: POST\n    path: /a/{x}\n    cache: {paths: {merge_slashes: false}}\n",
      "  - {name: a, path: /a, cache: {query: {sort: true}, paths: {merge_slashes: false}}}\n"
      "  - {name: b, host: '*.b', headers: {x-a: 1}}\n"
      "  - {name: rest, cache: {query: {drop: [c]}}}\n"
      "cache: {query: {drop: [d]}, paths: {path_parameters: refuse}}\n");
  ASSERT_TRUE(read_in) << read_in.error().message;
  const auto routes = effective_routes(*read_in);
  for (const auto& [route, of_uri] : {std::pair(0U, 1U), std::pair(2U, 3U)}) {
    EXPECT_EQ(routes[route].cache.values.query, routes[of_uri].cache.values.query) << route;
    EXPECT_EQ(routes[route].cache.values.paths, routes[of_uri].cache.values.paths) << route;
  }
  const std::string page = program::to_json(Command::up, *read_in);
  Configuration again = defaults(Command::up);
  ASSERT_TRUE(overlay_yaml(again, page, "page"));
  const auto checked = check(Command::up, again);
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(program::to_json(Command::up, again), page);
}

// A path that a regular expression tells apart is a path whose spelling matters.
TEST(RouteConditions, ARegularExpressionTellsPathsApart) {
  const auto with = read_conditions("    path_regex: '/a/.*'\n", "  - {name: rest}\n");
  ASSERT_TRUE(with) << with.error().message;
  for (const RouteConfiguration& route : effective_routes(*with)) {
    EXPECT_EQ(route.cache.values.paths.merge_slashes, true) << route.name;
    EXPECT_EQ(route.cache.values.paths.refuses_parameters, true) << "/account;x.css";
  }
  const auto without = read_conditions("    methods: GET\n", "  - {name: rest}\n");
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_EQ(effective_routes(*without).at(0).cache.values.paths.merge_slashes, std::nullopt);
}

// The rule looked for a parameter that the form of the URI had lost, and what it was to keep out of
// the store was stored.
TEST(RouteConditions, WhatTheyAskForIsNotTakenAwayByARegularExpressionBeforeThem) {
  const std::string images =
      "  - {name: images, path_regex: '.*[.]png', cache: {query: {drop: [token]}}}\n";
  const std::string rest = "  - {name: rest}\n";
  for (const std::string asks : {"    headers: {x-a: 1}\n    cache: {bypass: 'query:token'}\n",
                                 "    headers: {x-a: 1}\n    cache: {no_store: 'query:token'}\n",
                                 "    query: {token: 1}\n"}) {
    const auto refused = read_conditions(asks, images + rest);
    ASSERT_FALSE(refused) << asks;
    EXPECT_THAT(refused.error().message, HasSubstr("\"token\"")) << asks;
  }
  EXPECT_TRUE(read_conditions("    headers: {x-a: 1}\n    cache: {bypass: 'query:other'}\n",
                              images + rest));
}

}  // namespace
}  // namespace ringside::program
