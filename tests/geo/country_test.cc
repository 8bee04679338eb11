#include "geo/country.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ringside::geo {
namespace {

TEST(Country, IsTwoLettersOrUnknown) {
  EXPECT_EQ(Country::from("DE").code(), "DE");
  EXPECT_EQ(Country::from("de").code(), "DE");
  EXPECT_EQ(Country{}.code(), "ZZ");
  EXPECT_FALSE(Country{}.known());
  EXPECT_FALSE(Country::from("zz").known());
  EXPECT_TRUE(Country::from("aa").known());
  for (const auto* code :
       {"", "D", "DEU", "D1", "1D", "D ", "@A", "[A", "{a", "`a", "-", "\xc3\xa4"}) {
    EXPECT_FALSE(Country::from(code).known()) << code;
  }
}

TEST(Country, IndexesAreDense) {
  std::set<std::size_t> indexes;
  for (char first = 'A'; first <= 'Z'; ++first) {
    for (char second = 'A'; second <= 'Z'; ++second) {
      indexes.insert(Country::from(std::string{first, second}).index());
    }
  }
  EXPECT_EQ(indexes.size(), Country::index_count);
  EXPECT_EQ(*indexes.rbegin(), Country::index_count - 1);
}

}  // namespace
}  // namespace ringside::geo
