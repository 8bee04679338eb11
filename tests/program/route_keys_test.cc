#include "program/route_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "program/configuration_file.h"
#include "program/configuration_json.h"

namespace ringside::program {
namespace {

using testing::HasSubstr;

Configuration read_route_keys(const std::string& text) {
  Configuration configuration = defaults(Command::shard);
  const auto overlaid = overlay_yaml(configuration, text, "f");
  EXPECT_TRUE(overlaid) << text;
  return configuration;
}

TEST(RouteKeys, AnIdMustBeInTheRoutesPathAndAFallbackWithoutOne) {
  struct Row {
    std::string text;
    std::string message;  // empty: valid
  };
  for (const Row& row : std::vector<Row>{
           {"shard_key: id:2", ""},
           {"shard_key: id:{x}",
            "f:1: shard_key: of route default: shard_key: id:{x}: the path / "
            "has no {x}; write it where the id stands"},
           {"routes:\n - name: u\n   path: /u/{id}\n   shard_key: id:{x}",
            "f:2: of route u: shard_key: id:{x}: the path /u/{id} has no {x}"},
           {"routes:\n - name: u\n   path: /u/{id}\n   shard_key: [path, 'id:{id}']\n"
            "   key_fallback: [country, path]",
            ""},
           {"shard_key: id:{id}\nroutes:\n - name: u\n   path: /u/{id}\n   key_fallback: host", ""},
           {"routes:\n - name: u\n   shard_key: id:2\n   key_fallback: path,id:1",
            "f:2: of route u: key_fallback: path,id:1 takes an id too"},
           {"routes:\n - name: u\n   key_fallback: path",
            "f:2: of route u: key_fallback: no request needs it, since country,path takes no id"},
           {"routes:\n - name: u\n   shard_key: id:2\n   key_fallback: 'header:x-country'",
            "f:2: of route u: key_fallback: header:x-country is not passed on"},
           {"shard_key: 'header:x-country'",
            "f:1: shard_key: of route default: shard_key: header:x-country is not passed on"},
       }) {
    const auto checked = check(Command::shard, read_route_keys(row.text));
    ASSERT_EQ(checked.has_value(), row.message.empty()) << row.text;
    if (!checked) {
      EXPECT_THAT(checked.error().message, HasSubstr(row.message));
    }
  }
}

TEST(RouteKeys, TheCountryMayBeUsedByTheFallbackAlone) {
  const std::string route = "routes:\n - name: u\n   shard_key: id:2\n";
  EXPECT_FALSE(uses_country(read_route_keys(route)));
  EXPECT_TRUE(uses_country(read_route_keys(route + "   key_fallback: country")));
}

TEST(RouteKeys, TheJsonOfARouteWithAnIdIsAFileOfIt) {
  const auto configuration = read_route_keys(
      "routes:\n - name: u\n   path: /u/%7b/{id}\n   shard_key: id:{id}\n   key_fallback: path\n");
  const std::string page = to_json(Command::shard, configuration);
  EXPECT_THAT(page, HasSubstr("/u/%7B/{id}"));
  EXPECT_EQ(to_json(Command::shard, read_route_keys(page)), page);
}

}  // namespace
}  // namespace ringside::program
