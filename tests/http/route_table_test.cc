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
    EXPECT_EQ(table.find(one.host, one.path), one.expected) << one.host << one.path;
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
      EXPECT_EQ(order[*found], one.expected) << one.host << one.path;
    }
  }
}

TEST(RouteTable, WithoutACatchAllThereMayBeNoRoute) {
  const RouteTable table = *RouteTable::make({{"a.test", "/x"}});
  EXPECT_EQ(table.find("a.test", "/y"), std::nullopt);
  EXPECT_EQ(table.find("b.test", "/x"), std::nullopt);
  EXPECT_EQ(RouteTable{}.find("a.test", "/x"), std::nullopt);
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
  };
  for (const Bad& bad : table) {
    const auto made = RouteTable::make(bad.matches);
    ASSERT_FALSE(made) << bad.message;
    EXPECT_NE(made.error().message.find(bad.message), std::string::npos) << made.error().message;
  }
}

}  // namespace
}  // namespace ringside::http
