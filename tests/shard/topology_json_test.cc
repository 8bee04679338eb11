#include "shard/topology_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(TopologyJson, TellsMembersAndTheirShares) {
  const auto topology =
      *Topology::make({{"cache-1", 3, "b"}, {"cache-0", 1, "a"}, {"cache-10", 1, ""}}, "ring", 7);
  const json told = json::parse(to_json(*topology));
  EXPECT_EQ(told["id"], topology->id().hex());
  EXPECT_EQ(told["version"], 7);
  EXPECT_EQ(told["scheme"], "ring");
  EXPECT_EQ(told["buckets"], 16384);
  ASSERT_EQ(told["members"].size(), 3U);
  std::size_t buckets = 0;
  double share = 0;
  for (const json& member : told["members"]) {
    buckets += member["buckets"].get<std::size_t>();
    share += member["share"].get<double>();
  }
  EXPECT_EQ(buckets, bucket_count);
  EXPECT_DOUBLE_EQ(share, 1.0);
  const json& heavy = told["members"][1];
  EXPECT_EQ(heavy["name"], "cache-1");
  EXPECT_EQ(heavy["weight"], 3);
  EXPECT_EQ(heavy["zone"], "b");
  EXPECT_GT(heavy["buckets"].get<std::size_t>(), bucket_count / 2);
}

TEST(TopologyJson, TellsNoSharesWhereTheSchemeHasNoBuckets) {
  const std::vector<Member> members{{"red", 1, ""}, {"green", 1, ""}};
  const json told = json::parse(to_json(*topology_of(members, "nginx")));
  EXPECT_TRUE(told["members"][0]["buckets"].is_null());
  EXPECT_TRUE(told["members"][0]["share"].is_null());
  EXPECT_EQ(json::parse(to_json(*topology_of({})))["members"], json::array());
}

TEST(TopologyJson, ReadsARequest) {
  const auto request = parse_topology_json(R"({"version": 2, "scheme": "ring", "members": [
      {"name": "cache-1", "address": "[::1]:8081"},
      {"name": "cache-0", "address": "10.0.0.1:8080", "weight": 2, "zone": "a"}]})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->version, 2U);
  EXPECT_EQ(request->scheme, "ring");
  const std::vector<MemberAt> members = {{{"cache-1", 1, ""}, {"::1", 8081}},
                                         {{"cache-0", 2, "a"}, {"10.0.0.1", 8080}}};
  EXPECT_EQ(request->members, members);
}

TEST(TopologyJson, ReadsARequestOfAsLittleAsMayBe) {
  const auto request = parse_topology_json(R"({"scheme": "simple-sha1", "members": []})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->version, 0U);
  EXPECT_TRUE(request->members.empty());
}

// What was shown could not be sent back.
TEST(TopologyJson, ReadsMembersWithoutAddressWhereNoneIsNeeded) {
  const std::string text =
      R"({"scheme": "ring", "members": [{"name": "a"}, {"name": "b", "address": null}]})";
  EXPECT_FALSE(parse_topology_json(text));
  const auto request = parse_topology_json(text, Addresses::not_needed);
  ASSERT_TRUE(request) << request.error().message;
  ASSERT_EQ(request->members.size(), 2U);
  EXPECT_EQ(request->members[1].address.host, "");
  for (const std::string_view wrong :
       {R"({"scheme": "ring", "members": [{"name": "a", "address": "x"}]})",
        R"({"scheme": "ring", "members": [{"name": "a", "address": 1}]})",
        R"({"scheme": "ring", "members": [{"name": "a"}, {"name": "a"}]})"}) {
    EXPECT_FALSE(parse_topology_json(wrong, Addresses::not_needed)) << wrong;
  }
}

TEST(TopologyJson, ReadsWhatItShows) {
  const auto topology = *Topology::make({{"cache-0", 2, "a"}}, "ring", 7);
  json shown = json::parse(to_json(*topology));
  shown["self"] = {{"name", "cache-0"}, {"buckets", 1}};
  shown["members"][0].update(
      {{"address", "a:1"}, {"ready", true}, {"terminating", false}, {"placed_in", "a"}});
  const auto request = parse_topology_json(shown.dump());
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->version, 7U);
  EXPECT_EQ(request->members, (std::vector<MemberAt>{{{"cache-0", 2, "a"}, {"a", 1}}}));
}

std::string with_member(const std::string& fields) {
  return R"({"scheme": "ring", "members": [{"name": "a", "address": "10.0.0.1:80"}, {)" + fields +
         "}]}";
}

