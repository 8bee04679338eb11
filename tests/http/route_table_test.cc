#include "http/route_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ringside::http {
namespace {

// In an order that is not the order of precedence.
const std::vector<RouteMatch> matches{
    {"", "/"},                          // 0
    {"", "/api"},                       // 1
    {"example.com", "/"},               // 2
    {"example.com", "/api/v2"},         // 3
    {"example.com", "/api"},            // 4
    {"*.example.com", "/"},             // 5
    {"*.img.example.com", "/thumbs/"},  // 6
    {"example.com:8443", "/"},          // 7
    {"only.test", "/in"},               // 8
    {"[::1]", "/"},                     // 9
    {"p.test", "/users/{id}"},          // 10
    {"p.test", "/users/me"},            // 11
    {"p.test", "/users/{id}/orders"},   // 12
    {"p.test", "/{any}/{page}"},        // 13
    {"p.test", "/list"},                // 14
    {"p.test", "/list/{id}/{part}/"},   // 15
    {"p.test", "/admin"},               // 16
};

struct Case {
  std::string host;
  std::string path;
  std::size_t expected;
};

const std::vector<Case> cases{
    {"other.test", "/", 0},
    {"other.test", "/api", 1},
    {"other.test", "/api/x", 1},
    {"other.test", "/apix", 0},  // whole segments
    {"example.com", "/", 2},
    {"example.com", "/api", 4},
    {"example.com", "/api/v2", 3},  // the longest prefix
    {"example.com", "/api/v2/x", 3},
    {"example.com", "/api/v22", 4},
    {"example.com:9000", "/api", 4},  // a host without a port is for every port
    {"example.com:8443", "/api", 7},  // the exact port before
    {"www.example.com", "/api", 5},   // a wildcard before any host, whatever the paths
    {"a.b.example.com", "/", 5},
    {"a.b.example.com:81", "/", 5},
    {"xexample.com", "/", 0},  // a wildcard's dot is part of it
    {"a.img.example.com", "/thumbs/1", 6},
    {"a.img.example.com", "/thumbs", 5},  // a prefix with a slash at its end wants it
    {"only.test", "/in/x", 8},
    {"only.test", "/out", 0},  // falls through to any host
    {"[::1]:8080", "/", 9},
    {"[::1]", "/", 9},
    {"", "/", 0},            // HTTP/1.0 without Host
    {"other.test", "*", 0},  // OPTIONS *
    {"p.test", "/users/7", 10},
    {"p.test", "/users/7/", 10},
    {"p.test", "/users/7/friends", 10},
    {"p.test", "/users/me", 11},  // a name before a placeholder
    {"p.test", "/users/me/orders", 11},
    {"p.test", "/users/7/orders", 12},
    {"p.test", "/users/7/orders/1", 12},
    {"p.test", "/users/7/ordersx", 10},
    {"p.test", "/users", 10},  // without its id, where no route has that name
    {"p.test", "/users/", 10},
    {"p.test", "/user/7", 13},
    {"p.test", "/admin/x", 16},  // a name before a placeholder, whatever is longer
    {"p.test", "/x", 13},
    {"p.test", "/", 13},
    {"p.test", "/list", 14},
    {"p.test", "/list/7", 15},    // without its part
    {"p.test", "/list/7/a", 14},  // a pattern with a slash at its end wants it
    {"p.test", "/list/7/a/", 15},
    {"p.test", "/list/7/a/b", 15},
    {"p.test", "*", 0},
};

TEST(RouteTable, FindsTheMostSpecificRoute) {
  const RouteTable table = *RouteTable::make(matches);
  for (const Case& one : cases) {
    const auto found = table.find(one.host, one.path);
    ASSERT_TRUE(found) << one.host << one.path;
    EXPECT_EQ(found->index, one.expected) << one.host << one.path;
  }
}

TEST(RouteTable, OrderOfTheRoutesDoesNotMatter) {
  std::vector<std::size_t> order(matches.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<RouteMatch> shuffled;
    for (const std::size_t i : order) shuffled.push_back(matches[i]);
    const RouteTable table = *RouteTable::make(shuffled);
    for (const Case& one : cases) {
      const auto found = table.find(one.host, one.path);
      ASSERT_TRUE(found) << one.host << one.path;
      EXPECT_EQ(order[found->index], one.expected) << one.host << one.path;
    }
  }
}

TEST(RouteTable, WithoutACatchAllThereMayBeNoRoute) {
  const RouteTable table = *RouteTable::make({{"a.test", "/x"}});
  EXPECT_FALSE(table.find("a.test", "/y"));
  EXPECT_FALSE(table.find("b.test", "/x"));
  EXPECT_FALSE(RouteTable{}.find("a.test", "/x"));
}

RouteMatch with_regex(std::string path_prefix, std::string_view regex) {
  return {"", std::move(path_prefix), *Regex::make(regex), {}};
}

RouteMatch with(std::string host, std::string path_prefix, RequestConditions conditions) {
  return {std::move(host), std::move(path_prefix), std::nullopt, std::move(conditions)};
}

const ValueCondition preview{"x-preview", {}, {}};
const ValueCondition beta{"beta", {}, {}};

// The number of a request's route; nullopt: none.
std::optional<std::size_t> route_of(const RouteTable& table, std::string_view method,
                                    std::string_view host, std::string_view request_target,
                                    const Fields& fields = {}) {
  Target target;
  EXPECT_TRUE(normalise_target(request_target, target));
  const auto of_uri = table.find_canonical(host, target);
  EXPECT_TRUE(of_uri);
  if (!of_uri || !*of_uri) return std::nullopt;
  return table.choose(**of_uri, host, target, method, fields);
}

TEST(RouteTable, ARegularExpressionNarrowsItsPathAndNoOther) {
  const RouteTable table = *RouteTable::make({
      {"", "/"},                               // 0
      {"", "/account"},                        // 1
      with_regex("/", R"(.*\.(png|css))"),     // 2
      with_regex("/", R"(/[a-z]{2}/.*)"),      // 3
      with_regex("/users/{id}", R"(.*/\d+)"),  // 4
      with_regex("/only", "/only/this"),       // 5
  });
  struct Row {
    std::string path;
    std::size_t expected;
  };
  for (const Row& row : std::vector<Row>{
           {"/a.png", 2},
           {"/de/a.png", 2},  // the first that was given
           {"/de/a.html", 3},
           {"/def/a", 0},
           {"/a.png/b", 0},        // all of the path
           {"/account/a.css", 1},  // the nearest path's rules count, whatever it ends with
           {"/users/7", 4},
           {"/users/anna", 0},
           {"/users", 0},  // cut by its id, it does not match
           {"/only/this", 5},
           {"/only/that", 0},
           {"//de//a.html", 3},
       }) {
    EXPECT_EQ(route_of(table, "GET", "a.test", row.path), row.expected) << row.path;
  }
}

TEST(RouteTable, ConditionsChooseAmongTheRequestsForAUri) {
  const RouteTable table = *RouteTable::make({
      {"", "/"},                                                // 0
      {"", "/api"},                                             // 1
      with("", "/api", {{"POST", "PUT"}, {}, {}}),              // 2
      with("", "/api", {{}, {preview}, {beta}}),                // 3
      with("", "/", {{}, {preview}, {}}),                       // 4
      with("a.test", "/", {{"GET"}, {}, {beta}}),               // 5
      with("", "/users/{id}", {{"DELETE"}, {}, {}}),            // 6
      with("", "/api/v2", {{}, {{"x-tier", "gold", {}}}, {}}),  // 7
  });
  Fields previews;
  previews.add("X-Preview", "");
  Fields gold;
  gold.add("X-Tier", "gold");
  struct Row {
    std::string_view method;
    std::string_view host;
    std::string_view target;
    const Fields& fields;
    std::size_t expected;
  };
  const Fields none;
  for (const Row& row : std::vector<Row>{
           {"GET", "b.test", "/api", none, 1},
           {"POST", "b.test", "/api/x", none, 2},
           {"POST", "b.test", "/apix", none, 0},
           {"POST", "b.test", "/api?beta", previews, 2},  // in the order they were given
           {"GET", "b.test", "/api?beta=1", previews, 3},
           {"GET", "b.test", "/api", previews, 1},  // nearer than the one with conditions
           {"GET", "b.test", "/x", previews, 4},
           {"GET", "a.test", "/api?a=1&beta", none, 5},  // the host is first
           {"HEAD", "a.test", "/?beta", none, 5},        // answered with what GET stored
           {"PURGE", "a.test", "/?beta", none, 5},
           {"POST", "a.test", "/?beta", none, 0},
           {"get", "a.test", "/?beta", none, 0},
           {"DELETE", "b.test", "/users/7", none, 6},
           {"DELETE", "b.test", "/users", none, 6},
           {"GET", "b.test", "/users/7", none, 0},
           {"GET", "b.test", "/api/v2/x", gold, 7},
           {"GET", "b.test", "//api//v2", gold, 7},
           {"GET", "b.test", "/api/v2", none, 1},
       }) {
    EXPECT_EQ(route_of(table, row.method, row.host, row.target, row.fields), row.expected)
        << row.method << row.host << row.target;
  }
}

TEST(RouteTable, WhereNoConditionHoldsThereMayBeNoRoute) {
  const RouteTable table = *RouteTable::make({with("", "/a", {{"GET"}, {}, {}})});
  EXPECT_EQ(route_of(table, "GET", "a.test", "/a"), 0);
  EXPECT_EQ(route_of(table, "POST", "a.test", "/a"), std::nullopt);
  EXPECT_EQ(route_of(table, "GET", "a.test", "/b"), std::nullopt);
}

// Else a POST would mean another stored response than the GET whose answer it makes invalid.
TEST(RouteTable, AUriHasOneFormWhateverElseARequestSays) {
  const PathRules merging{true, true, true};
  const PathRules keeping{false, false, false};
  const RouteTable table = *RouteTable::make(
      {with("", "/a", {{"GET"}, {}, {}}), {"", "/a"}, with("", "/b", {{"GET"}, {}, {}})},
      {merging, keeping, merging});
  Target target;
  ASSERT_TRUE(normalise_target("/a//x%2Fy;z", target));
  EXPECT_EQ((*table.find_canonical("a.test", target))->index, 1U);
  EXPECT_EQ(target.path, "/a//x%2Fy;z");
  EXPECT_EQ(table.choose(**table.find_canonical("a.test", target), "a.test", target, "GET", {}), 0);
  ASSERT_TRUE(normalise_target("/b//x", target));
  EXPECT_EQ((*table.find_canonical("a.test", target))->index, 2U);
  EXPECT_EQ(target.path, "/b/x");
}

TEST(RouteTable, RefusesMatchesThatMakeNoSense) {
  struct Bad {
    std::vector<RouteMatch> matches;
    std::string message;
  };
  const std::vector<Bad> table{
      {{{"a.test", "/x"}, {"b.test", "/"}, {"a.test", "/x"}}, "routes 1 and 3 are for the same"},
      {{{"", "/"}, {"", "/"}}, "host any, path /"},
      {{{"", "/a/{x}"}, {"", "/a"}, {"", "/a/{y}"}}, "routes 1 and 3 are for the same"},
      {{{"", ""}}, "start it with /"},
      {{{"", "x"}}, "start it with /"},
      {{{"*", "/"}}, "no host looks like that"},
      {{{"*.", "/"}}, "no host looks like that"},
      {{{"a.*.test", "/"}}, "no host looks like that"},
      {{with_regex("/", "a"), with_regex("/", "b"), {"", "/"}, with_regex("/", "a")},
       "routes 1 and 4 are for the same"},
      {{with("", "/", {{"GET"}, {}, {}}), {"", "/"}, with("", "/", {{"GET"}, {}, {}})},
       "routes 1 and 3 are for the same"},
  };
  for (const Bad& bad : table) {
    const auto made = RouteTable::make(bad.matches);
    ASSERT_FALSE(made) << bad.message;
    EXPECT_NE(made.error().message.find(bad.message), std::string::npos) << made.error().message;
  }
}

}  // namespace
}  // namespace ringside::http
