#include <gtest/gtest.h>

#include "base/limits.h"
#include "geo/country_database.h"
#include "tests/geo/some_database.h"

namespace ringside::geo {
namespace {

TEST(CountryMemo, WithoutDatabaseAllIsUnknown) {
  CountryMemo memo;
  EXPECT_EQ(memo.find(address_of("8.8.8.8")).code(), "ZZ");
  EXPECT_EQ(memo.find(address_of("::")).code(), "ZZ");
  EXPECT_EQ(memo.walks(), 0U);
}

TEST(CountryMemo, ARepeatedPrefixCostsNoWalk) {
  CountryMemo memo(opened(some_countries()));
  struct Step {
    std::string_view address;
    std::string_view country;
    std::uint64_t walks;  // in all, after it
  };
  const Step steps[] = {
      {"2.0.1.1", "FR", 1},  // of 2.0.0.0/10
      {"2.0.1.1", "FR", 1},
      {"2.0.1.255", "FR", 1},
      {"2.0.2.1", "FR", 2},        // another /24 has another slot
      {"2.125.160.216", "GB", 3},  // a /29
      {"2.125.160.223", "GB", 3},
      {"2.125.160.224", "FR", 4},  // the rest of that /24 has prefixes of its own
      {"2.125.160.216", "GB", 4},  // and two slots
      {"2.125.160.208", "FR", 5},
      {"2.125.160.216", "GB", 6},  // a third answer took the place of the oldest
      {"2001:218:1:1::1", "JP", 7},
      {"2001:218:1:2::9", "JP", 7},
      {"2001:218:2::", "JP", 8},
      {"3000::", "ZZ", 9},  // unknown is an answer as well
      {"3000::1", "ZZ", 9},
  };
  for (const Step& step : steps) {
    EXPECT_EQ(memo.find(address_of(step.address)).code(), step.country) << step.address;
    EXPECT_EQ(memo.walks(), step.walks) << step.address;
  }
}

TEST(CountryMemo, SpecialAddressesCostNoWalk) {
  CountryMemo memo(opened({{"0.0.0.0/0", "US"}, {"8000::/1", "DE"}}));
  for (const auto* special : {"10.0.0.1", "127.0.0.1", "192.168.7.7", "::", "::1", "fd00::1"}) {
    EXPECT_EQ(memo.find(address_of(special)).code(), "ZZ") << special;
  }
  EXPECT_EQ(memo.walks(), 0U);
  // Not even behind an answer for the neighbourhood that they lie in.
  EXPECT_EQ(memo.find(address_of("192.0.3.1")).code(), "US");
  EXPECT_EQ(memo.find(address_of("192.0.2.1")).code(), "ZZ");
}

TEST(CountryMemo, AReplacedDatabaseLeavesNothingBehind) {
  CountryMemo memo(opened({{"8.0.0.0/8", "US"}}));
  EXPECT_EQ(memo.find(address_of("8.8.8.8")).code(), "US");
  memo.replace(opened({{"8.0.0.0/8", "DE"}}));
  EXPECT_EQ(memo.find(address_of("8.8.8.8")).code(), "DE");
  EXPECT_EQ(memo.walks(), 2U);
  memo.replace(nullptr);
  EXPECT_EQ(memo.find(address_of("8.8.8.8")).code(), "ZZ");
  EXPECT_EQ(memo.walks(), 2U);
}

TEST(CountryMemo, AgreesWithItsDatabaseInAnyOrder) {
  const auto database = opened(some_countries());
  ASSERT_TRUE(database);
  CountryMemo memo(database);
  AddressSource addresses;
  std::vector<IpAddress> seen;
  for (int i = 0; i < 20'000; ++i) {
    // Old ones come again among the new ones.
    const IpAddress address =
        i % 2 == 0 ? addresses.next() : seen[static_cast<std::size_t>(i) * 7919 % seen.size()];
    seen.push_back(address);
    EXPECT_EQ(memo.find(address), database->find(address).country) << address.text();
  }
  EXPECT_LT(memo.walks(), 20'000U);
}

// However many prefixes come, those of one working set that fits are remembered.
TEST(CountryMemo, SlotsAreSpread) {
  CountryMemo memo(opened({{"1.0.0.0/8", "AU"}, {"2a00::/12", "DE"}}));
  const auto ask_all = [&memo] {
    for (unsigned i = 0; i < limits::geo_memo_entries / 8; ++i) {
      static_cast<void>(memo.find(
          address_of("1." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ".1")));
    }
  };
  ask_all();
  EXPECT_EQ(memo.walks(), limits::geo_memo_entries / 8);
  ask_all();
  EXPECT_LT(memo.walks(), limits::geo_memo_entries / 8 + limits::geo_memo_entries / 32);
}

}  // namespace
}  // namespace ringside::geo
