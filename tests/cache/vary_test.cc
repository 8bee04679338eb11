#include "cache/vary.h"

#include <gtest/gtest.h>

#include "tests/cache/some_fields.h"

namespace ringside::cache {
namespace {

using Names = std::vector<std::string>;

TEST(VaryNames, AreLowerCaseSortedAndOnce) {
  EXPECT_EQ(vary_names(fields_of({})), Names{});
  EXPECT_EQ(vary_names(fields_of({{"Vary", ""}})), Names{});
  EXPECT_EQ(vary_names(fields_of({{"Vary", "Cookie,accept , ,ACCEPT"}, {"vary", "Accept, Via"}})),
            (Names{"accept", "cookie", "via"}));
}

TEST(VariantKey, Rfc9111Section4Point1SameMeaningSameKey) {
  const Names names{"accept", "cookie"};
  const std::vector<http::Fields> same{
      fields_of({{"Accept", "a, b"}, {"Cookie", "c=d"}}),
      fields_of({{"Cookie", "c=d"}, {"accept", "a,b"}}),
      fields_of({{"ACCEPT", "a ,\tb"}, {"X", "y"}, {"Cookie", "c=d"}}),
      fields_of({{"Accept", "a"}, {"Cookie", "c=d"}, {"Accept", "b"}}),
      fields_of({{"Accept", "a,"}, {"Accept", ""}, {"Cookie", "c=d"}, {"Accept", ",b"}}),
  };
  for (std::size_t row = 1; row < same.size(); ++row) {
    EXPECT_EQ(variant_key(names, same[row]), variant_key(names, same[0])) << row;
  }
}

TEST(VariantKey, DifferentMeaningDifferentKey) {
  const Names names{"accept", "cookie"};
  const std::vector<http::Fields> different{
      fields_of({}),
      fields_of({{"Accept", ""}}),
      fields_of({{"Cookie", ""}}),
      fields_of({{"Accept", "a"}}),
      fields_of({{"Accept", "A"}}),
      fields_of({{"Cookie", "a"}}),
      fields_of({{"Accept", "a b"}}),
      fields_of({{"Accept", "a, b"}}),
      fields_of({{"Accept", "b, a"}}),
      fields_of({{"Accept", "\"a, b\""}}),
      fields_of({{"Accept", "\"a,b\""}}),
      fields_of({{"Accept", "a"}, {"Cookie", "a"}}),
      fields_of({{"Accept", "cookie:a"}}),
  };
  for (std::size_t a = 0; a < different.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_NE(variant_key(names, different[a]), variant_key(names, different[b]))
          << a << " " << b;
    }
  }
}

TEST(VariantKey, LooksAtTheNamedFieldsOnly) {
  EXPECT_EQ(variant_key({}, fields_of({{"Accept", "a"}})), "");
  EXPECT_EQ(variant_key({"cookie"}, fields_of({{"Accept", "a"}})),
            variant_key({"cookie"}, fields_of({{"Accept", "b"}})));
}

}  // namespace
}  // namespace ringside::cache
