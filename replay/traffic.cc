#include "replay/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/check.h"

namespace ringside::replay {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): one addition and a mixing of bits for each number.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }
  // 0 … bound-1. Off from uniform by at most bound/2^32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

// Draws a position in proportion to its weight.
class Weighted {
 public:
  void add(std::uint32_t weight) { sums_.push_back(total() + weight); }
  std::size_t draw(Random& random) const {
    const std::uint32_t point = random.below(total());
    return static_cast<std::size_t>(std::upper_bound(sums_.begin(), sums_.end(), point) -
                                    sums_.begin());
  }

 private:
  [[nodiscard]] std::uint32_t total() const { return sums_.empty() ? 0 : sums_.back(); }
  std::vector<std::uint32_t> sums_;
};

// Large allocations by the regional registries, one of each family a country. The countries are for
// the reader: which country an address counts for is the database's to say.
struct Readers {
  std::uint32_t weight;
  std::string_view v4;
  std::string_view v6;
};
constexpr std::array<Readers, 36> readers{{
    {240, "6.0.0.0/7", "2630::/16"},           // US
    {110, "36.128.0.0/10", "240e::/18"},       // CN
    {90, "117.192.0.0/10", "240a:e000::/20"},  // IN
    {80, "53.0.0.0/8", "2003:1000::/20"},      // DE
    {70, "133.0.0.0/8", "2400:2000::/20"},     // JP
    {60, "25.0.0.0/8", "2a08::/19"},           // GB
    {60, "90.0.0.0/10", "2a01:d000::/20"},     // FR
    {55, "179.128.0.0/11", "2804:d40::/27"},   // BR
    {40, "79.0.0.0/10", "2a01:2000::/20"},     // IT
    {40, "121.128.0.0/10", "2400::/20"},       // KR
    {35, "99.224.0.0/11", "2600:1600::/24"},   // CA
    {35, "83.32.0.0/11", "2a02:9000::/23"},    // ES
    {30, "189.128.0.0/10", "2806:1000::/24"},  // MX
    {30, "39.192.0.0/10", "2a07:eb40::/29"},   // ID
    {25, "1.128.0.0/11", "2001:8000::/19"},    // AU
    {25, "145.96.0.0/11", "2001:1c00::/23"},   // NL
    {25, "83.0.0.0/11", "2a01:1000::/21"},     // PL
    {20, "78.160.0.0/11", "2001:1b68::/29"},   // TR
    {20, "14.160.0.0/11", "2405:4800::/30"},   // VN
    {20, "37.52.0.0/14", "2a00:17a0::/29"},    // UA
    {15, "186.128.0.0/12", "2800:2000::/20"},  // AR
    {15, "41.0.0.0/11", "2c0e:2000::/20"},     // ZA
    {15, "78.64.0.0/12", "2001:2800::/21"},    // SE
    {15, "171.96.0.0/13", "2404:8d00::/29"},   // TH
    {15, "120.96.0.0/11", "2001:b000::/21"},   // TW
    {12, "105.112.0.0/12", "2c0f:26c0::/28"},  // NG
    {12, "156.160.0.0/11", "2c0e::/20"},       // EG
    {12, "181.128.0.0/11", "2800:e0::/28"},    // CO
    {10, "85.0.0.0/13", "2001:1700::/27"},     // CH
    {10, "92.80.0.0/13", "2a04:2400::/27"},    // RO
    {10, "85.160.0.0/14", "2a02:a40::/28"},    // CZ
    {8, "94.64.0.0/13", "2001:648::/29"},      // GR
    {8, "79.176.0.0/13", "2a10:8000::/27"},    // IL
    {8, "91.152.0.0/13", "2001:670::/29"},     // FI
    {6, "105.48.0.0/12", "2001:4358::/32"},    // KE
    {6, "191.112.0.0/13", "2001:1310::/32"},   // CL
}};
constexpr std::uint32_t v6_percent = 30;

Network parse_block(std::string_view text) {
  const auto block = Network::parse(text);
  RINGSIDE_CHECK(block.has_value());
  return *block;
}

// Random bits behind the block's prefix.
IpAddress address_in(const Network& block, Random& random) {
  auto bytes = block.base().bytes();
  const std::array<std::uint64_t, 2> bits{random.next(), random.next()};
  for (unsigned i = block.prefix_bits(); i < 128; ++i) {
    const auto bit = static_cast<std::uint8_t>((bits[i / 64] >> (i % 64)) & 1U);
    bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | (bit << (7 - i % 8)));
  }
  return IpAddress(bytes);
}

std::string page(std::size_t rank) {
  constexpr std::array<std::string_view, 5> sections{"articles", "products", "images", "people",
                                                     "docs"};
  if (rank == 0) return "/";
  const std::string path = fmt::format("/{}/{}", sections[rank % sections.size()], rank);
  return rank % 10 == 7 ? fmt::format("{}?page={}", path, 1 + rank % 3) : path;
}

}  // namespace

std::vector<LogRequest> generate_traffic(const TrafficPlan& plan) {
  RINGSIDE_CHECK(plan.paths >= 1 && plan.paths <= 100'000);
  constexpr std::uint32_t heaviest = 1U << 24;  // the sum for 100,000 paths is below 2^28
  Weighted ranks;
  for (std::uint32_t rank = 1; rank <= plan.paths; ++rank) ranks.add(heaviest / rank);
  struct Blocks {
    Network v4, v6;
  };
  Weighted places;
  std::vector<Blocks> blocks;
  for (const Readers& row : readers) {
    places.add(row.weight);
    blocks.push_back({parse_block(row.v4), parse_block(row.v6)});
  }
  Random random(plan.seed);
  std::vector<LogRequest> requests;
  requests.reserve(plan.requests);
  for (std::uint64_t line = 1; line <= plan.requests; ++line) {
    const std::size_t rank = ranks.draw(random);
    const Blocks& place = blocks[places.draw(random)];
    const bool is_v6 = random.below(100) < v6_percent;
    requests.push_back({address_in(is_v6 ? place.v6 : place.v4, random), "GET", page(rank), line});
  }
  return requests;
}

}  // namespace ringside::replay
