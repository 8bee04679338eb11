#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shard/jedis_ring.h"
#include "shard/shard_key.h"
#include "tests/shard/golden_csv.h"
#include "tests/shard/some_topology.h"

// tests/golden/README.md says where these answers come from.
namespace ringside::shard {
namespace {

// Checks every column `n=…` of `rows`, which hold positions of shards.
void expect_positions(const std::vector<GoldenRow>& rows, std::string_view scheme,
                      std::initializer_list<std::size_t> counts) {
  for (const std::size_t n : counts) {
    const auto topology = topology_of(caches(n), scheme);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(topology->members()[i], caches(n)[i]);
    for (const GoldenRow& row : rows) {
      EXPECT_EQ(std::to_string(topology->owner(key_of(row.at("key")))),
                row.at(fmt::format("n={}", n)))
          << row.at("key") << " of " << n;
    }
  }
}

TEST(Golden, JedisRingOwnsWhatJedisOwns) {
  const auto rows = read_golden("jedis_ring.csv");
  EXPECT_EQ(rows.size(), 500U);
  for (const GoldenRow& row : rows) {
    EXPECT_EQ(std::to_string(jedis_position_of(row.at("key"))), row.at("hash"));
  }
  expect_positions(rows, "jedis-ring", {1, 2, 3, 10, 11});
}

TEST(Golden, SimpleSha1OwnsWhatTheSimpleSchemeOwns) {
  const auto rows = read_golden("sha1_simple.csv");
  EXPECT_EQ(rows.size(), 500U);
  expect_positions(rows, "simple-sha1", {1, 2, 3, 5, 7, 10, 11, 12});
}

TEST(Golden, NginxOwnsWhatNginxPicks) {
  const auto rows = read_golden("nginx_consistent.csv");
  EXPECT_EQ(rows.size(), 2'000U);
  const auto servers = [](std::size_t count) {
    std::vector<Member> members;
    for (std::size_t i = 0; i < count; ++i) {
      members.push_back({fmt::format("127.0.0.1:{}", 7700 + i), 1, ""});
    }
    return members;
  };
  std::vector<Member> weighted = servers(3);
  weighted[1].weight = 2;
  weighted[2].weight = 5;
  const std::pair<std::string, TopologyPointer> columns[] = {
      {"10 servers 127.0.0.1:7700..7709", topology_of(servers(10), "nginx")},
      {"11 servers 127.0.0.1:7700..7710", topology_of(servers(11), "nginx")},
      {"127.0.0.1:7700 weight=1, :7701 weight=2, :7702 weight=5", topology_of(weighted, "nginx")}};
  for (const GoldenRow& row : rows) {
    // As a route of `path` alone makes it of what nginx was asked with.
    std::string bytes;
    append_key_value(bytes, row.at("key"));
    for (const auto& [column, topology] : columns) {
      EXPECT_EQ(owner_name(*topology, key_of(row.at("key"))), row.at(column)) << row.at("key");
      EXPECT_EQ(owner_name(*topology, key_of(bytes)), row.at(column)) << row.at("key");
    }
  }
}

TEST(Golden, RingIsWhatItAlwaysWas) {
  const auto rows = read_golden("ring.csv");
  EXPECT_EQ(rows.size(), 500U);
  std::map<std::string, TopologyPointer> rings;
  for (const std::size_t n : {1U, 2U, 3U, 10U, 11U}) {
    rings[fmt::format("n={}", n)] = topology_of(caches(n));
  }
  rings["weights 1 2 5"] =
      topology_of({{"cache-0", 1, "a"}, {"cache-1", 2, "b"}, {"cache-2", 5, ""}});
  for (const GoldenRow& row : rows) {
    std::string bytes;
    append_key_value(bytes, row.at("country"));
    append_key_value(bytes, row.at("path"));
    const ShardKey key = key_of(bytes);
    EXPECT_EQ(fmt::format("{:016x}", key.hash), row.at("hash")) << bytes;
    EXPECT_EQ(std::to_string(bucket_of(key.hash)), row.at("bucket")) << bytes;
    for (const auto& [column, ring] : rings) {
      EXPECT_EQ(owner_name(*ring, key), row.at(column)) << bytes << column;
    }
    EXPECT_EQ(fmt::format("{}", fmt::join(owner_names(*rings["n=11"], key, 11), " ")),
              row.at("n=11 in order"))
        << bytes;
  }
}

// Of schemes without answers of others. A release with other owners would begin with a cold cache.
TEST(Golden, OwnersAreWhatTheyAlwaysWere) {
  struct Row {
    std::string_view scheme;
    std::uint64_t alike;     // the hash of the owners among eleven
    std::uint64_t weighted;  // likewise of four, weights 1, 2, 0, 5; 0: it takes none
  };
  for (const Row& row : std::to_array<Row>({
           {"directory", 7932777664127508707U, 9169517672699783912U},
           {"jump", 4868343223447767520U, 0},
           {"maglev", 9879566705407329807U, 2357403881076049140U},
           {"modulo", 16559460286027739919U, 10976392719709375542U},
           {"rendezvous", 4695856539290360359U, 3133565027663197955U},
           {"split-tree", 8016343771898446264U, 3574773393618332153U},
           {"vbucket", 3856638079648300615U, 506778247092847168U},
       })) {
    const auto owners_of = [&](std::vector<Member> members) {
      const auto topology = topology_of(std::move(members), row.scheme);
      std::string owners;
      for (int i = 0; i < 2'000; ++i) {
        owners += owner_name(*topology, key_of(fmt::format("DE\n/page/{}\n", i))) + " ";
      }
      return hash64(owners);
    };
    EXPECT_EQ(owners_of(caches(11)), row.alike) << row.scheme;
    if (row.weighted == 0) continue;
    EXPECT_EQ(
        owners_of({{"cache-0", 1, ""}, {"cache-1", 2, ""}, {"cache-2", 0, ""}, {"cache-3", 5, ""}}),
        row.weighted)
        << row.scheme;
  }
}

TEST(Golden, TopologyIdIsWhatItAlwaysWas) {
  const auto rows = read_golden("topology_id.csv");
  EXPECT_EQ(rows.size(), 11U);
  for (const GoldenRow& row : rows) {
    std::vector<Member> members;
    for (const std::string& written : split(row.at("members"), ' ')) {
      if (written.empty()) continue;
      const auto parts = split(written, '/');
      ASSERT_EQ(parts.size(), 3U) << written;
      members.push_back({parts[0], static_cast<std::uint32_t>(std::stoul(parts[1])), parts[2]});
    }
    EXPECT_EQ(topology_of(members, row.at("scheme"))->id().hex(), row.at("id"))
        << row.at("scheme") << " " << row.at("members");
  }
}

}  // namespace
}  // namespace ringside::shard