void expect_refused(const std::string& body, const std::string& place, const std::string& remedy) {
  const auto request = parse_topology_json(body);
  ASSERT_FALSE(request) << body.substr(0, 200);
  EXPECT_EQ(request.error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(request.error().source, ErrorSource::client);
  EXPECT_THAT(request.error().message, HasSubstr(place));
  EXPECT_THAT(request.error().message, HasSubstr(remedy));
  EXPECT_LT(request.error().message.size(), 400U);
}

TEST(TopologyJson, RefusesWhatIsNoJson) {
  expect_refused("", "line 1, column 1", "this is no JSON");
  expect_refused("{", "line 1, column 2", "this is no JSON");
  expect_refused("{\n  \"scheme\": ring}", "line 2, column 13", "this is no JSON");
  expect_refused("{\"scheme\": \"\xff\"}", "line 1", "this is no JSON");
  expect_refused("{} {}", "line 1, column 4", "this is no JSON");
  expect_refused("{\"scheme\": NaN}", "line 1", "this is no JSON");
  expect_refused(R"({"scheme": "ring", "scheme": "rung"})", "\"scheme\" stands twice", "leave one");
  expect_refused(with_member(R"("name": "b", "name": "c")"), "\"name\" stands twice", "leave one");
  expect_refused(std::string(3'000'000, '['), "more than 16 deep", "no setting needs that");
}

TEST(TopologyJson, RefusesWhatIsTooBig) {
  const std::string body = with_member(R"("name": "b", "address": "10.0.0.2:80")");
  ASSERT_TRUE(
      parse_topology_json(body + std::string(limits::admin_body_size_bytes - body.size(), ' ')));
  expect_refused(body + std::string(limits::admin_body_size_bytes + 1 - body.size(), ' '),
                 "4194305 bytes", "at most 4194304");
  json members = json::array();
  for (std::size_t i = 0; i <= limits::members; ++i) {
    members.push_back({{"name", std::to_string(i)}, {"address", "a" + std::to_string(i) + ":80"}});
  }
  const auto request = [&] { return json{{"scheme", "ring"}, {"members", members}}.dump(); };
  expect_refused(request(), "members: has 1025", "at most 1024");
  members.erase(0);
  EXPECT_TRUE(parse_topology_json(request()));
  for (json& member : members) member["weight"] = 17;
  expect_refused(request(), "members: their weights add up to 17408", "at most 16384");
  for (json& member : members) member["weight"] = 0;
  expect_refused(request(), "members: their weights are all 0", "give one member at least 1");
  members.back()["weight"] = 1;
  EXPECT_TRUE(parse_topology_json(request()));
}

TEST(TopologyJson, NamesThePlaceAndTheRemedy) {
  struct Case {
    std::string body;
    std::string place;
    std::string remedy;
  };
  const Case cases[] = {
      {"[]", "the whole: is of type array", "version, scheme, members"},
      {"{}", "scheme: is missing", "give a string"},
      {R"({"scheme": 1, "members": []})", "scheme: is of type number", "give a string"},
      {R"({"scheme": "rung", "members": []})", "scheme: ", "jedis-ring, jump, maglev, modulo"},
      {R"({"scheme": "ring"})", "members: is missing", "give a list such as"},
      {R"({"scheme": "ring", "members": {}})", "members: is of type object", "give an array"},
      {R"({"scheme": "ring", "members": [], "epoch": 1})", "\"epoch\": this key is not known",
       "version, scheme, members"},
      {R"({"scheme": "ring", "members": [], "version": -1})", "version: is negative",
       "whole number"},
      {R"({"scheme": "ring", "members": [], "version": 1.0})",
       "version: is negative, too large or has a fraction", "whole"},
      {R"({"scheme": "ring", "members": [], "version": "1"})", "version: is of type string",
       "whole"},
      {R"({"scheme": "ring", "members": [], "version": 18446744073709551616})",
       "version: is negative, too large", "whole"},
      {R"({"scheme": "ring", "members": ["cache-0"]})", "members[0]: is of type string",
       "name, address, weight, zone"},
      {with_member(""), "members[1].name: is missing", "give a string"},
      {with_member(R"("name": "b")"), "members[1].address: is missing", "give a string"},
      {with_member(R"("name": "", "address": "x:1")"), "members[1].name: is empty", "cache-0"},
      {with_member(R"("name": "b\u0000", "address": "x:1")"), "members[1].name: holds", "letters"},
      {with_member(R"("name": ["b"], "address": "x:1")"), "members[1].name: is of type array",
       "string"},
      {with_member(R"("name": "b", "address": "x:1", "ip": "y")"),
       "members[1].\"ip\": this key is not known", "name, address, weight, zone"},
      {with_member(R"("name": "b", "address": "x:1", "weight": 1001)"),
       "members[1].weight: is 1001", "give 0 to 1000"},
      {with_member(R"("name": "b", "address": "x:1", "weight": -1)"),
       "members[1].weight: is negative", "whole number"},
      {with_member(R"("name": "b", "address": "x:1", "weight": 4294967297)"),
       "members[1].weight: is 4294967297", "give 0 to 1000"},
      {with_member(R"("name": "b", "address": "x:1", "weight": null)"),
       "members[1].weight: is of type null", "whole number"},
      {with_member(R"("name": "b", "address": "x:1", "zone": 3)"),
       "members[1].zone: is of type number", "give a string"},
      {with_member(R"("name": "b", "address": "x:1", "zone": "a b")"), "members[1].zone: holds",
       "letters"},
      {with_member(R"("name": "a", "address": "x:1")"),
       "members[1].name: \"a\" is also the name of members[0]", "needs its own"},
      {with_member(R"("name": "b", "address": "10.0.0.1:80")"),
       "members[1].address: \"10.0.0.1:80\" is also the address of members[0]", "needs its own"},
      {with_member(R"("name": "b", "address": "x")"), "members[1].address: ", ""},
      {with_member(R"("name": "b", "address": "x:99999")"), "members[1].address: ", ""},
      {with_member("\"name\": \"b\", \"address\": \"x:1\", \"" + std::string(100'000, 'k') +
                   "\": 1"),
       "kkk…\": this key is not known", "name, address, weight, zone"},
  };
  for (const Case& c : cases) expect_refused(c.body, c.place, c.remedy);
}

}  // namespace
}  // namespace ringside::shard
