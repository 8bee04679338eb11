#include "replay/traffic.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace ringside::replay {
namespace {

std::string text(const LogRequest& request) {
  return std::to_string(request.line) + " " + request.client.text() + " " + request.method + " " +
         request.target;
}

// Pinned, so that figures of one machine can be compared with those of another.
TEST(GenerateTraffic, IsTheSameEverywhere) {
  const auto requests = generate_traffic({1, 10, 400});
  std::vector<std::string> lines;
  for (const LogRequest& request : requests) lines.push_back(text(request));
  const std::vector<std::string> golden{
      "1 39.234.221.142 GET /images/22",
      "2 41.26.194.211 GET /people/83",
      "3 79.54.217.246 GET /images/7?page=2",
      "4 121.152.198.71 GET /products/1",
      "5 7.160.206.146 GET /",
      "6 90.38.54.255 GET /",
      "7 179.129.107.2 GET /people/28",
      "8 90.5.228.213 GET /images/17?page=3",
      "9 2a02:9161:1cb0:ffe5:8106:63f9:808b:e7b GET /products/161",
      "10 240a:ec84:4c0c:9b27:5eab:b786:2008:6597 GET /people/138",
  };
  EXPECT_EQ(lines, golden);
}

TEST(GenerateTraffic, ALongerRunBeginsLikeAShorterOne) {
  const auto shorter = generate_traffic({7, 100, 400});
  auto longer = generate_traffic({7, 200, 400});
  longer.resize(100);
  EXPECT_EQ(shorter, longer);
  EXPECT_NE(shorter, generate_traffic({8, 100, 400}));
}

TEST(GenerateTraffic, PopularityFallsWithTheRank) {
  constexpr std::size_t requests = 50'000;
  std::map<std::string, std::size_t> counts;
  for (const LogRequest& request : generate_traffic({1, requests, 100})) ++counts[request.target];
  EXPECT_EQ(counts.size(), 100U);
  // The sum of 1/k for k = 1 … 100 is 5.187.
  const double unit = static_cast<double>(requests) / 5.187;
  EXPECT_NEAR(static_cast<double>(counts["/"]), unit, unit * 0.05);
  EXPECT_NEAR(static_cast<double>(counts["/products/1"]), unit / 2, unit / 2 * 0.05);
  EXPECT_NEAR(static_cast<double>(counts["/people/8"]), unit / 9, unit / 9 * 0.1);
}

TEST(GenerateTraffic, ClientsArePublicAddressesOfBothFamilies) {
  std::size_t v4 = 0;
  std::set<IpAddress> clients;
  const auto requests = generate_traffic({1, 10'000, 400});
  for (const LogRequest& request : requests) {
    EXPECT_FALSE(request.client.is_special()) << request.client.text();
    v4 += request.client.is_v4() ? 1 : 0;
    clients.insert(request.client);
  }
  EXPECT_NEAR(static_cast<double>(v4), 7'000, 200);
  EXPECT_GT(clients.size(), 9'900U);
}

}  // namespace
}  // namespace ringside::replay
