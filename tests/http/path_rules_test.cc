#include "http/path_rules.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "http/route_table.h"

namespace ringside::http {
namespace {

// What a request's target becomes, and the number of its route; or the error.
std::string canonical(const RouteTable& table, std::string_view request_target) {
  Target target;
  if (const auto parsed = normalise_target(request_target, target); !parsed) {
    return parsed.error().message;
  }
  const auto route = table.find_canonical("a.test", target);
  if (!route) {
    EXPECT_EQ(route.error().source, ErrorSource::client);
    EXPECT_EQ(route.error().kind, ErrorKind::malformed);
    return route.error().message.find("escaped_slashes: keep") != std::string::npos   ? "slash"
           : route.error().message.find("path_parameters: keep") != std::string::npos ? "parameters"
                                                                                      : "?";
  }
  return (*route ? std::to_string((*route)->index) : "-") + " " + target.text();
}

const std::vector<RouteMatch> matches{{"", "/static"}, {"", "/account"}, {"", "/api"}};
constexpr PathRules careful{true, true, false};
constexpr PathRules careless{false, false, false};

// `/static/..%2faccount` was stored for all by the rules of `/static`; `//account` slipped past the
// bypass of `/account`.
TEST(PathRules, ASpellingGotPastTheRulesOfARoute) {
  std::vector<RouteMatch> with_rest = matches;
  with_rest.push_back({"", "/"});
  const auto table =
      *RouteTable::make(with_rest, {careful, careful, careful, PathRules{true, true, true}});
  struct Row {
    std::string_view target;
    std::string_view is;
  };
  for (const Row& row : std::vector<Row>{
           {"/static/a?b//c", "0 /static/a?b//c"},
           {"//account", "1 /account"},
           {"///account//x/", "1 /account/x/"},
           {"/static//../account", "0 /static/account"},
           {"/static/..%2faccount", "slash"},
           {"/static/..%5caccount", "slash"},
           {"/static/..\\account", "slash"},
           {"/static/%2e%2e%2Faccount", "slash"},
           {"/%2faccount", "slash"},
           {"/account%2f", "slash"},
           {"/account%2fx", "slash"},
           {"/x%2Fy", "slash"},
           {"/static/a;v=1", "0 /static/a;v=1"},
           {"/account;v=1", "parameters"},  // the rest's word: it is not /account as it stands
           {"/x;v=1", "parameters"},
           {"/x%3bv=1", "parameters"},
           {"/x", "3 /x"},
           {"*", "3 *"},
       }) {
    EXPECT_EQ(canonical(table, row.target), row.is) << row.target;
  }
}

TEST(PathRules, WhatOneRouteRefusesAnotherOneDoesNotLetThrough) {
  const PathRules no_parameters{true, true, true};
  const auto table = *RouteTable::make(matches, {careless, no_parameters, careless});
  for (const std::string_view target : {"/static/..%2faccount", "/static/..%2f%2faccount",
                                        "/api/%2f..%2f..%2faccount/x", "/static/..%5Caccount;x"}) {
    EXPECT_EQ(canonical(table, target), "slash") << target;
  }
  EXPECT_EQ(canonical(table, "/static/..;/account"), "parameters");
  EXPECT_EQ(canonical(table, "/api/x;a/..;b/..;c/account"), "parameters");
  EXPECT_EQ(canonical(table, "/api/x;a/..;b/account"), "2 /api/x;a/..;b/account");
  EXPECT_EQ(canonical(table, "/account/x;y"), "parameters");
  EXPECT_EQ(canonical(table, "/static/a%2Fb"), "0 /static/a%2Fb");
  EXPECT_EQ(canonical(table, "/static//a"), "0 /static//a");
  EXPECT_EQ(canonical(table, "//account"), "1 /account");
  EXPECT_EQ(canonical(table, "/static/..%2fother"), "0 /static/..%2Fother");
  EXPECT_EQ(canonical(table, "/other%2f"), "- /other%2F");
}

TEST(PathRules, WithoutThemAPathStaysAsItIs) {
  const auto table = *RouteTable::make({{"", "/"}});
  for (const std::string target : {"/a//b", "/a%2Fb", "/a%5Cb;c", "//"}) {
    EXPECT_EQ(canonical(table, target), "0 " + target);
  }
}

TEST(PathRules, TheCanonicalPathIsItsOwn) {
  const auto table = *RouteTable::make({{"", "/"}}, {careful});
  for (const std::string_view target : {"//a///b//", "/a/..//b", "//", "/.//a", "/a//./b"}) {
    const std::string once = canonical(table, target).substr(2);
    EXPECT_EQ(canonical(table, once), "0 " + once) << target;
    EXPECT_FALSE(has_double_slash(once)) << once;
  }
}

TEST(PathRules, AsOriginsReadIt) {
  EXPECT_EQ(as_read_plainly("/a%2F..%2Fb", Parameters::kept), "/b");
  EXPECT_EQ(as_read_plainly("/a/..%5C%2Fb;x/..", Parameters::kept), "/");
  EXPECT_EQ(as_read_plainly("/a/..;x=1/b;y", Parameters::cut), "/b");
  EXPECT_EQ(as_read_plainly("/a%3Bx%2Fb", Parameters::cut), "/a/b");
  EXPECT_EQ(as_read_plainly("/a%252F", Parameters::cut), "/a%252F");
}

}  // namespace
}  // namespace ringside::http
