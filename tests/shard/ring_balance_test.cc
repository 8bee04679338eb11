#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "tests/shard/some_topology.h"

// What a ring of 160 points gives on average is a promise of docs and plans: how uneven the load
// is, and how much moves when ten replicas become eleven. Measured over many sets of names, since
// any one set proves nothing.
namespace ringside::shard {
namespace {

constexpr std::size_t sets = 1'000;
constexpr std::size_t replicas_before = 10;

// Half of the sets are StatefulSets, prefix-0 to prefix-10; the others have no pattern at all.
std::vector<Member> random_members(std::mt19937_64& dice, bool patterned) {
  const auto word = [&] {
    std::string letters;
    for (int i = 0; i < 8; ++i) letters.push_back(static_cast<char>('a' + dice() % 26));
    return letters;
  };
  const std::string prefix = word();
  std::vector<Member> members;
  for (std::size_t i = 0; i <= replicas_before; ++i) {
    members.push_back({patterned ? fmt::format("{}-{}", prefix, i) : word(), 1, ""});
  }
  return members;
}

double peak_to_mean(const Topology& topology) {
  std::vector<std::size_t> buckets(topology.members().size());
  for (const MemberIndex owner : topology.bucket_owners()) ++buckets[owner];
  const double mean = double(bucket_count) / double(buckets.size());
  return double(*std::max_element(buckets.begin(), buckets.end())) / mean;
}

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, std::size_t(share * double(values.size())))];
}

// Says what was measured, on the terminal and in the report.
double report(const std::string& what, double value) {
  testing::Test::RecordProperty(what, fmt::format("{:.4f}", value));
  std::fputs(fmt::format("[ measured ] {} = {:.4f}\n", what, value).c_str(), stdout);
  return value;
}

// Of the keys with these hashes, the share that moves. Fails where one moves anywhere but to the
// newcomer.
double moved_share(const Topology& before, const Topology& after, const std::string& newcomer,
                   const std::vector<std::uint64_t>& hashes) {
  std::size_t moved = 0;
  std::size_t astray = 0;
  for (const std::uint64_t hash : hashes) {
    const std::string& from = owner_name(before, {{}, hash});
    const std::string& to = owner_name(after, {{}, hash});
    if (from == to) continue;
    ++moved;
    if (to != newcomer) ++astray;
  }
  EXPECT_EQ(astray, 0U) << newcomer;
  return double(moved) / double(hashes.size());
}

TEST(RingBalance, StaysWithinItsPromise) {
  std::mt19937_64 dice(20);
  std::vector<double> peaks;
  std::vector<double> moves;
  for (std::size_t set = 0; set < sets; ++set) {
    std::vector<Member> members = random_members(dice, set % 2 == 0);
    const auto after = topology_of(members);
    const std::string newcomer = members.back().name;
    members.pop_back();
    const auto before = topology_of(members);
    peaks.push_back(peak_to_mean(*after));
    const std::size_t moved = moved_buckets(*before, *after);
    moves.push_back(double(moved) / bucket_count);

    // Nobody but the newcomer has gained.
    const MemberIndex newcomer_index = after->find(newcomer).value();
    const auto gained =
        std::count(after->bucket_owners().begin(), after->bucket_owners().end(), newcomer_index);
    ASSERT_EQ(std::size_t(gained), moved) << newcomer;
  }
  EXPECT_LE(report("peak_to_mean_of_11_median", percentile(peaks, 0.5)), 1.14);
  EXPECT_LE(report("peak_to_mean_of_11_p95", percentile(peaks, 0.95)), 1.24);
  report("peak_to_mean_of_11_max", percentile(peaks, 1));
  report("moved_10_to_11_median", percentile(moves, 0.5));
  EXPECT_LE(report("moved_10_to_11_p95", percentile(moves, 0.95)), 0.105);
  report("moved_10_to_11_max", percentile(moves, 1));
}

// Buckets stand for keys only if real keys spread evenly over them.
TEST(RingBalance, RealKeysMoveAsTheirBucketsDo) {
  std::mt19937_64 dice(21);
  std::vector<std::uint64_t> hashes;
  hashes.reserve(20'000);
  for (int i = 0; i < 20'000; ++i) hashes.push_back(hash64(fmt::format("DE\n/page/{}.html\n", i)));
  std::vector<double> moves;
  for (std::size_t set = 0; set < 20; ++set) {
    std::vector<Member> members = random_members(dice, set % 2 == 0);
    const auto after = topology_of(members);
    const std::string newcomer = members.back().name;
    members.pop_back();
    const auto before = topology_of(members);
    moves.push_back(moved_share(*before, *after, newcomer, hashes));
    // Five standard deviations of a sample of 20,000.
    EXPECT_NEAR(moves.back(), double(moved_buckets(*before, *after)) / bucket_count, 0.011);
  }
  report("moved_10_to_11_real_keys_median", percentile(moves, 0.5));
  report("moved_10_to_11_real_keys_max", percentile(moves, 1));
}

}  // namespace
}  // namespace ringside::shard
