#include "program/stored_shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ringside::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<const shard::Topology> two_ranges() {
  const shard::State state{{{"", "cache-0", {}}, {"m", "cache-1", 0}}, {}};
  return shard::Topology::make({{"cache-0", 1, ""}, {"cache-1", 1, ""}}, "range", 1, state).value();
}

TEST(StoredShards, AreReadAsTheyAreTold) {
  const auto topology = two_ranges();
  const std::string body =
      to_json(*topology, {{"cache-0", {7, 0}}, {"cache-1", {0, 12}}, {"cache-9", {1, 1}}});
  const auto page = nlohmann::json::parse(body);
  EXPECT_EQ(page["shards"][0].dump(),
            R"({"at":"","owner":"cache-0","stored":{"cache-0":7,"cache-9":1}})");
  const auto read = parse_stored_shards(body, *topology).value();
  ASSERT_EQ(read.size(), 2U) << "cache-9 is no member";
  EXPECT_EQ(read[0].replica, "cache-0");
  EXPECT_THAT(read[0].responses, ElementsAre(7, 0));
  EXPECT_THAT(read[1].responses, ElementsAre(0, 12));
}

TEST(StoredShards, OfAnotherTopologyTellNothing) {
  const auto empty = shard::Topology::make({}, "ring", 1).value();
  const std::string body = to_json(*empty, {});
  EXPECT_THAT(body, HasSubstr(empty->id().hex()));
  EXPECT_TRUE(parse_stored_shards(body, *two_ranges()).value().empty());
}

TEST(StoredShards, WhatCannotBeReadIsAnErrorOfThePeer) {
  const auto topology = two_ranges();
  const std::string begin = R"({"topology_id": ")" + topology->id().hex() + R"(", "replicas": )";
  for (const std::string rest :
       {R"(["cache-0"]})", R"([7], "shards": []})", R"("cache-0", "shards": []})",
        R"(["cache-0"], "shards": {}})", R"(["cache-0"], "shards": [{}, {}]})",
        R"(["cache-0"], "shards": [{"stored": 1}, {"stored": {}}]})",
        R"(["cache-0"], "shards": [{"stored": {"cache-0": -1}}, {"stored": {}}]})",
        R"(["cache-0"], "shards": [{"stored": {"cache-0": "1"}}, {"stored": {}}]})", "{", ""}) {
    const auto read = parse_stored_shards(begin + rest, *topology);
    ASSERT_FALSE(read) << rest;
    EXPECT_THAT(read.error().message, HasSubstr("is it the same release?"));
    EXPECT_EQ(read.error().source, ErrorSource::peer);
  }
  EXPECT_FALSE(parse_stored_shards("{}", *topology));
  EXPECT_FALSE(parse_stored_shards("[]", *topology));
}

}  // namespace
}  // namespace ringside::program
